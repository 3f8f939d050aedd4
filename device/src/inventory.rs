//! Everything that detection knows at once, for `testgen devices` and the doctor.

mod contradiction;
mod table;

use crate::{
    DetectionPath, Device, Problem, System, Topology, Visibility, cuda, hip, host_processor, kernel_topology,
    visible_devices,
};
use serde::Serialize;

/// What one path gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathResult {
    /// The path.
    pub path: DetectionPath,
    /// How many devices it found.
    pub found: usize,
    /// Why it found none.
    pub absence: Option<String>,
}

/// All devices, why there are no others, and what does not fit together. `Display` prints it as tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inventory {
    /// The visible-device variables.
    pub visibility: Visibility,
    /// The kernel's lists.
    pub topology: Topology,
    /// Each path, in order of preference.
    pub paths: Vec<PathResult>,
    /// Every device, ordered by path and ordinal.
    pub devices: Vec<Device>,
    /// Where the paths and the kernel contradict each other, or a variable is wrong.
    pub contradictions: Vec<Problem>,
}

impl Inventory {
    /// The devices of one path.
    pub fn on(&self, path: DetectionPath) -> impl Iterator<Item = &Device> {
        self.devices.iter().filter(move |device| device.path == path)
    }
}

/// Looks on every path, once.
pub fn inventory(system: &System) -> Inventory {
    let topology = kernel_topology(system);
    let cuda = cuda::detect(system, &topology);
    let results = [
        (DetectionPath::HostProcessor, Ok(vec![host_processor(system)])),
        (DetectionPath::HipRuntime, hip::detect(system, &topology)),
        (DetectionPath::CudaDriver, cuda::nvidia(cuda.as_ref(), &topology)),
        (DetectionPath::CudaCompatibility, cuda::amd(cuda.as_ref())),
    ];
    let mut inventory = Inventory {
        visibility: visible_devices(system),
        topology,
        paths: Vec::new(),
        devices: Vec::new(),
        contradictions: Vec::new(),
    };
    for (path, result) in results {
        let found = result.as_ref().map_or(0, Vec::len);
        inventory.paths.push(PathResult { path, found, absence: result.as_ref().err().cloned() });
        inventory.devices.extend(result.unwrap_or_default());
    }
    inventory.contradictions = contradiction::find(system, &inventory);
    inventory
}
