//! GPUs by the CUDA driver, `libcuda`: NVIDIA's own, and AMD's behind a translation layer that poses as the driver.

mod compiler;
mod driver;
mod management;
mod requirements;
mod search;

use crate::library::{NotOpened, SharedLibrary};
use crate::{Absence, DetectionPath, Device, System, Topology, Vendor, kernel_topology, visible_devices};
use driver::{Driver, DriverDevice};
use testgen_contract::DeviceKind;

/// NVIDIA GPUs. A device of the driver that is AMD's is left to [`cuda_compatibility`].
///
/// # Errors
///
/// The driver is not there, is too old, or lists no NVIDIA GPU.
pub fn cuda_driver(system: &System) -> Result<Vec<Device>, Absence> {
    let topology = kernel_topology(system);
    nvidia(detect(system, &topology).as_ref(), &topology).map_err(|reason| Absence::new(DeviceKind::Cuda, reason))
}

/// AMD GPUs that a translation layer (ZLUDA, SCALE) shows as CUDA devices. Their kind is ROCm.
///
/// # Errors
///
/// There is no CUDA driver, or all its devices are NVIDIA's.
pub fn cuda_compatibility(system: &System) -> Result<Vec<Device>, Absence> {
    amd(detect(system, &kernel_topology(system)).as_ref()).map_err(|reason| Absence::new(DeviceKind::Rocm, reason))
}

const NOT_INSTALLED: &str = "no libcuda.so or libcuda.so.1 in the loader's path";

/// Why the CUDA driver lists nothing.
pub(crate) enum Failure {
    /// There is no `libcuda`.
    NotInstalled,
    /// It is there; what is wrong with it.
    Other(String),
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self::Other(reason)
    }
}

/// Everything that the CUDA driver lists, by maker.
pub(crate) struct Detected {
    library: String,
    nvidia: Vec<Device>,
    amd: Vec<Device>,
    rejected: Vec<String>,
}

/// The NVIDIA half of a detection, with the reason where there is none.
pub(crate) fn nvidia(detected: Result<&Detected, &Failure>, topology: &Topology) -> Result<Vec<Device>, String> {
    let path = DetectionPath::CudaDriver;
    let detected = detected.map_err(|failure| match failure {
        Failure::NotInstalled => format!(
            "{path}: {NOT_INSTALLED}; install the NVIDIA driver, or start the container with its GPUs{}",
            topology.testimony(Vendor::Nvidia)
        ),
        Failure::Other(reason) => format!("{path}: {reason}{}", topology.testimony(Vendor::Nvidia)),
    })?;
    detected.half(
        path,
        &detected.nvidia,
        &detected.amd,
        "an AMD GPU behind a translation layer, which is ROCm, not CUDA",
    )
}

/// The AMD half of a detection, with the reason where there is none.
pub(crate) fn amd(detected: Result<&Detected, &Failure>) -> Result<Vec<Device>, String> {
    let path = DetectionPath::CudaCompatibility;
    let detected = detected.map_err(|failure| match failure {
        Failure::NotInstalled => {
            format!("{path}: {NOT_INSTALLED}; that is needed only where a translation layer stands in for ROCm")
        }
        Failure::Other(reason) => format!("{path}: {reason}"),
    })?;
    detected.half(path, &detected.amd, &detected.nvidia, "an NVIDIA GPU, which is CUDA, not ROCm")
}

impl Detected {
    fn half(
        &self,
        path: DetectionPath,
        wanted: &[Device],
        other: &[Device],
        verdict: &str,
    ) -> Result<Vec<Device>, String> {
        if !wanted.is_empty() {
            return Ok(wanted.to_vec());
        }
        let others = other.iter().map(|device| format!("device {} (`{}`) is {verdict}", device.index, device.name));
        let found: Vec<String> = others.chain(self.rejected.iter().cloned()).collect();
        Err(format!("{path}: `{}` lists none: {}", self.library, found.join(", ")))
    }
}

/// Asks the driver once, for both halves.
pub(crate) fn detect(system: &System, topology: &Topology) -> Result<Detected, Failure> {
    let library = search::open(system, &["cuda", "nvcuda"]).map_err(failure)?;
    let driver = Driver::load(&library).map_err(|()| too_old(&library))?;
    let path = library.path();
    let blame = || visible_devices(system).blame(DetectionPath::CudaDriver);
    driver.initialise().map_err(|status| format!("`{path}` {}{}", status.describe_start(), blame()))?;
    let count = driver
        .device_count()
        .map_err(|status| format!("`{path}` lists no device (cuDeviceGetCount: {status}){}", blame()))?;
    if count == 0 {
        return Err(Failure::Other(format!("`{path}` is there and lists no device{}", blame())));
    }
    Ok(enumerate(system, topology, &driver, count))
}

fn failure(not_opened: NotOpened) -> Failure {
    if not_opened.broken.is_empty() {
        return Failure::NotInstalled;
    }
    Failure::Other(format!("{}; reinstall the driver", not_opened.broken.join(", ")))
}

fn too_old(library: &SharedLibrary) -> String {
    let missing = library.missing(requirements::CUDA_SYMBOLS).join("`, `");
    format!("`{}` is too old, it lacks `{missing}`; install a driver for CUDA 12 or newer", library.path())
}

fn enumerate(system: &System, topology: &Topology, driver: &Driver<'_>, count: u32) -> Detected {
    let mut detected =
        Detected { library: driver.path().to_owned(), nvidia: Vec::new(), amd: Vec::new(), rejected: Vec::new() };
    for index in 0..count {
        match driver.device(index) {
            Err(status) => detected.rejected.push(format!("device {index} does not answer ({status})")),
            Ok(found) => match vendor(&found, topology) {
                Ok(Vendor::Nvidia) => detected.nvidia.push(device(system, topology, driver, found, Vendor::Nvidia)),
                Ok(Vendor::Amd) => detected.amd.push(device(system, topology, driver, found, Vendor::Amd)),
                Err(why) => detected.rejected.push(format!("device {index} (`{}`) {why}", found.name)),
            },
        }
    }
    requirements::judge(system, driver, &mut detected.nvidia, &mut detected.amd);
    detected
}

/// The PCI bus decides over the name, but for an AMD name at an NVIDIA address, which is nonsense.
fn vendor(found: &DriverDevice, topology: &Topology) -> Result<Vendor, &'static str> {
    let by_bus = found.pci_address.as_deref().and_then(|address| topology.vendor_at(address));
    match (by_bus, Vendor::of_name(&found.name)) {
        (Some(Vendor::Nvidia), Some(Vendor::Amd)) => Err("has an AMD name at the PCI address of an NVIDIA GPU"),
        (Some(vendor), _) | (None, Some(vendor)) => Ok(vendor),
        (None, None) if topology.has(Vendor::Amd) && !topology.has(Vendor::Nvidia) => {
            Err("has a name that does not tell its maker, and the kernel lists AMD GPUs only")
        }
        (None, None) => Ok(Vendor::Nvidia),
    }
}

fn device(system: &System, topology: &Topology, driver: &Driver<'_>, found: DriverDevice, vendor: Vendor) -> Device {
    let managed = (vendor == Vendor::Nvidia)
        .then(|| management::query(system, found.pci_address.as_deref()?, found.total_memory))
        .flatten();
    let free_memory =
        managed.as_ref().and_then(|managed| managed.free).or_else(|| driver.memory(found.index).map(|(free, _)| free));
    let module_version =
        topology.nvidia.as_ref().filter(|_| vendor == Vendor::Nvidia).and_then(|module| module.version.clone());
    Device {
        kind: if vendor == Vendor::Amd { DeviceKind::Rocm } else { DeviceKind::Cuda },
        path: if vendor == Vendor::Amd { DetectionPath::CudaCompatibility } else { DetectionPath::CudaDriver },
        index: found.index,
        architecture: if vendor == Vendor::Amd { amd_architecture(&found, topology) } else { found.architecture() },
        total_memory: found.total_memory,
        free_memory,
        pci_address: found.pci_address,
        uuid: found.uuid,
        integrated: found.integrated,
        driver_version: managed.and_then(|managed| managed.driver_version).or(module_version),
        runtime_version: driver.version().map(|(major, minor)| format!("{major}.{minor}")),
        simulated: found.name.contains("(hip-sim)"),
        name: found.name,
        unusable: None,
        warnings: Vec::new(),
    }
}

/// A translation layer invents a compute capability; the gfx name is in the device's name, or the kernel knows it.
fn amd_architecture(found: &DriverDevice, topology: &Topology) -> Option<String> {
    let is_gfx = |word: &&str| word.len() > 4 && word.starts_with("gfx");
    let name = found.name.to_lowercase();
    let by_name = name.split(|character: char| !character.is_ascii_alphanumeric()).find(is_gfx).map(str::to_owned);
    let same_address = |gpu: &&crate::KfdGpu| gpu.pci_address.is_some() && gpu.pci_address == found.pci_address;
    by_name.or_else(|| topology.kfd_gpus().find(same_address)?.architecture.clone())
}

/// Free and total bytes of a device that this path found.
pub(crate) fn memory(system: &System, device: &Device) -> Option<(u64, u64)> {
    if device.kind == DeviceKind::Cuda
        && let Some(total) = device.total_memory
        && let Some(free) =
            management::query(system, device.pci_address.as_deref()?, Some(total)).and_then(|managed| managed.free)
    {
        return Some((free, total));
    }
    let library = search::open(system, &["cuda", "nvcuda"]).ok()?;
    let driver = Driver::load(&library).ok()?;
    driver.initialise().ok()?;
    driver.memory(device.index)
}
