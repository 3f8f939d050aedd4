//! Panics on cubecl's device threads: cubecl catches them, and the caller reads zeros without an
//! error.
//!
//! The threads are named `DSD-<type>-<index>` and `DSU-...` (cubecl-common 0.10,
//! `device/handle/channel.rs`). A panic hook is the only way to observe such a panic.

use crate::{
    gpu_memory::{self, is_out_of_memory},
    log::is_verbose,
};
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use testgen_types::panic_text;

const DEVICE_THREADS: &[&str] = &["DSD-", "DSU-"];
/// Threads of [`super::isolated`].
// Their panics are returned as values, so they are not printed.
pub(super) const ISOLATED_THREADS: &str = "testgen-on-";

/// The messages of the panics, in order.
static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The number of panics on device threads since the first device was opened, of all devices of this
/// process.
///
/// Compare it before and after a computation: if it grew, the results are invalid, often zeros.
/// [`device_panic_messages`] returns the messages.
pub fn device_panics() -> u64 {
    seen().len() as u64
}

/// The messages of the device panics after the first `since`, each once, with its source location
/// and its count: a device that is lost panics on every later call.
pub fn device_panic_messages(since: u64) -> Vec<String> {
    let since = usize::try_from(since).unwrap_or(usize::MAX);
    counted(seen().iter().skip(since).map(String::as_str))
}

/// The first message after the first `since` about memory that a device does not have.
pub(crate) fn out_of_memory(since: u64) -> Option<String> {
    let since = usize::try_from(since).unwrap_or(usize::MAX);
    seen()
        .iter()
        .skip(since)
        // The other panics are its consequences.
        .find(|message| is_out_of_memory(message))
        .cloned()
}

/// Each message once, with its count if it occurred more often.
fn counted<'a>(messages: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut counts: Vec<(&str, u32)> = Vec::new();
    for message in messages {
        match counts.iter_mut().find(|(known, _)| *known == message) {
            Some((_, count)) => *count += 1,
            None => counts.push((message, 1)),
        }
    }
    counts
        .into_iter()
        .map(|(message, count)| match count {
            1 => message.to_owned(),
            _ => format!("{message} ({count} times)"),
        })
        .collect()
}

/// Installs the hook, once. Panics of other threads are passed to the previous hook; panics of
/// device threads only with `TESTGEN_VERBOSE`, because the check that they fail reports them.
pub(super) fn watch() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            let thread = thread::current();
            let name = thread.name().unwrap_or_default();
            // Not yet a failure: the allocation is tried again, or reported by another panic.
            if gpu_memory::tries_allocation() {
                return;
            }
            let on_device = DEVICE_THREADS.iter().any(|prefix| name.starts_with(prefix));
            // Counted also without printing: a check compares the count before and after its work.
            if on_device {
                seen().push(message_of(info));
            }
            if !name.starts_with(ISOLATED_THREADS) && (!on_device || is_verbose()) {
                previous(info);
            }
        }));
    });
}

fn seen() -> MutexGuard<'static, Vec<String>> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn message_of(info: &PanicHookInfo<'_>) -> String {
    let text = panic_text(info.payload());
    // cubecl appends it to its errors unless backtraces are on.
    let text = text
        .trim_end()
        .trim_end_matches("No backtrace available")
        .trim_end();
    match info.location() {
        // It is about the device, not about the code that reports it.
        _ if is_out_of_memory(text) => text.to_owned(),
        Some(location) => format!(
            "{text} (`{}:{}`)",
            within_registry(location.file()),
            location.line()
        ),
        None => text.to_owned(),
    }
}

/// The path within cargo's registry, such as `cubecl-hip-0.10.0/src/compute/server.rs`.
fn within_registry(file: &str) -> &str {
    let start = file
        .find("/registry/src/")
        .map(|start| start + "/registry/src/".len());
    start
        .and_then(|start| file[start..].split_once('/'))
        .map_or(file, |(_, path)| path)
}

#[cfg(test)]
mod tests;
