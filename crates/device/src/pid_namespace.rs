//! Whether ids of processes that a driver reports are ids of this process's namespace.

use crate::system::System;

/// The target of the link for the namespace that the kernel starts with: `PROC_PID_INIT_INO` of
/// `include/uapi/linux/nsfs.h`.
const INITIAL: &str = "pid:[4026531836]";

/// Whether this process is in the initial namespace, so that its ids are the kernel's own.
pub(crate) fn is_initial(system: &System) -> bool {
    std::fs::read_link(system.path("/proc/self/ns/pid"))
        .is_ok_and(|target| target.as_os_str() == INITIAL)
}

/// Whether a process with this id exists in this process's namespace.
pub(crate) fn has(system: &System, pid: u32) -> bool {
    system.path(format!("/proc/{pid}")).is_dir()
}
