//! The current input of a target: it is kept when the process ends in it, and ends the process when
//! it does not end.

use crate::directories::results;
use std::{
    fs::{self, File},
    io::{self, Seek, Write},
    path::PathBuf,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

/// The longest time of one execution; one that takes longer is a finding.
// Executions take milliseconds, so that no machine is so slow.
pub(crate) const SLOW: Duration = Duration::from_secs(60);

/// The seconds after which an execution counts as endless.
// Longer than two slow ones, because a slow one is repeated.
const ENDLESS: u32 = 180;

/// An input, and when its execution began.
type Current = Arc<Mutex<Option<(Instant, Vec<u8>)>>>;

/// Ends the process when an execution does not end.
// The whole process, because a thread cannot be ended from outside.
pub(crate) struct Watch {
    current: Current,
    /// Holds the current input of a long run: a stack overflow or a kill of the system leaves no
    /// other trace.
    file: Option<File>,
}

impl Watch {
    pub(crate) fn start(target: &'static str, long: bool) -> Self {
        let current: Current = Arc::default();
        // Weak, so that the thread ends with its target: a test binary runs several of them.
        let watched = Arc::downgrade(&current);
        thread::spawn(move || {
            // Counted instead of measured: a machine that was paused is not an execution that does
            // not end.
            let (mut last, mut unchanged) = (None, 0);
            while let Some(current) = watched.upgrade() {
                let now = current
                    .lock()
                    .expect("no thread panics with it")
                    .as_ref()
                    .map(|(begun, _)| *begun);
                unchanged = if now == last { unchanged + 1 } else { 0 };
                last = now;
                let late = current.lock().expect("no thread panics with it").clone();
                if let Some((_, input)) = late.filter(|_| unchanged > ENDLESS) {
                    let path = keep(target, "endless", &input);
                    eprintln!("{target}: the input {} does not end", path.display());
                    std::process::abort();
                }
                drop(current);
                thread::sleep(Duration::from_secs(1));
            }
        });
        let file = long
            .then(|| File::create(keep(target, "current", &[])).expect("target/ can be written"));
        Self { current, file }
    }

    pub(crate) fn set(&mut self, input: &[u8]) {
        *self.current.lock().expect("no thread panics with it") =
            Some((Instant::now(), input.to_owned()));
        if let Some(file) = &mut self.file {
            replace(file, input).expect("target/ can be written");
        }
    }

    pub(crate) fn stop(&mut self) {
        *self.current.lock().expect("no thread panics with it") = None;
    }
}

fn replace(file: &mut File, content: &[u8]) -> io::Result<()> {
    // The length is cut last: a process that is killed in between leaves the input with a tail of
    // the former one, and not an empty file.
    file.rewind()?;
    file.write_all(content)?;
    file.set_len(content.len() as u64)
}

/// Writes an input below `target/fuzz/`.
pub(crate) fn keep(target: &str, name: &str, input: &[u8]) -> PathBuf {
    let directory = results(target);
    let path = directory.join(name);
    fs::create_dir_all(&directory)
        .and_then(|()| fs::write(&path, input))
        .expect("target/ can be written");
    path
}
