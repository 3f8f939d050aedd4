//! A thread that waits for a simulated device gives way to it.
//!
//! cubecl's queue holds 32 tasks, and who finds it full spins for up to half a million turns (cubecl-common 0.10
//! `device/handle/channel.rs`). Beside a GPU that is a processor's idle time; a simulated device computes on the same
//! processors, and two fifths of a simulated run were that spinning. So the caller becomes the nicest of threads: it spins
//! where nobody else wants to compute.

use testgen_device::Device;

/// Makes the calling thread wait politely, once its device is a simulation.
pub(super) fn give_way(device: &Device) {
    if device.simulated {
        nicest();
    }
}

/// On Linux a thread has a priority of its own. Where it cannot be set, a simulation takes longer and is no less right.
#[cfg(target_os = "linux")]
fn nicest() {
    use rustix::{process::setpriority_process, thread::gettid};
    let _ = setpriority_process(Some(gettid()), 19);
}

#[cfg(not(target_os = "linux"))]
fn nicest() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::give_way;
    use crate::detect::host_processor;
    use std::thread;
    use testgen_device::Device;

    /// The nice value of the calling thread.
    fn nice() -> i32 {
        rustix::process::getpriority_process(Some(rustix::thread::gettid())).expect("a thread knows its priority")
    }

    #[test]
    fn only_the_thread_that_waits_for_a_simulation_gives_way() {
        let of = |simulated| {
            let device = Device { simulated, ..host_processor() };
            thread::spawn(move || {
                give_way(&device);
                nice()
            })
        };
        let before = nice();
        assert_eq!(of(false).join().expect("it ends"), before);
        assert_eq!(of(true).join().expect("it ends"), 19);
        assert_eq!(nice(), before);
    }
}
