//! Detection for harnesses: this machine's devices, detected once per process.
//!
//! The result does not change with the environment later on: every harness of a process sees the same devices, and
//! `auto` selects the same device for all of them. Detection itself is in `testgen-device`.

use crate::{label::Label, log::log_verbose};
use std::sync::OnceLock;
use testgen_device::{
    DetectionPath, Device, DeviceIndex, DeviceUnavailable, Inventory, System, Visibility, inventory, select,
};
use testgen_types::DeviceKind;

/// The host processor. Opens no GPU library.
pub fn host_processor() -> Device {
    static HOST: OnceLock<Device> = OnceLock::new();
    HOST.get_or_init(|| testgen_device::host_processor(&System::host())).clone()
}

/// An AMD GPU that the HIP runtime lists.
///
/// # Errors
///
/// No device has that index, or burn cannot use it; each reason says what to do.
pub fn hip_runtime(index: DeviceIndex) -> Result<Device, DeviceUnavailable> {
    if !cfg!(feature = "rocm") {
        return Err(not_built(DeviceKind::Rocm, DetectionPath::HipRuntime, "rocm"));
    }
    on_path(machine(), DetectionPath::HipRuntime, DeviceKind::Rocm, index)
}

/// An NVIDIA GPU that the CUDA driver lists.
///
/// # Errors
///
/// No device has that index, or burn cannot use it; each reason says what to do.
pub fn cuda_driver(index: DeviceIndex) -> Result<Device, DeviceUnavailable> {
    if !cfg!(feature = "cuda") {
        return Err(not_built(DeviceKind::Cuda, DetectionPath::CudaDriver, "cuda"));
    }
    on_path(machine(), DetectionPath::CudaDriver, DeviceKind::Cuda, index)
}

/// An AMD GPU that a translation layer presents as a CUDA device.
///
/// # Errors
///
/// No device has that index, or burn cannot use it; each reason says what to do.
pub fn cuda_compatibility(index: DeviceIndex) -> Result<Device, DeviceUnavailable> {
    if !cfg!(feature = "cuda") {
        return Err(not_built(DeviceKind::Rocm, DetectionPath::CudaCompatibility, "cuda"));
    }
    on_path(machine(), DetectionPath::CudaCompatibility, DeviceKind::Rocm, index)
}

/// A device of `kind`, trying its paths in order of preference, as the init functions of a harness do.
///
/// # Errors
///
/// No path has a device; the reasons of all of them.
pub fn detect(kind: DeviceKind, index: DeviceIndex) -> Result<Device, DeviceUnavailable> {
    match kind {
        DeviceKind::Cpu => Ok(host_processor()),
        DeviceKind::Cuda => cuda_driver(index),
        // The HIP runtime first: under a translation layer burn's CUDA backend runs, not the one for AMD GPUs.
        DeviceKind::Rocm => hip_runtime(index).or_else(|hip| cuda_compatibility(index).map_err(|cuda| hip.and(cuda))),
    }
}

/// The current visible-device variables.
pub fn visible_devices() -> Visibility {
    testgen_device::visible_devices(&System::host())
}

/// Logs the visible-device variables and their effects.
pub fn report_visibility(label: &Label, visibility: &Visibility) {
    log_verbose(label, visibility);
}

/// The inventory of this machine.
pub(crate) fn machine() -> &'static Inventory {
    static MACHINE: OnceLock<Inventory> = OnceLock::new();
    MACHINE.get_or_init(|| inventory(&System::host()))
}

fn on_path(
    machine: &Inventory,
    path: DetectionPath,
    kind: DeviceKind,
    index: DeviceIndex,
) -> Result<Device, DeviceUnavailable> {
    let devices: Vec<Device> = machine.on(path).cloned().collect();
    if devices.is_empty() {
        let absence = machine.paths.iter().find(|result| result.path == path).and_then(|result| result.absence.clone());
        return Err(DeviceUnavailable::new(kind, absence.unwrap_or_else(|| format!("{path}: no device"))));
    }
    select(devices, index, kind)
}

fn not_built(kind: DeviceKind, path: DetectionPath, feature: &str) -> DeviceUnavailable {
    let reason = format!(
        "{path}: not tried, this program was built without the feature `{feature}` of testgen-runtime; build it with that feature"
    );
    DeviceUnavailable::new(kind, reason)
}

#[cfg(test)]
mod tests;
