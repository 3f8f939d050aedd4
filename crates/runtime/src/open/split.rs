//! The devices that the layers of a model are split over.

use super::error::OpenError;
use crate::{engine::AttachError, machine::machine};
use testgen_device::Device;
use testgen_nn::forward::Unsupported;
use testgen_types::DeviceKind;

/// All devices of the kind of `device`, which has what is not a layer.
///
/// # Errors
///
/// There is one only, which is a reason to ignore the checks of the column.
pub(super) fn devices_of_split(device: &Device) -> Result<Vec<Device>, OpenError> {
    let of_kind = machine()
        .on(device.path)
        .filter(|other| other.kind == device.kind);
    let devices: Vec<Device> = of_kind.cloned().collect();
    // The CPU is one device, however many sockets it has.
    if device.kind == DeviceKind::Cpu || devices.len() < 2 {
        let why = format!(
            "layers are split over several GPUs, and {} is the only one",
            device.label()
        );
        return Err(OpenError::of_engine(
            device,
            AttachError::Unsupported(Unsupported(why)),
        ));
    }
    Ok(devices)
}
