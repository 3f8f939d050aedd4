//! Detection for harnesses: the device that the engine of a target can use.
//!
//! A device is listed by a library of this process, or by an engine that brings another library.
//! A feature that burn lacks on a listed device concerns the native engine alone. Owns which
//! devices count for an engine; the lists are in `machine`, the selection in `testgen-device`.

use crate::{
    engine::reported_devices,
    label::Label,
    load_target::LoadTarget,
    log::log_verbose,
    machine::{host_processor, machine},
};
use testgen_device::{
    DetectionPath, Device, DeviceIndex, DeviceUnavailable, EngineKind, Inventory, ReportedDevice,
    System, Visibility, confirmed, may_be_reported, select,
};
use testgen_engine::EngineName;
use testgen_types::DeviceKind;

/// An AMD GPU that the HIP runtime lists, for the engine of `target`: the HIP runtime of this
/// process, or where that lists none, the one of the engine's process.
///
/// # Errors
///
/// No device has that index, or the engine cannot use it; each reason says what to do.
pub fn hip_runtime(target: &LoadTarget) -> Result<Device, DeviceUnavailable> {
    on_path(
        DetectionPath::HipRuntime,
        DeviceKind::Rocm,
        target.index,
        target.engine.name(),
    )
}

/// An NVIDIA GPU that the CUDA driver lists, for the engine of `target`.
///
/// # Errors
///
/// No device has that index, or the engine cannot use it; each reason says what to do.
pub fn cuda_driver(target: &LoadTarget) -> Result<Device, DeviceUnavailable> {
    on_path(
        DetectionPath::CudaDriver,
        DeviceKind::Cuda,
        target.index,
        target.engine.name(),
    )
}

/// An AMD GPU that a translation layer presents as a CUDA device, for the engine of `target`.
///
/// # Errors
///
/// No device has that index, or the engine cannot use it; each reason says what to do.
pub fn cuda_compatibility(target: &LoadTarget) -> Result<Device, DeviceUnavailable> {
    on_path(
        DetectionPath::CudaCompatibility,
        DeviceKind::Rocm,
        target.index,
        target.engine.name(),
    )
}

/// A device of `kind` for an engine, trying its paths in order of preference, as the init functions
/// of a harness do.
///
/// # Errors
///
/// No path has a device; the reasons of all of them.
pub fn detect(
    kind: DeviceKind,
    index: DeviceIndex,
    engine: &EngineName,
) -> Result<Device, DeviceUnavailable> {
    let on = |path| on_path(path, kind, index, engine);
    match kind {
        DeviceKind::Cpu => Ok(host_processor()),
        DeviceKind::Cuda => on(DetectionPath::CudaDriver),
        // The HIP runtime first: under a translation layer burn's CUDA backend runs, not the one
        // for AMD GPUs.
        DeviceKind::Rocm => on(DetectionPath::HipRuntime)
            .or_else(|hip| on(DetectionPath::CudaCompatibility).map_err(|cuda| hip.and(cuda))),
    }
}

/// The devices of `kind` that an engine can use, one for each ordinal.
pub(crate) fn usable(kind: DeviceKind, engine: &EngineName) -> Vec<Device> {
    let paths: &[DetectionPath] = match kind {
        DeviceKind::Cpu => return vec![host_processor()],
        DeviceKind::Cuda => &[DetectionPath::CudaDriver],
        DeviceKind::Rocm => &[DetectionPath::HipRuntime, DetectionPath::CudaCompatibility],
    };
    let listed = paths
        .iter()
        .filter_map(|path| listed_for_engine(*path, kind, engine).ok());
    // A path that lists nothing is left out, because another one may have the devices.
    usable_of(listed.flatten(), kind, engine_kind(engine))
}

fn usable_of(
    devices: impl Iterator<Item = Device>,
    kind: DeviceKind,
    engine: EngineKind,
) -> Vec<Device> {
    let mut found: Vec<Device> = devices
        .filter(|device| device.kind == kind && device.unusable_by(engine).is_none())
        .collect();
    // Two paths may list the same device.
    found.sort_by_key(|device| device.index);
    // The sort is stable, so that the device of the path that comes first remains.
    found.dedup_by_key(|device| device.index);
    found
}

/// The current visible-device variables.
pub fn visible_devices() -> Visibility {
    testgen_device::visible_devices(&System::host())
}

/// Logs the visible-device variables and their effects.
pub fn report_visibility(label: &Label, visibility: &Visibility) {
    log_verbose(label, visibility);
}

fn on_path(
    path: DetectionPath,
    kind: DeviceKind,
    index: DeviceIndex,
    engine: &EngineName,
) -> Result<Device, DeviceUnavailable> {
    let listed = listed_for_engine(path, kind, engine)?;
    select(listed, index, kind, engine_kind(engine))
}

fn engine_kind(engine: &EngineName) -> EngineKind {
    if engine.is_native() {
        EngineKind::Native
    } else {
        EngineKind::Process
    }
}

/// The devices of a path for an engine, also the ones that it cannot use.
fn listed_for_engine(
    path: DetectionPath,
    kind: DeviceKind,
    engine: &EngineName,
) -> Result<Vec<Device>, DeviceUnavailable> {
    // A process brings its backend along, whatever features this program was built with.
    if !engine.is_native() {
        return listed_for_process(machine(), path, kind, || reported_devices(engine));
    }
    match missing_feature(path) {
        Some(feature) => Err(not_built(kind, path, feature)),
        None => listed(machine(), path, kind),
    }
}

/// The devices that a library of this process lists.
fn listed(
    machine: &Inventory,
    path: DetectionPath,
    kind: DeviceKind,
) -> Result<Vec<Device>, DeviceUnavailable> {
    let devices: Vec<Device> = machine.on(path).cloned().collect();
    if !devices.is_empty() {
        return Ok(devices);
    }
    let absence = machine
        .paths
        .iter()
        .find(|result| result.path == path)
        .and_then(|result| result.absence.clone());
    Err(DeviceUnavailable::new(
        kind,
        absence.unwrap_or_else(|| format!("{path}: no device")),
    ))
}

/// These, else the devices that the engine lists, which may have a HIP runtime that no loader
/// finds, as PyTorch's wheels do.
fn listed_for_process(
    machine: &Inventory,
    path: DetectionPath,
    kind: DeviceKind,
    reported: impl FnOnce() -> Result<Vec<ReportedDevice>, String>,
) -> Result<Vec<Device>, DeviceUnavailable> {
    listed(machine, path, kind).or_else(|absent| {
        // An AMD GPU alone, because no process can bring another CUDA driver, which is one library
        // for all processes.
        if path != DetectionPath::HipRuntime || !may_be_reported(&machine.topology, kind) {
            return Err(absent);
        }
        let devices = reported().and_then(|reported| confirmed(&machine.topology, kind, &reported));
        devices.map_err(|why| absent.and(DeviceUnavailable::new(kind, why)))
    })
}

/// The feature of this crate without which burn's backend for a path is missing.
fn missing_feature(path: DetectionPath) -> Option<&'static str> {
    match path {
        DetectionPath::HipRuntime if !cfg!(feature = "rocm") => Some("rocm"),
        DetectionPath::CudaDriver | DetectionPath::CudaCompatibility if !cfg!(feature = "cuda") => {
            Some("cuda")
        }
        _ => None,
    }
}

fn not_built(kind: DeviceKind, path: DetectionPath, feature: &str) -> DeviceUnavailable {
    let reason = format!(
        "{path}: not tried, this program was built without the feature `{feature}` of testgen-runtime; build it with that feature"
    );
    DeviceUnavailable::new(kind, reason)
}

#[cfg(test)]
mod tests;
