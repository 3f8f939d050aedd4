//! AMD GPUs listed by the HIP runtime, `libamdhip64`: the library that burn's ROCm backend opens.

mod config;
mod functions;
mod properties;
mod requirements;
mod search;

pub(crate) use functions::{HipFunctions, HipStatus};
pub use requirements::{HIP_SYMBOLS, HIPRTC_SYMBOLS};
pub(crate) use search::open as open_library;

use crate::device::{DetectionPath, Device, Unusable};
use crate::device_unavailable::DeviceUnavailable;
use crate::library::SharedLibrary;
use crate::system::System;
use crate::topology::{Topology, kernel_topology};
use crate::vendor::Vendor;
use crate::visibility::visible_devices;
use properties::HipProperties;
use requirements::HipInstallation;
use testgen_types::DeviceKind;

const PATH: DetectionPath = DetectionPath::HipRuntime;

/// AMD GPUs that the HIP runtime lists. HIP can also be built for NVIDIA GPUs; such devices are
/// rejected.
///
/// # Errors
///
/// The library is not installed, is too old, or lists no AMD GPU.
pub fn hip_runtime(system: &System) -> Result<Vec<Device>, DeviceUnavailable> {
    detect(system, &kernel_topology(system))
        .map_err(|reason| DeviceUnavailable::new(DeviceKind::Rocm, reason))
}

/// Like [`hip_runtime`], with a topology that was read before; the error is the reason of this
/// path.
pub(crate) fn detect(system: &System, topology: &Topology) -> Result<Vec<Device>, String> {
    let library = open_library(system, "amdhip64").map_err(|not_opened| {
        search::describe_missing(system, &not_opened) + &topology.kernel_evidence(Vendor::Amd)
    })?;
    let functions = HipFunctions::load(&library).map_err(|_| too_old(&library))?;
    let count = match functions.device_count() {
        Ok(0) => Err(no_device(system, topology, &library, None)),
        Ok(count) => Ok(count),
        Err(status) => Err(no_device(system, topology, &library, Some(status))),
    }?;
    let (devices, rejected) = enumerate(&functions, count, topology);
    if devices.is_empty() {
        return Err(format!(
            "{PATH}: `{}` lists no AMD GPU: {}",
            library.path(),
            rejected.join(", ")
        ));
    }
    let installation = requirements::of_installation(system, &library);
    Ok(devices
        .into_iter()
        .map(|(device, warp_size)| assess(device, warp_size, &installation))
        .collect())
}

fn too_old(library: &SharedLibrary) -> String {
    let missing = library.missing(HIP_SYMBOLS).join("`, `");
    format!(
        "{PATH}: `{}` is too old, it lacks `{missing}`; install ROCm 6.2 or newer",
        library.path()
    )
}

fn no_device(
    system: &System,
    topology: &Topology,
    library: &SharedLibrary,
    status: Option<HipStatus>,
) -> String {
    let status = status.map_or_else(
        || "success with a count of 0".to_owned(),
        |status| status.to_string(),
    );
    let hint = visible_devices(system).visibility_hint(PATH);
    // A variable that hides devices is the likelier cause: further advice would distract from it.
    let advice = match (hint.is_empty(), topology.has(Vendor::Amd)) {
        (false, _) => "",
        (true, true) => {
            "; check that this user may open /dev/kfd and /dev/dri (groups render and video)"
        }
        (true, false) => {
            "; there is no AMD GPU on this machine, or the amdgpu driver is not loaded"
        }
    };
    let evidence = topology.kernel_evidence(Vendor::Amd);
    format!(
        "{PATH}: `{}` is installed and lists no device (hipGetDeviceCount: {status}){hint}{evidence}{advice}",
        library.path()
    )
}

/// The AMD GPUs with their wave size, and why each other device was rejected.
fn enumerate(
    functions: &HipFunctions<'_>,
    count: u32,
    topology: &Topology,
) -> (Vec<(Device, u32)>, Vec<String>) {
    let mut devices = Vec::new();
    let mut rejected = Vec::new();
    for index in 0..count {
        match functions.properties(index) {
            Err(status) => {
                rejected.push(format!("device {index} returns no properties ({status})"))
            }
            Ok(properties) => {
                let address = functions
                    .pci_address(index)
                    .or_else(|| properties.pci_address());
                match rejection(&properties, address.as_deref(), topology) {
                    Some(why) => {
                        rejected.push(format!("device {index} (`{}`) {why}", properties.name))
                    }
                    None => devices.push((
                        device(functions, topology, index, &properties, address),
                        properties.warp_size,
                    )),
                }
            }
        }
    }
    (devices, rejected)
}

/// Why a device of the HIP runtime is not an AMD GPU; `None` when it is one.
fn rejection(
    properties: &HipProperties,
    address: Option<&str>,
    topology: &Topology,
) -> Option<String> {
    let by_name = Vendor::of_name(&properties.name);
    // A simulated device may claim the PCI address of a real GPU of any vendor.
    let by_bus = address
        .filter(|_| !properties.simulated)
        .and_then(|address| topology.vendor_at(address));
    if by_name == Some(Vendor::Nvidia) || by_bus == Some(Vendor::Nvidia) {
        return Some(
            "is an NVIDIA GPU (HIP on the NVIDIA platform), which is CUDA, not ROCm".to_owned(),
        );
    }
    let is_amd = by_name.is_some() || by_bus.is_some() || properties.architecture.is_some();
    (!is_amd).then(|| "has neither an AMD name nor a gfx architecture".to_owned())
}

fn device(
    functions: &HipFunctions<'_>,
    topology: &Topology,
    index: u32,
    properties: &HipProperties,
    pci_address: Option<String>,
) -> Device {
    let memory = functions.memory(index);
    Device {
        kind: DeviceKind::Rocm,
        path: PATH,
        index,
        name: properties.name.clone(),
        architecture: properties.architecture.clone(),
        total_memory: Some(properties.total_memory),
        free_memory: memory.map(|(free, _)| free),
        pci_address,
        uuid: properties.uuid.clone(),
        integrated: properties.integrated,
        // The kernel's own module has no version; HIP then reports one.
        driver_version: topology
            .amdgpu_version
            .clone()
            .or_else(|| functions.driver_version()),
        runtime_version: functions.runtime_version(),
        simulated: properties.simulated,
        unusable_by_burn: None,
        warnings: Vec::new(),
    }
}

/// Sets `unusable_by_burn` and `warnings`.
fn assess(mut device: Device, warp_size: u32, installation: &HipInstallation) -> Device {
    let own = requirements::architecture_problem(device.architecture.as_deref(), warp_size);
    device.unusable_by_burn = Unusable::from_problems(
        own.into_iter()
            .chain(installation.problems.iter().cloned())
            .collect(),
    );
    // The simulator brings its own headers and does not go through the ROCm runtime, which the
    // warnings are about.
    if !device.simulated {
        device.warnings.extend_from_slice(&installation.warnings);
    }
    device
}
