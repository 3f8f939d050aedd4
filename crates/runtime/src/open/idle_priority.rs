//! Idle priority for threads that use a simulated device.
//!
//! cubecl's queue holds 32 tasks, and a thread that finds it full spins up to half a million times
//! (cubecl-common 0.10 `device/handle/channel.rs`). With a GPU the processor is idle anyway. A
//! simulated device computes on the same processors, and the spinning took two fifths of a
//! simulated run. So the calling thread runs at idle priority. (With the lowest nice value instead,
//! waiting threads still took a third of two processors next to two busy devices; with this policy
//! a sixth, their own work included.)

use testgen_device::Device;

/// Lowers the calling thread to idle priority if `device` is a simulation.
pub(super) fn lower_for_simulation(device: &Device) {
    if device.simulated {
        set_idle_priority();
    }
}

/// On Linux the policy applies to the thread alone.
#[cfg(target_os = "linux")]
fn set_idle_priority() {
    use thread_priority::{
        NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
        set_thread_priority_and_policy, thread_native_id,
    };
    let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    // An error is ignored: it makes a simulation slower, not wrong.
    let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy);
}

#[cfg(not(target_os = "linux"))]
fn set_idle_priority() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::lower_for_simulation;
    use crate::machine::host_processor;
    use std::thread;
    use testgen_device::Device;
    use thread_priority::{
        NormalThreadSchedulePolicy, ThreadSchedulePolicy, thread_schedule_policy,
    };

    const IDLE: ThreadSchedulePolicy =
        ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);

    #[test]
    fn only_the_thread_that_uses_a_simulation_gets_idle_priority() {
        let policy = |simulated| {
            let device = Device {
                simulated,
                ..host_processor()
            };
            thread::spawn(move || {
                lower_for_simulation(&device);
                thread_schedule_policy().expect("a thread has a policy")
            })
        };
        assert_ne!(policy(false).join().expect("it ends"), IDLE);
        assert_eq!(policy(true).join().expect("it ends"), IDLE);
        assert_ne!(
            thread_schedule_policy().expect("a thread has a policy"),
            IDLE
        );
    }
}
