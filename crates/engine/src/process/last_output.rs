//! The end of what an engine printed on its standard error.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

/// Bytes that are kept.
const KEPT: usize = 16 * 1024;
/// Lines that an error shows, and the characters of each.
const SHOWN: usize = 12;
const LINE: usize = 300;
/// How long an error waits for output that was written before the process ended.
// A process of another group may keep the pipe open.
const SETTLE: Duration = Duration::from_secs(10);

/// The last bytes, shared with the thread that reads them.
#[derive(Debug, Clone, Default)]
pub(super) struct LastOutput(Arc<(Mutex<Kept>, Condvar)>);

#[derive(Debug, Default)]
struct Kept {
    bytes: VecDeque<u8>,
    /// Whether the pipe was closed.
    complete: bool,
}

impl LastOutput {
    /// Reads until the pipe is closed.
    pub(super) fn read_all(&self, pipe: &mut impl io::Read) {
        let mut buffer = [0; 8192];
        // A flood is read and dropped, so that the engine never waits for it.
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            let mut kept = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.bytes.extend(&buffer[..count]);
            let excess = kept.bytes.len().saturating_sub(KEPT);
            // From the front, because the cause of an end is usually in the last lines.
            kept.bytes.drain(..excess);
        }
        self.0
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .complete = true;
        self.0.1.notify_all();
    }

    /// Waits until everything that an ended process printed is here.
    pub(super) fn settle(&self) {
        let kept = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(
            self.0
                .1
                .wait_timeout_while(kept, SETTLE, |kept| !kept.complete),
        );
    }

    /// The last lines with an introduction; empty without any.
    pub(super) fn describe(&self) -> String {
        let bytes: Vec<u8> = self
            .0
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .bytes
            .iter()
            .copied()
            .collect();
        // The first kept byte may be within a character.
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<String> = text
            .lines()
            .map(printable)
            .filter(|line| !line.is_empty())
            .collect();
        let shown = &lines[lines.len().saturating_sub(SHOWN)..];
        if shown.is_empty() {
            String::new()
        } else {
            format!("; its last output:\n{}", shown.join("\n"))
        }
    }
}

fn printable(line: &str) -> String {
    line.trim_end()
        .chars()
        // A terminal shows it.
        .filter(|c| !c.is_control())
        .take(LINE)
        .collect()
}
