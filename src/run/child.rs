//! Child processes that end with this one: an interrupt or a request to terminate kills the child first.

use super::RunError;
use std::{
    process::{Child, ExitStatus},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How often the child is looked at: short against what a person notices.
const POLL: Duration = Duration::from_millis(20);

/// From now on an interrupt ends the child that [`wait`] waits for, instead of this process alone.
pub(crate) fn watch_interrupts() {
    // A second handler is refused; the first one does the same.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst));
}

/// Waits until `child` ends, and calls `tick` meanwhile.
pub(crate) fn wait(child: &mut Child, mut tick: impl FnMut()) -> Result<ExitStatus, RunError> {
    loop {
        if INTERRUPTED.load(Ordering::SeqCst) {
            // It may have ended by the same signal already.
            let _ = child.kill();
            let _ = child.wait();
            return Err(RunError::Interrupted);
        }
        if let Some(status) = child.try_wait().map_err(|source| RunError::Wait { source })? {
            return Ok(status);
        }
        tick();
        thread::sleep(POLL);
    }
}
