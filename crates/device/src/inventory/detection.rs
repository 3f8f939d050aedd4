//! Detection on every path.

use super::{Inventory, PathResult, contradiction};
use crate::device::DetectionPath;
use crate::host::host_processor;
use crate::system::System;
use crate::topology::kernel_topology;
use crate::visibility::visible_devices;
use crate::{cuda, hip};

/// Runs every detection path, once.
pub fn inventory(system: &System) -> Inventory {
    let topology = kernel_topology(system);
    let cuda = cuda::detect(system, &topology);
    let results = [
        (
            DetectionPath::HostProcessor,
            Ok(vec![host_processor(system)]),
        ),
        (DetectionPath::HipRuntime, hip::detect(system, &topology)),
        (
            DetectionPath::CudaDriver,
            cuda::nvidia_devices(cuda.as_ref(), &topology),
        ),
        (
            DetectionPath::CudaCompatibility,
            cuda::amd_devices(cuda.as_ref()),
        ),
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
        inventory.paths.push(PathResult {
            path,
            found,
            absence: result.as_ref().err().cloned(),
        });
        inventory.devices.extend(result.unwrap_or_default());
    }
    inventory.contradictions = contradiction::find(system, &inventory);
    inventory
}
