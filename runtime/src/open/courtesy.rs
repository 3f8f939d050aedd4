//! A thread that waits for a simulated device gives way to it.
//!
//! cubecl's queue holds 32 tasks, and who finds it full spins for up to half a million turns (cubecl-common 0.10
//! `device/handle/channel.rs`). Beside a GPU that is a processor's idle time; a simulated device computes on the same
//! processors, and two fifths of a simulated run were that spinning. So the caller computes only where nobody else wants to.
//! (With the lowest nice value alone, threads that wait still took a third of two processors beside two busy devices; with
//! this policy a sixth, their own work included.)

use testgen_device::Device;

/// Makes the calling thread wait politely, once its device is a simulation.
pub(super) fn give_way(device: &Device) {
    if device.simulated {
        only_when_idle();
    }
}

/// On Linux a thread has a policy of its own. Where it cannot be set, a simulation takes longer and is no less right.
#[cfg(target_os = "linux")]
fn only_when_idle() {
    use thread_priority::{
        NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
        thread_native_id,
    };
    let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy);
}

#[cfg(not(target_os = "linux"))]
fn only_when_idle() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::give_way;
    use crate::detect::host_processor;
    use std::thread;
    use testgen_device::Device;
    use thread_priority::{NormalThreadSchedulePolicy, ThreadSchedulePolicy, thread_schedule_policy};

    const IDLE: ThreadSchedulePolicy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);

    #[test]
    fn only_the_thread_that_waits_for_a_simulation_gives_way() {
        let of = |simulated| {
            let device = Device { simulated, ..host_processor() };
            thread::spawn(move || {
                give_way(&device);
                thread_schedule_policy().expect("a thread knows its policy")
            })
        };
        assert_ne!(of(false).join().expect("it ends"), IDLE);
        assert_eq!(of(true).join().expect("it ends"), IDLE);
        assert_ne!(thread_schedule_policy().expect("a thread knows its policy"), IDLE);
    }
}
