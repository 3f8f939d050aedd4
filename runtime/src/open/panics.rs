//! Watching cubecl's device threads: a panic there is caught by cubecl, and the caller reads zeros as if all were well.
//!
//! The threads are named `DSD-<type>-<index>` and `DSU-...` (cubecl-common 0.10, `device/handle/channel.rs`). A panic hook
//! is the only place where such a panic can be seen.
//!
//! The autotuner panics there by design: it tries kernels that the device cannot run (tensor maps on HIP, for one), and
//! takes the panic as a refusal. Such a panic is followed, on the same thread, by one inside `cubecl-runtime`'s `tune`,
//! with lost calls (`CallError`) between them; the whole chain is forgotten when its last link shows.

use crate::narration::is_on;
use std::any::Any;
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const DEVICE_THREADS: &[&str] = &["DSD-", "DSU-"];
/// Threads of [`super::isolated`]: their panics come back as values, so nothing is printed about them.
pub(super) const ISOLATED_THREADS: &str = "testgen-on-";
/// The last link of a chain that the autotuner began.
const TUNER: (&str, &str) = ("cubecl-runtime-", "/src/tune/");
/// The message of a link that only passes a panic on.
const PASSED_ON: &str = "CallError";
/// How long after a panic the last link of its chain shows at the latest.
const SETTLED: Duration = Duration::from_millis(50);

static SEEN: Mutex<Vec<DevicePanic>> = Mutex::new(Vec::new());

struct DevicePanic {
    thread: String,
    message: String,
    at: Instant,
}

/// How many panics there were on device threads since the first device was opened, on any device of this process, those
/// of the autotuner not counted.
///
/// Ask before and after a run: when the number grew, the results are not to be trusted, zeros above all.
/// [`device_panic_messages`] says what happened.
pub fn device_panics() -> u64 {
    settled().len() as u64
}

/// The messages of the device panics after the first `since`, each once with its place in the source and how often it came:
/// a device that is lost panics at every call that follows.
pub fn device_panic_messages(since: u64) -> Vec<String> {
    let since = usize::try_from(since).unwrap_or(usize::MAX);
    each_once(settled().iter().skip(since).map(|panic| panic.message.as_str()))
}

fn each_once<'a>(messages: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut counted: Vec<(&str, u32)> = Vec::new();
    for message in messages {
        match counted.iter_mut().find(|(known, _)| *known == message) {
            Some((_, count)) => *count += 1,
            None => counted.push((message, 1)),
        }
    }
    let told = |(message, count): (&str, u32)| match count {
        1 => message.to_owned(),
        _ => format!("{message} ({count} times)"),
    };
    counted.into_iter().map(told).collect()
}

/// Installs the hook, once. Panics of other threads go on to the hook before it; those of device threads do so when
/// `TESTGEN_VERBOSE` is set, as the autotuner makes dozens of them.
pub(super) fn watch() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            let thread = thread::current();
            let name = thread.name().unwrap_or_default();
            let on_device = DEVICE_THREADS.iter().any(|prefix| name.starts_with(prefix));
            if on_device {
                record(&mut seen(), name, info.location().map_or("", |place| place.file()), message_of(info));
            }
            if !name.starts_with(ISOLATED_THREADS) && (!on_device || is_on()) {
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

fn seen() -> MutexGuard<'static, Vec<DevicePanic>> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was seen, once the newest is old enough not to be a part of a chain any more.
fn settled() -> MutexGuard<'static, Vec<DevicePanic>> {
    loop {
        let seen = seen();
        let Some(wait) = seen.last().and_then(|panic| SETTLED.checked_sub(panic.at.elapsed())) else { return seen };
        drop(seen);
        thread::sleep(wait);
    }
}

fn record(seen: &mut Vec<DevicePanic>, thread: &str, file: &str, message: String) {
    if file.contains(TUNER.0) && file.contains(TUNER.1) {
        forget_chain(seen, thread);
    } else {
        seen.push(DevicePanic { thread: thread.to_owned(), message, at: Instant::now() });
    }
}

/// Forgets the newest panics of a thread: those that were passed on, and the one before them, where it all began.
fn forget_chain(seen: &mut Vec<DevicePanic>, thread: &str) {
    while let Some(newest) = seen.iter().rposition(|panic| panic.thread == thread) {
        let is_origin = !seen.remove(newest).message.contains(PASSED_ON);
        if is_origin {
            return;
        }
    }
}

fn message_of(info: &PanicHookInfo<'_>) -> String {
    let text = info.payload_as_str().unwrap_or("a panic without a message");
    let text = text.trim_end().trim_end_matches("No backtrace available").trim_end();
    match info.location() {
        Some(place) => format!("{text} (`{}:{}`)", within_registry(place.file()), place.line()),
        None => text.to_owned(),
    }
}

/// `cubecl-hip-0.10.0/src/compute/server.rs`, without where this machine keeps it.
fn within_registry(file: &str) -> &str {
    let start = file.find("/registry/src/").map(|start| start + "/registry/src/".len());
    start.and_then(|start| file[start..].split_once('/')).map_or(file, |(_, path)| path)
}

#[cfg(test)]
mod tests;
