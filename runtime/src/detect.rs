//! Detection as harnesses call it: this machine, looked at once per process.
//!
//! What was found stays as it was found, whatever becomes of the environment: every harness of a process sees the same
//! devices, and `auto` means the same device for all of them. How detection works is in `testgen-device`.

use crate::narration::narrate;
use std::sync::OnceLock;
use testgen_contract::DeviceKind;
use testgen_device::{Absence, DetectionPath, Device, DeviceIndex, Inventory, System, Visibility, inventory, select};

/// The host processor. Opens no GPU library.
pub fn host_processor() -> Device {
    static HOST: OnceLock<Device> = OnceLock::new();
    HOST.get_or_init(|| testgen_device::host_processor(&System::host())).clone()
}

/// An AMD GPU that the HIP runtime lists.
///
/// # Errors
///
/// There is none with that index, or burn cannot use it; the reasons say which and what to do.
pub fn hip_runtime(index: DeviceIndex) -> Result<Device, Absence> {
    if !cfg!(feature = "rocm") {
        return Err(not_built(DeviceKind::Rocm, DetectionPath::HipRuntime, "rocm"));
    }
    on_path(machine(), DetectionPath::HipRuntime, DeviceKind::Rocm, index)
}

/// An NVIDIA GPU that the CUDA driver lists.
///
/// # Errors
///
/// There is none with that index, or burn cannot use it; the reasons say which and what to do.
pub fn cuda_driver(index: DeviceIndex) -> Result<Device, Absence> {
    if !cfg!(feature = "cuda") {
        return Err(not_built(DeviceKind::Cuda, DetectionPath::CudaDriver, "cuda"));
    }
    on_path(machine(), DetectionPath::CudaDriver, DeviceKind::Cuda, index)
}

/// An AMD GPU that a translation layer shows as a CUDA device.
///
/// # Errors
///
/// There is none with that index, or burn cannot use it; the reasons say which and what to do.
pub fn cuda_compatibility(index: DeviceIndex) -> Result<Device, Absence> {
    if !cfg!(feature = "cuda") {
        return Err(not_built(DeviceKind::Rocm, DetectionPath::CudaCompatibility, "cuda"));
    }
    on_path(machine(), DetectionPath::CudaCompatibility, DeviceKind::Rocm, index)
}

/// A device of `kind` by its paths in the order of preference: what the three init functions of a harness do.
///
/// # Errors
///
/// No path has one; the reasons of all of them.
pub fn detect(kind: DeviceKind, index: DeviceIndex) -> Result<Device, Absence> {
    match kind {
        DeviceKind::Cpu => Ok(host_processor()),
        DeviceKind::Cuda => cuda_driver(index),
        DeviceKind::Rocm => hip_runtime(index).or_else(|hip| cuda_compatibility(index).map_err(|cuda| hip.and(cuda))),
    }
}

/// The visible-device variables, as they are now.
pub fn visible_devices() -> Visibility {
    testgen_device::visible_devices(&System::host())
}

/// Tells which visible-device variables apply and what they do.
pub fn report_visibility(label: &str, visibility: &Visibility) {
    narrate(label, visibility);
}

/// Everything on this machine.
pub(crate) fn machine() -> &'static Inventory {
    static MACHINE: OnceLock<Inventory> = OnceLock::new();
    MACHINE.get_or_init(|| inventory(&System::host()))
}

fn on_path(machine: &Inventory, path: DetectionPath, kind: DeviceKind, index: DeviceIndex) -> Result<Device, Absence> {
    let devices: Vec<Device> = machine.on(path).cloned().collect();
    if devices.is_empty() {
        let absence = machine.paths.iter().find(|result| result.path == path).and_then(|result| result.absence.clone());
        return Err(Absence::new(kind, absence.unwrap_or_else(|| format!("{path}: no device"))));
    }
    select(devices, index, kind)
}

fn not_built(kind: DeviceKind, path: DetectionPath, feature: &str) -> Absence {
    let reason = format!(
        "{path}: not looked at, this program was built without the feature `{feature}` of testgen-runtime; build it with that feature"
    );
    Absence::new(kind, reason)
}

#[cfg(test)]
mod tests;
