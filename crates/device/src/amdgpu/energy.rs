//! The energy counter of a GPU in its `hwmon` directory.

use crate::system::System;
use std::path::PathBuf;

/// The file with the microjoules that the GPU at a PCI address has used: `energy1_input` of
/// `Documentation/hwmon/sysfs-interface.rst`.
pub(crate) fn energy_file(system: &System, address: &str) -> Option<PathBuf> {
    let directory = format!("/sys/bus/pci/devices/{address}/hwmon");
    let files = system
        .list(&directory)
        .into_iter()
        .map(|name| system.path(format!("{directory}/{name}/energy1_input")));
    // Most GPUs have none, so that their energy is not known.
    files.into_iter().find(|file| file.is_file())
}
