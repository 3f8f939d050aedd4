//! The memory of a device that its driver has given to one process.

use crate::device::{DetectionPath, Device};
use crate::system::System;
use crate::{amdgpu, cuda};

/// Bytes of `device` that its driver has given to the process with the id `pid` in this process's
/// namespace: buffers, what an allocator keeps, code, and the context. `None` for the host
/// processor, for a simulated device, and if the driver does not report it, as in many containers.
pub fn process_memory(device: &Device, pid: u32) -> Option<u64> {
    process_memory_in(&System::host(), device, pid)
}

/// Like [`process_memory`], for a device of another machine, which tests use.
pub fn process_memory_in(system: &System, device: &Device, pid: u32) -> Option<u64> {
    let address = device
        .pci_address
        .as_deref()
        .filter(|_| !device.simulated)?;
    match device.path {
        DetectionPath::HostProcessor => None,
        DetectionPath::CudaDriver => cuda::process_memory(system, address, pid),
        DetectionPath::HipRuntime | DetectionPath::Engine | DetectionPath::CudaCompatibility => {
            amdgpu::process_memory(system, address, pid)
        }
    }
}
