//! Device work on a separate thread, with a time limit: panics and timeouts are returned as values.

use super::panics::{self, ISOLATED_THREADS};
use crate::kernels;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use testgen_device::Device;
use testgen_types::{DeviceKind, panic_text};

/// The first GPU that did not answer in time.
// cubecl holds a process-wide spin lock while it opens a device, so every other GPU may hang after
// that.
static HUNG: Mutex<Option<String>> = Mutex::new(None);

/// How isolated work failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IsolatedFailure {
    /// It panicked, on its own thread or on cubecl's device thread.
    Panicked { message: String },
    /// It did not finish in time. Its thread keeps running: a thread cannot be stopped.
    TimedOut { limit: Duration },
    /// It was not started, because an earlier device hangs.
    Blocked { by: String },
}

/// Runs `work` on a new thread, and therefore on a new stream, and waits at most `limit`.
///
/// An answer that a GPU computed while a device thread panicked is a failure; the host has no
/// device threads.
pub(crate) fn isolated<Answer: Send + 'static>(
    device: &Device,
    limit: Duration,
    work: impl FnOnce() -> Answer + Send + 'static,
) -> Result<Answer, IsolatedFailure> {
    panics::watch();
    let is_gpu = device.kind != DeviceKind::Cpu;
    // The host has no device that another one could block.
    if is_gpu && let Some(by) = HUNG.lock().unwrap_or_else(PoisonError::into_inner).clone() {
        return Err(IsolatedFailure::Blocked { by });
    }
    // Panics are counted for the process, so that only the difference belongs to this work.
    let before = panics::device_panics();
    let (sender, receiver) = channel();
    let thread = thread::Builder::new().name(format!("{ISOLATED_THREADS}{}", device.label()));
    // After the time limit the answer is not received, so a failed `send` is ignored.
    let spawned = thread.spawn(move || {
        drop(sender.send(catch_unwind(AssertUnwindSafe(move || {
            // A process that only compiles runs these kernels: they prove the device.
            kernels::executing(work)
        }))))
    });
    if let Err(error) = spawned {
        return Err(IsolatedFailure::Panicked {
            message: format!("no thread could be started: {error}"),
        });
    }
    let outcome = receiver.recv_timeout(limit);
    let panics = (is_gpu && panics::device_panics() > before).then(|| described(before));
    match (outcome, panics) {
        // After a panic of the device's thread the answer was read from buffers that were never
        // written.
        (Ok(_), Some(message)) => Err(IsolatedFailure::Panicked { message }),
        (Ok(Ok(answer)), None) => Ok(answer),
        (Ok(Err(payload)), None) => Err(IsolatedFailure::Panicked {
            message: panic_text(payload.as_ref()).to_owned(),
        }),
        (Err(RecvTimeoutError::Disconnected), _) => Err(IsolatedFailure::Panicked {
            message: "no answer".to_owned(),
        }),
        (Err(RecvTimeoutError::Timeout), _) => Err(timed_out(device, limit)),
    }
}

/// The panics after the first `before`.
fn described(before: u64) -> String {
    panics::out_of_memory(before).unwrap_or_else(|| {
        // One panic causes others of the same kind; each message is kept once, and none beside one
        // about memory.
        let mut messages = panics::device_panic_messages(before);
        let mut seen = BTreeSet::new();
        messages.retain(|message| seen.insert(message.clone()));
        format!("on the device thread: {}", messages.join("; "))
    })
}

fn timed_out(device: &Device, limit: Duration) -> IsolatedFailure {
    if device.kind != DeviceKind::Cpu {
        let mut hung = HUNG.lock().unwrap_or_else(PoisonError::into_inner);
        // The first one stays: the GPUs after it hang because of it.
        hung.get_or_insert_with(|| format!("{} (`{}`)", device.label(), device.name));
    }
    IsolatedFailure::TimedOut { limit }
}

#[cfg(test)]
mod tests {
    use super::{IsolatedFailure, isolated};
    use crate::machine::host_processor;
    use crate::open::subprocess_test::in_subprocess;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;
    use testgen_device::Device;
    use testgen_types::DeviceKind;

    const LONG: Duration = Duration::from_secs(300);

    #[test]
    fn an_answer_is_returned() {
        assert_eq!(isolated(&host_processor(), LONG, || 42), Ok(42));
    }

    #[test]
    fn a_panic_is_returned_with_its_message() {
        let failure = isolated(&host_processor(), LONG, || -> u8 {
            panic!("out of {}", "ideas")
        });
        assert_eq!(
            failure,
            Err(IsolatedFailure::Panicked {
                message: "out of ideas".to_owned()
            })
        );
    }

    #[test]
    fn an_answer_of_a_gpu_during_a_device_panic_is_a_failure() {
        if !in_subprocess(
            module_path!(),
            "an_answer_of_a_gpu_during_a_device_panic_is_a_failure",
        ) {
            return;
        }
        let gpu = Device {
            kind: DeviceKind::Rocm,
            ..host_processor()
        };
        let failure = isolated(&gpu, LONG, || {
            let thread = thread::Builder::new()
                .name("DSD-9-9".to_owned())
                .spawn(|| panic!("launch failed"));
            thread.expect("a thread can be started").join().is_err()
        });
        let Err(IsolatedFailure::Panicked { message }) = failure else {
            panic!("{failure:?}")
        };
        assert!(
            message.starts_with("on the device thread: ") && message.contains("launch failed"),
            "{message}"
        );
    }

    #[test]
    fn slow_work_times_out() {
        let limit = Duration::from_millis(20);
        // The work ends after the assertion, however slow the machine is; `LONG` is a watchdog.
        let (end, is_over) = channel::<()>();
        let failure = isolated(&host_processor(), limit, move || {
            is_over.recv_timeout(LONG).is_ok()
        });
        assert_eq!(failure, Err(IsolatedFailure::TimedOut { limit }));
        drop(end);
    }
}
