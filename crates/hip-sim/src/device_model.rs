//! The description of one simulated device.

use crate::architecture::SimulatedArchitecture;
use std::ffi::c_int;

/// One simulated device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceModel {
    /// Its architecture.
    pub architecture: SimulatedArchitecture,
    /// Bytes of memory.
    pub memory: u64,
    /// Its name, without the mark ` (hip-sim)` that [`DeviceModel::marked_name`] adds.
    pub name: String,
    /// `0000:03:00.0`.
    pub pci_address: String,
}

/// Bytes of a mebibyte.
pub(crate) const MIB: u64 = 1 << 20;

impl DeviceModel {
    /// A device of `architecture` with 16 GiB, a generic name and a PCI address of zeros.
    pub fn new(architecture: SimulatedArchitecture) -> Self {
        let name = format!("AMD {architecture}");
        Self {
            architecture,
            memory: 16384 * MIB,
            name,
            pci_address: "0000:00:00.0".to_owned(),
        }
    }

    /// The name with the mark by which reports recognise a simulation.
    pub fn marked_name(&self) -> String {
        format!("{} (hip-sim)", self.name)
    }
}

/// Domain, bus and device of `0000:03:00.0`.
pub(crate) fn pci_numbers(address: &str) -> Option<[c_int; 3]> {
    let (device, function) = address.rsplit_once('.')?;
    u32::from_str_radix(function, 8).ok()?;
    let numbers: Vec<c_int> = device
        .split(':')
        .map(|number| c_int::from_str_radix(number, 16))
        .collect::<Result<_, _>>()
        .ok()?;
    numbers.try_into().ok()
}
