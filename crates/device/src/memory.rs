//! The current memory of a device.

use crate::device::{DetectionPath, Device};
use crate::library::SharedLibrary;
use crate::system::System;
use crate::{cuda, hip, host};

/// Free and total bytes of a device of this machine; `None` when its library does not report them.
///
/// Has no lasting effect: HIP is queried on a separate thread, CUDA through NVML if that is
/// installed, else in the device's primary context, which is released at once unless another user
/// of the process holds it.
pub fn memory(device: &Device) -> Option<(u64, u64)> {
    memory_in(&System::host(), device)
}

/// Like [`memory`], for a device of another machine, which tests use.
pub fn memory_in(system: &System, device: &Device) -> Option<(u64, u64)> {
    match device.path {
        DetectionPath::HostProcessor => host::memory_info(system),
        DetectionPath::HipRuntime => {
            let library: SharedLibrary = hip::open_library(system, "amdhip64").ok()?;
            hip::HipFunctions::load(&library).ok()?.memory(device.index)
        }
        // Its library is in the engine's process only.
        DetectionPath::Engine => None,
        DetectionPath::CudaDriver | DetectionPath::CudaCompatibility => {
            cuda::memory(system, device)
        }
    }
}
