//! One detected device.

use serde::Serialize;
use std::fmt;
use testgen_types::DeviceKind;

/// The path on which a device was found, in order of preference for its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DetectionPath {
    /// The operating system.
    HostProcessor,
    /// `libamdhip64`, which burn's ROCm backend opens.
    HipRuntime,
    /// The list of an engine that is a process, whose own `libamdhip64` this process cannot open;
    /// burn cannot either.
    Engine,
    /// `libcuda`, an NVIDIA GPU.
    CudaDriver,
    /// `libcuda`, an AMD GPU under a translation layer such as ZLUDA or SCALE; burn uses its CUDA
    /// backend for it.
    CudaCompatibility,
}

impl DetectionPath {
    /// The written form, for tables and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HostProcessor => "host processor",
            Self::HipRuntime => "HIP runtime",
            Self::Engine => "engine",
            Self::CudaDriver => "CUDA driver",
            Self::CudaCompatibility => "CUDA compatibility layer",
        }
    }
}

impl fmt::Display for DetectionPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A problem and its fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceProblem {
    /// The problem.
    pub what: String,
    /// How to fix it.
    pub remedy: String,
}

impl DeviceProblem {
    /// A problem with its remedy.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for DeviceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.remedy)
    }
}

/// The kind of program that computes on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    /// burn, in this process: it needs compilers, headers and symbols, and knows some architectures
    /// only.
    Native,
    /// An engine that is a process: it brings what it needs, and reports itself what it cannot
    /// compute.
    Process,
}

/// Why burn's backend could abort or is known to fail on a device that is present.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unusable {
    /// Every problem found; never empty.
    pub problems: Vec<DeviceProblem>,
}

impl Unusable {
    /// `None` when there is no problem.
    pub fn from_problems(problems: Vec<DeviceProblem>) -> Option<Self> {
        if problems.is_empty() {
            None
        } else {
            Some(Self { problems })
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems: Vec<String> = self.problems.iter().map(DeviceProblem::to_string).collect();
        f.write_str(&problems.join("; "))
    }
}

/// A device that is present. Sizes are in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Device {
    /// Its kind; derived from name, architecture and PCI vendor, not from the library that lists
    /// it.
    pub kind: DeviceKind,
    /// How it was found.
    pub path: DetectionPath,
    /// The ordinal in its library, and therefore in burn, after the visible-device variables are
    /// applied.
    pub index: u32,
    /// The name that its library reports.
    pub name: String,
    /// `gfx1100`, `sm_90` or `x86_64`.
    pub architecture: Option<String>,
    /// Total memory.
    pub total_memory: Option<u64>,
    /// Free memory at the time of detection; [`crate::memory`] returns the current value.
    pub free_memory: Option<u64>,
    /// `0000:03:00.0`, lower case, with the domain.
    pub pci_address: Option<String>,
    /// In the form of the visible-device variables: `GPU-...`.
    pub uuid: Option<String>,
    /// Whether it shares its memory with the host processor.
    pub integrated: bool,
    /// The kernel driver's version.
    pub driver_version: Option<String>,
    /// The HIP runtime's version, or the CUDA version that the driver implements.
    pub runtime_version: Option<String>,
    /// Whether it is a software simulation; its name contains `(hip-sim)`.
    pub simulated: bool,
    /// Set when burn's backend must not open it. Concerns no engine that is a process.
    pub unusable_by_burn: Option<Unusable>,
    /// Limitations that leave it usable, for instance headers without which some kernels do not
    /// compile.
    pub warnings: Vec<DeviceProblem>,
}

/// The size and the clocks of a GPU; `None` if the driver does not report a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ComputeFacts {
    /// Streaming multiprocessors.
    pub compute_units: Option<u32>,
    /// Their clock now, in MHz.
    pub clock_mhz: Option<u32>,
    /// Their highest clock, in MHz.
    pub max_clock_mhz: Option<u32>,
}

impl Device {
    /// Why `engine` must not open it, or `None` if it may.
    pub fn unusable_by(&self, engine: EngineKind) -> Option<&Unusable> {
        match engine {
            EngineKind::Native => self.unusable_by_burn.as_ref(),
            EngineKind::Process => None,
        }
    }

    /// `rocm:1`.
    pub fn label(&self) -> String {
        format!("{}:{}", self.kind, self.index)
    }
}
