//! The size and the clocks of a GPU, as its driver reports them.

use crate::cuda;
use crate::device::{ComputeFacts, DetectionPath, Device};
use crate::system::System;

/// The facts about a device of this machine. Only NVIDIA's driver and NVML are asked.
pub fn compute_facts(device: &Device) -> ComputeFacts {
    compute_facts_in(&System::host(), device)
}

/// Like [`compute_facts`], for a device of another machine, which tests use.
pub fn compute_facts_in(system: &System, device: &Device) -> ComputeFacts {
    match device.path {
        DetectionPath::CudaDriver => cuda::compute_facts(system, device),
        // A translation layer reports the units of a GPU that does not exist. HIP numbers its
        // attributes differently in each version.
        DetectionPath::CudaCompatibility
        | DetectionPath::HostProcessor
        | DetectionPath::HipRuntime
        | DetectionPath::Engine => ComputeFacts::default(),
    }
}
