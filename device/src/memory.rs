//! The memory of a device, now.

use crate::library::SharedLibrary;
use crate::{DetectionPath, Device, System, cuda, hip, host};

/// Free and total bytes of a device of this machine; `None` when its library cannot say.
///
/// Leaves nothing behind: HIP is asked on a thread of its own, CUDA by NVML where that is installed, else in the
/// device's primary context, which is released at once unless someone else holds it.
pub fn memory(device: &Device) -> Option<(u64, u64)> {
    memory_in(&System::host(), device)
}

/// The same for a device of another machine, as tests have them.
pub fn memory_in(system: &System, device: &Device) -> Option<(u64, u64)> {
    match device.path {
        DetectionPath::HostProcessor => host::memory_info(system),
        DetectionPath::HipRuntime => {
            let library: SharedLibrary = hip::open_library(system, "amdhip64").ok()?;
            hip::HipFunctions::load(&library).ok()?.memory(device.index)
        }
        DetectionPath::CudaDriver | DetectionPath::CudaCompatibility => cuda::memory(system, device),
    }
}

/// Runs `work` on a new thread: the current device and the current context of both runtimes belong to a thread.
pub(crate) fn on_fresh_thread<Answer: Send>(work: impl FnOnce() -> Option<Answer> + Send) -> Option<Answer> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("testgen-device".to_owned());
        thread.spawn_scoped(scope, work).ok()?.join().ok()?
    })
}
