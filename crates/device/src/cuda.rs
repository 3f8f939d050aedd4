//! GPUs listed by the CUDA driver, `libcuda`: NVIDIA's, and AMD's under a translation layer that
//! replaces the driver.

mod compiler;
mod driver;
mod management;
mod management_session;
mod process_memory;
mod requirements;
mod search;
mod total_energy;

use crate::device::{ComputeFacts, DetectionPath, Device};
use crate::device_unavailable::DeviceUnavailable;
use crate::library::{NotOpened, SharedLibrary};
use crate::system::System;
use crate::topology::{Topology, kernel_topology};
use crate::vendor::Vendor;
use crate::visibility::visible_devices;
use driver::{CudaDriver, DriverDevice};
use testgen_types::DeviceKind;

pub(crate) use process_memory::process_memory;
pub(crate) use total_energy::TotalEnergyCounter;

/// NVIDIA GPUs. AMD GPUs that the driver lists belong to [`cuda_compatibility`].
///
/// # Errors
///
/// The driver is not installed, is too old, or lists no NVIDIA GPU.
pub fn cuda_driver(system: &System) -> Result<Vec<Device>, DeviceUnavailable> {
    let topology = kernel_topology(system);
    nvidia_devices(detect(system, &topology).as_ref(), &topology)
        .map_err(|reason| DeviceUnavailable::new(DeviceKind::Cuda, reason))
}

/// AMD GPUs that a translation layer (ZLUDA, SCALE) presents as CUDA devices. Their kind is ROCm.
///
/// # Errors
///
/// There is no CUDA driver, or all its devices are NVIDIA's.
pub fn cuda_compatibility(system: &System) -> Result<Vec<Device>, DeviceUnavailable> {
    amd_devices(detect(system, &kernel_topology(system)).as_ref())
        .map_err(|reason| DeviceUnavailable::new(DeviceKind::Rocm, reason))
}

const NOT_INSTALLED: &str = "no libcuda.so or libcuda.so.1 in the loader's path";

/// Why the CUDA driver lists nothing.
pub(crate) enum CudaFailure {
    /// There is no `libcuda`.
    NotInstalled,
    /// It is installed and does not work; the reason.
    Other(String),
}

impl From<String> for CudaFailure {
    fn from(reason: String) -> Self {
        Self::Other(reason)
    }
}

/// Everything that the CUDA driver lists, by vendor.
pub(crate) struct Detected {
    library: String,
    nvidia: Vec<Device>,
    amd: Vec<Device>,
    rejected: Vec<String>,
}

/// The NVIDIA GPUs among the detected devices, or the reason why there are none.
pub(crate) fn nvidia_devices(
    detected: Result<&Detected, &CudaFailure>,
    topology: &Topology,
) -> Result<Vec<Device>, String> {
    let path = DetectionPath::CudaDriver;
    let detected = detected.map_err(|failure| match failure {
        CudaFailure::NotInstalled => format!(
            "{path}: {NOT_INSTALLED}; install the NVIDIA driver, or start the container with its GPUs{}",
            topology.kernel_evidence(Vendor::Nvidia)
        ),
        CudaFailure::Other(reason) => format!("{path}: {reason}{}", topology.kernel_evidence(Vendor::Nvidia)),
    })?;
    detected.by_vendor(path, Vendor::Nvidia)
}

/// The AMD GPUs among the detected devices, or the reason why there are none.
pub(crate) fn amd_devices(
    detected: Result<&Detected, &CudaFailure>,
) -> Result<Vec<Device>, String> {
    let path = DetectionPath::CudaCompatibility;
    let detected = detected.map_err(|failure| match failure {
        CudaFailure::NotInstalled => {
            format!("{path}: {NOT_INSTALLED}; only needed where a translation layer replaces ROCm")
        }
        CudaFailure::Other(reason) => format!("{path}: {reason}"),
    })?;
    detected.by_vendor(path, Vendor::Amd)
}

impl Detected {
    /// The devices of one vendor. The error names every other device with the reason why it does
    /// not count.
    fn by_vendor(&self, path: DetectionPath, vendor: Vendor) -> Result<Vec<Device>, String> {
        // Without the reasons, an AMD GPU under ZLUDA would look like a missing GPU.
        let (devices, others, why_not) = match vendor {
            Vendor::Nvidia => (
                &self.nvidia,
                &self.amd,
                "an AMD GPU under a translation layer, which is ROCm, not CUDA",
            ),
            Vendor::Amd => (
                &self.amd,
                &self.nvidia,
                "an NVIDIA GPU, which is CUDA, not ROCm",
            ),
        };
        if !devices.is_empty() {
            return Ok(devices.clone());
        }
        let others = others
            .iter()
            .map(|device| format!("device {} (`{}`) is {why_not}", device.index, device.name));
        let found: Vec<String> = others.chain(self.rejected.iter().cloned()).collect();
        Err(format!(
            "{path}: `{}` lists none: {}",
            self.library,
            found.join(", ")
        ))
    }
}

/// Queries the driver once, for both vendors.
pub(crate) fn detect(system: &System, topology: &Topology) -> Result<Detected, CudaFailure> {
    // The names that cudarc tries, so that the library that is examined is the one that burn opens.
    let library = search::open(system, &["cuda", "nvcuda"]).map_err(failure)?;
    let driver = CudaDriver::load(&library).map_err(|()| too_old(&library))?;
    let path = library.path();
    let hint = || visible_devices(system).visibility_hint(DetectionPath::CudaDriver);
    driver
        .initialise()
        .map_err(|status| format!("`{path}` {}{}", status.describe_start(), hint()))?;
    let count = driver.device_count().map_err(|status| {
        format!(
            "`{path}` lists no device (cuDeviceGetCount: {status}){}",
            hint()
        )
    })?;
    if count == 0 {
        return Err(CudaFailure::Other(format!(
            "`{path}` is installed and lists no device{}",
            hint()
        )));
    }
    Ok(enumerate(system, topology, &driver, count))
}

fn failure(not_opened: NotOpened) -> CudaFailure {
    if not_opened.broken.is_empty() {
        return CudaFailure::NotInstalled;
    }
    CudaFailure::Other(format!(
        "{}; reinstall the driver",
        not_opened.broken.join(", ")
    ))
}

fn too_old(library: &SharedLibrary) -> String {
    let missing = library.missing(requirements::CUDA_SYMBOLS).join("`, `");
    format!(
        "`{}` is too old, it lacks `{missing}`; install a driver for CUDA 12 or newer",
        library.path()
    )
}

fn enumerate(
    system: &System,
    topology: &Topology,
    driver: &CudaDriver<'_>,
    count: u32,
) -> Detected {
    let mut detected = Detected {
        library: driver.path().to_owned(),
        nvidia: Vec::new(),
        amd: Vec::new(),
        rejected: Vec::new(),
    };
    for index in 0..count {
        match driver.device(index) {
            // A device that does not answer must not hide the others.
            Err(status) => detected
                .rejected
                .push(format!("device {index} does not answer ({status})")),
            Ok(found) => match vendor(&found, topology) {
                Ok(Vendor::Nvidia) => {
                    detected
                        .nvidia
                        .push(device(system, topology, driver, found, Vendor::Nvidia))
                }
                Ok(Vendor::Amd) => {
                    detected
                        .amd
                        .push(device(system, topology, driver, found, Vendor::Amd))
                }
                Err(why) => detected
                    .rejected
                    .push(format!("device {index} (`{}`) {why}", found.name)),
            },
        }
    }
    requirements::assess(system, driver, &mut detected.nvidia, &mut detected.amd);
    detected
}

/// The PCI bus takes precedence over the name: a translation layer may report an NVIDIA name for an
/// AMD GPU. No known layer does the reverse, so an AMD name at an NVIDIA address is rejected.
fn vendor(found: &DriverDevice, topology: &Topology) -> Result<Vendor, &'static str> {
    let by_bus = found
        .pci_address
        .as_deref()
        .and_then(|address| topology.vendor_at(address));
    match (by_bus, Vendor::of_name(&found.name)) {
        (Some(Vendor::Nvidia), Some(Vendor::Amd)) => {
            Err("has an AMD name at the PCI address of an NVIDIA GPU")
        }
        (Some(vendor), _) | (None, Some(vendor)) => Ok(vendor),
        // A generic name on a machine with AMD GPUs only is more likely a translation layer than an
        // NVIDIA GPU.
        (None, None) if topology.has(Vendor::Amd) && !topology.has(Vendor::Nvidia) => {
            Err("has a name that does not identify its vendor, and the kernel lists AMD GPUs only")
        }
        (None, None) => Ok(Vendor::Nvidia),
    }
}

fn device(
    system: &System,
    topology: &Topology,
    driver: &CudaDriver<'_>,
    found: DriverDevice,
    vendor: Vendor,
) -> Device {
    // NVML first: it reads free memory without creating a CUDA context.
    let managed = (vendor == Vendor::Nvidia)
        .then(|| management::query(system, found.pci_address.as_deref()?, found.total_memory))
        .flatten();
    let free_memory = managed
        .as_ref()
        .and_then(|managed| managed.free)
        .or_else(|| driver.memory(found.index).map(|(free, _)| free));
    let module_version = topology
        .nvidia
        .as_ref()
        .filter(|_| vendor == Vendor::Nvidia)
        .and_then(|module| module.version.clone());
    Device {
        kind: if vendor == Vendor::Amd {
            DeviceKind::Rocm
        } else {
            DeviceKind::Cuda
        },
        path: if vendor == Vendor::Amd {
            DetectionPath::CudaCompatibility
        } else {
            DetectionPath::CudaDriver
        },
        index: found.index,
        architecture: if vendor == Vendor::Amd {
            amd_architecture(&found, topology)
        } else {
            found.architecture()
        },
        total_memory: found.total_memory,
        free_memory,
        pci_address: found.pci_address,
        uuid: found.uuid,
        integrated: found.integrated,
        driver_version: managed
            .and_then(|managed| managed.driver_version)
            // NVML is a separate library, which a container may lack.
            .or(module_version),
        runtime_version: driver
            .version()
            .map(|(major, minor)| format!("{major}.{minor}")),
        simulated: found.name.contains("(hip-sim)"),
        name: found.name,
        unusable_by_burn: None,
        warnings: Vec::new(),
    }
}

/// The compute capability that a translation layer reports is made up; the gfx name is in the
/// device's name or in the kernel's list.
fn amd_architecture(found: &DriverDevice, topology: &Topology) -> Option<String> {
    let name = found.name.to_lowercase();
    let by_name = name
        .split(|character: char| !character.is_ascii_alphanumeric())
        .find(|word| word.len() > 4 && word.starts_with("gfx"))
        .map(str::to_owned);
    by_name.or_else(|| {
        topology
            .kfd_gpus()
            .find(|gpu| gpu.pci_address.is_some() && gpu.pci_address == found.pci_address)?
            .architecture
            .clone()
    })
}

/// The size of a device that was detected here, and its clocks if NVML is installed.
pub(crate) fn compute_facts(system: &System, device: &Device) -> ComputeFacts {
    let address = device.pci_address.as_deref();
    let clocks = address.and_then(|address| management::clocks(system, address));
    ComputeFacts {
        compute_units: multiprocessors(system, device),
        clock_mhz: clocks.as_ref().and_then(|clocks| clocks.now),
        max_clock_mhz: clocks.and_then(|clocks| clocks.highest),
    }
}

/// Free and total bytes of a device that was detected here.
pub(crate) fn memory(system: &System, device: &Device) -> Option<(u64, u64)> {
    if device.kind == DeviceKind::Cuda
        && let Some(total) = device.total_memory
        && let Some(address) = device.pci_address.as_deref()
        && let Some(free) =
            management::query(system, address, Some(total)).and_then(|managed| managed.free)
    {
        return Some((free, total));
    }
    // Without NVML the driver answers, which creates a context on the device.
    let library = search::open(system, &["cuda", "nvcuda"]).ok()?;
    let driver = CudaDriver::load(&library).ok()?;
    driver.initialise().ok()?;
    driver.memory(device.index)
}

fn multiprocessors(system: &System, device: &Device) -> Option<u32> {
    let library = search::open(system, &["cuda", "nvcuda"]).ok()?;
    let driver = CudaDriver::load(&library).ok()?;
    driver.initialise().ok()?;
    driver.multiprocessors(device.index)
}
