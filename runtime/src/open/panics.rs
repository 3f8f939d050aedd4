//! Watching cubecl's device threads: a panic there is caught by cubecl, and the caller reads zeros as if all were well.
//!
//! The threads are named `DSD-<type>-<index>` and `DSU-...` (cubecl-common 0.10, `device/handle/channel.rs`). A panic hook
//! is the only place where such a panic can be seen.

use std::any::Any;
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;

const DEVICE_THREADS: &[&str] = &["DSD-", "DSU-"];
/// Threads of [`super::isolated`]: their panics come back as values, so nothing is printed about them.
pub(super) const ISOLATED_THREADS: &str = "testgen-on-";
/// Messages kept; after that only the count goes on.
const KEPT: usize = 64;

static COUNT: AtomicU64 = AtomicU64::new(0);
static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// How many panics there were on device threads since the first device was opened, on any device of this process.
///
/// Ask before and after a run: when the number grew, the results are not to be trusted, zeros above all.
/// [`device_panic_messages`] says what happened.
pub fn device_panics() -> u64 {
    COUNT.load(SeqCst)
}

/// The messages of the device panics after the first `since`, each with its place in the source.
pub fn device_panic_messages(since: u64) -> Vec<String> {
    let messages = MESSAGES.lock().unwrap_or_else(PoisonError::into_inner);
    messages.iter().skip(usize::try_from(since).unwrap_or(usize::MAX)).cloned().collect()
}

/// Installs the hook, once; the hook before it still sees every panic that is not reported otherwise.
pub(super) fn watch() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            let thread = thread::current();
            let name = thread.name().unwrap_or_default();
            if DEVICE_THREADS.iter().any(|prefix| name.starts_with(prefix)) {
                record(message_of(info));
            }
            if !name.starts_with(ISOLATED_THREADS) {
                previous(info);
            }
        }));
    });
}

/// What a panic said, from its payload.
pub(super) fn payload_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".to_owned())
}

fn message_of(info: &PanicHookInfo<'_>) -> String {
    let text = info.payload_as_str().unwrap_or("a panic without a message");
    match info.location() {
        Some(place) => format!("{text} (`{}:{}`)", place.file(), place.line()),
        None => text.to_owned(),
    }
}

fn record(message: String) {
    let mut messages = MESSAGES.lock().unwrap_or_else(PoisonError::into_inner);
    if messages.len() < KEPT {
        messages.push(message);
    }
    COUNT.fetch_add(1, SeqCst);
}

#[cfg(test)]
mod tests {
    use super::{device_panic_messages, device_panics, watch};
    use std::thread;

    fn panic_on(name: &str, message: &'static str) {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || panic!("{message}"));
        assert!(thread.expect("a thread can be started").join().is_err());
    }

    #[test]
    fn a_panic_on_a_device_thread_is_counted_and_told() {
        watch();
        let before = device_panics();
        panic_on("DSD-test-0", "no such kernel 4711");
        assert!(device_panics() > before);
        let messages = device_panic_messages(before);
        assert!(messages.iter().any(|message| message.starts_with("no such kernel 4711 (`")), "{messages:?}");
    }

    #[test]
    fn other_threads_are_not_counted() {
        watch();
        panic_on("DS-test", "not a device 4712");
        assert!(!device_panic_messages(0).iter().any(|message| message.contains("4712")));
    }
}
