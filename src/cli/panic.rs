//! The message for a bug in testgen itself.

use std::io::Write;

/// Replaces Rust's panic message by one that calls it a bug and asks for a report.
pub(super) fn install_hook() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map(|place| format!(" at {}:{}", place.file(), place.line()))
            .unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("no message");
        let mut stderr = std::io::stderr().lock();
        // Ignored: a closed stderr must not cause a panic in the hook.
        let _ = writeln!(stderr, "error: internal error{place}: {message}");
        let _ = writeln!(
            stderr,
            "help: this is a bug in testgen; please report it with the command and its input"
        );
    }));
}
