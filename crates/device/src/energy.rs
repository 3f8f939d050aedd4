//! Counters of the energy that a device has used.
//!
//! They count the whole device: a processor package, or a GPU with its memory, and whatever else
//! runs on it. Drivers advance them in steps, for instance ten times a second on an NVIDIA H100, so
//! that a short difference says nothing.

use crate::device::{DetectionPath, Device};
use crate::system::System;
use crate::{amdgpu, cuda};
use std::path::{Path, PathBuf};
use testgen_types::bounded_file::read_text;

/// A number in a file of `/sys` has far fewer characters.
const LONGEST: u64 = 4096;

/// Where the kernel's `powercap` framework has the counters of Intel and AMD processors.
const POWERCAP: &str = "/sys/class/powercap";

/// The energy counters of a device.
pub struct EnergyCounter(EnergySource);

enum EnergySource {
    Management(cuda::TotalEnergyCounter),
    Files(Vec<CounterFile>),
}

/// A file with microjoules.
struct CounterFile {
    path: PathBuf,
    /// The value after which it starts again at 0; `None` for one that does not.
    range: Option<u64>,
}

/// The microjoules of each counter of a device at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnergyReading(Vec<u64>);

impl EnergyCounter {
    /// The counters of a device of this machine; `None` if it has none, or they may not be read.
    pub fn open(device: &Device) -> Option<Self> {
        Self::open_in(&System::host(), device)
    }

    /// Like [`EnergyCounter::open`], for a device of another machine, which tests use.
    pub fn open_in(system: &System, device: &Device) -> Option<Self> {
        // An instance of a partitioned GPU has no counter, and the GPU's counts all instances.
        if device.simulated || device.uuid.as_deref().is_some_and(is_instance) {
            return None;
        }
        let address = device.pci_address.as_deref();
        let source = match device.path {
            DetectionPath::HostProcessor => EnergySource::Files(packages(system)?),
            DetectionPath::CudaDriver => {
                EnergySource::Management(cuda::TotalEnergyCounter::open(system, address?)?)
            }
            DetectionPath::HipRuntime
            | DetectionPath::Engine
            | DetectionPath::CudaCompatibility => EnergySource::Files(vec![CounterFile {
                path: amdgpu::energy_file(system, address?)?,
                range: None,
            }]),
        };
        let counter = Self(source);
        // A counter that cannot be read would be looked for in vain at every call.
        counter.read().map(|_| counter)
    }

    /// The counters now; `None` if one of them cannot be read.
    pub fn read(&self) -> Option<EnergyReading> {
        let values = match &self.0 {
            EnergySource::Management(counter) => vec![counter.microjoules()?],
            EnergySource::Files(files) => {
                let values = files.iter().map(|file| number(&file.path));
                values.collect::<Option<_>>()?
            }
        };
        Some(EnergyReading(values))
    }

    /// The joules between two readings; `None` if the counters did not advance, or one went back.
    pub fn joules(&self, before: &EnergyReading, after: &EnergyReading) -> Option<f64> {
        let pairs = before.0.iter().zip(&after.0).enumerate();
        let differences: Option<Vec<u64>> = pairs
            .map(|(index, (&before, &after))| {
                after.checked_sub(before).or_else(|| {
                    // A counter that started again went from `before` to its range, and from 0 on.
                    self.range(index)?.checked_sub(before)?.checked_add(after)
                })
            })
            .collect();
        let microjoules: u64 = differences?.iter().sum();
        (microjoules > 0).then(|| microjoules as f64 / 1e6)
    }

    /// The value after which a counter starts again at 0.
    fn range(&self, index: usize) -> Option<u64> {
        match &self.0 {
            EnergySource::Management(_) => None,
            EnergySource::Files(files) => files.get(index)?.range,
        }
    }
}

/// Whether the name is of an instance of a partitioned GPU.
fn is_instance(uuid: &str) -> bool {
    uuid.starts_with("MIG-")
}

/// The counter of each processor package, `intel-rapl:0`. `None` if there is none, or one of them
/// may not be read.
fn packages(system: &System) -> Option<Vec<CounterFile>> {
    // One package that may not be read makes the whole unknown: a part of the energy is not the
    // energy.
    let packages: Vec<CounterFile> = system
        .list(POWERCAP)
        .into_iter()
        // Parts of a package, such as `intel-rapl:0:0`, are counted in it.
        .filter(|name| is_package(system, name))
        .map(|name| {
            let directory = system.path(format!("{POWERCAP}/{name}"));
            CounterFile {
                path: directory.join("energy_uj"),
                range: number(&directory.join("max_energy_range_uj")),
            }
        })
        .collect();
    (!packages.is_empty()).then_some(packages)
}

fn is_package(system: &System, name: &str) -> bool {
    // The kernel has this name for AMD's processors, too.
    let number = name.strip_prefix("intel-rapl:");
    let is_number = number.is_some_and(|number| number.parse::<u32>().is_ok());
    // `psys` is the whole machine, which contains the packages.
    is_number
        && system
            .read(format!("{POWERCAP}/{name}/name"))
            .is_some_and(|name| name.starts_with("package"))
}

fn number(path: &Path) -> Option<u64> {
    read_text(path, LONGEST).ok()?.trim().parse().ok()
}
