//! The facts about a device that a report shows.

use testgen_device::Device;
use testgen_types::HardwareInfo;

/// The facts about a device that a report shows besides its name.
pub(in crate::check) fn hardware(device: &Device) -> HardwareInfo {
    HardwareInfo {
        architecture: device.architecture.clone(),
        path: Some(device.path.to_string()),
        driver_version: device.driver_version.clone(),
        runtime_version: device.runtime_version.clone(),
        pci_address: device.pci_address.clone(),
        uuid: device.uuid.clone(),
    }
}
