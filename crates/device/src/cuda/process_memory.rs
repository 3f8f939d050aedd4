//! The memory that NVIDIA's driver has given to one process, and the foreign call into NVML that
//! lists the processes on a GPU.

use super::management_session::ManagementSession;
use crate::pid_namespace;
use crate::system::System;
use std::ffi::{c_int, c_uint, c_void};

/// `nvmlProcessInfo_t`, which versions 2 and 3 of the function share.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct NvmlProcess {
    pid: c_uint,
    used: u64,
    // `gpuInstanceId` and `computeInstanceId`, which belong to the size of an entry.
    _instances: [c_uint; 2],
}

type RunningProcesses = unsafe extern "C" fn(*mut c_void, *mut c_uint, *mut NvmlProcess) -> c_int;

/// Drivers since 510 have the first one, those since 470 the second one.
const FUNCTIONS: [&str; 2] = [
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetComputeRunningProcesses_v2",
];

// No GPU runs more processes; NVML reports an error for a longer list.
const MOST: usize = 1024;

/// `NVML_VALUE_NOT_AVAILABLE`.
const NOT_AVAILABLE: u64 = u64::MAX;

/// Bytes that the driver has given to a process of this process's namespace, on the GPU at a PCI
/// address.
pub(crate) fn process_memory(system: &System, address: &str, pid: u32) -> Option<u64> {
    let listed = running_processes(system, address)?;
    // Older drivers list the processes of a container by their ids outside of it, one of which may
    // be this id by chance. The process is on the list, so that its id outside would show as an id
    // that does not exist here.
    let of_this_namespace = pid_namespace::is_initial(system)
        || listed
            .iter()
            .all(|process| pid_namespace::has(system, process.pid));
    if !of_this_namespace {
        return None;
    }
    let mut used = listed
        .iter()
        .filter(|process| process.pid == pid)
        .map(|process| process.used)
        .peekable();
    // A process without a context there has nothing that could be reported.
    used.peek()?;
    used.sum()
}

/// A process that computes on a GPU.
struct RunningProcess {
    pid: u32,
    /// Bytes that the driver has given to it; `None` if the driver does not say.
    used: Option<u64>,
}

/// The processes with a context on the GPU at a PCI address, once for each instance of the GPU;
/// `None` when NVML is not installed, or does not have the GPU.
fn running_processes(system: &System, address: &str) -> Option<Vec<RunningProcess>> {
    let session = ManagementSession::start(system)?;
    let handle = session.handle(address)?;
    let library = session.library();
    // SAFETY: both versions of the function have this C signature in `nvml.h`.
    let list = FUNCTIONS
        .iter()
        .find_map(|name| unsafe { library.function::<RunningProcesses>(name) })?;
    let mut processes = vec![NvmlProcess::default(); MOST];
    let mut count = MOST as c_uint;
    // SAFETY: NVML is initialised and has returned the handle; `processes` has room for `count`
    // entries, and both are writable.
    let status = unsafe { list(handle, &mut count, processes.as_mut_ptr()) };
    let listed = processes.get(..count as usize).filter(|_| status == 0)?;
    Some(
        listed
            .iter()
            .map(|process| RunningProcess {
                pid: process.pid,
                used: (process.used != NOT_AVAILABLE).then_some(process.used),
            })
            .collect(),
    )
}
