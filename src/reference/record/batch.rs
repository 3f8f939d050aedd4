//! Recording several checkpoints: as many processes at once as there are processors and memory, and
//! how far they are.
//!
//! Every recorder computes with one thread, alone or beside others, so that its file has the same
//! bytes.

mod memory;
mod state;
mod target;

use super::{
    event::{Content, Event},
    options::RecordOptions,
    process::Recorder,
    synthetic::{record_stored, record_synthetic},
};
use crate::reference::python_program::PythonError;
use memory::{RecorderMemory, needed};
use state::{BatchState, RecorderStep};
use std::{
    collections::VecDeque,
    num::NonZero,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};
pub use target::RecordTarget;
use testgen_base::{child_process, progress::RunProgress};

/// The interval between two looks at the clock while no recorder reports.
const TICK: Duration = Duration::from_millis(200);

/// Records all targets, `jobs` at a time, by default as many as there are processors. The results
/// are in the order of the targets. Messages of the recorders go to stderr; if there are several
/// targets, with their names.
///
/// # Errors
///
/// When the recorder's files cannot be written.
pub fn record_all(
    targets: &[RecordTarget],
    options: &RecordOptions,
    jobs: Option<NonZero<usize>>,
    progress: &mut RunProgress,
) -> Result<Vec<Result<PathBuf, PythonError>>, PythonError> {
    let recorder = Recorder::new(options)?;
    child_process::watch_interrupts();
    let jobs = jobs
        .or_else(|| thread::available_parallelism().ok())
        .map_or(1, NonZero::get)
        .min(targets.len());
    let queue = Mutex::new((0..targets.len()).collect::<VecDeque<_>>());
    // Measured once: what recorders take later is counted, and would be subtracted twice.
    let memory = RecorderMemory::available();
    let (sender, events) = mpsc::channel();
    Ok(thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, recorder, memory) = (sender.clone(), &recorder, &memory);
            let queue = &queue;
            scope.spawn(move || {
                while let Some(target) = next(queue) {
                    let send = |content| {
                        // The receiver lives until every sender is gone.
                        let _ = sender.send(Event { target, content });
                    };
                    // An error of one target does not stop the others: each is a result.
                    let result = record(recorder, memory, &targets[target], &send);
                    send(Content::Ended(result));
                }
            });
        }
        // The last sender must be gone with the last recorder, or `watch` would never end.
        drop(sender);
        watch(targets, &events, progress)
    }))
}

/// The next target.
fn next(queue: &Mutex<VecDeque<usize>>) -> Option<usize> {
    // In a function, so that the lock is released before the target is recorded.
    queue
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop_front()
}

/// Records one target when its memory is free.
fn record(
    recorder: &Recorder<'_>,
    memory: &RecorderMemory,
    target: &RecordTarget,
    send: &(impl Fn(Content) + Sync),
) -> Result<PathBuf, PythonError> {
    let record = |directory: &Path, send: &(dyn Fn(Content) + Sync)| {
        memory.with(needed(directory), || recorder.record(directory, &send))
    };
    match &target.synthetic {
        None => record_stored(recorder, &target.checkpoint, send, record),
        Some(weights) => record_synthetic(recorder, weights, &target.checkpoint, send, record),
    }
}

/// Shows events until every recorder has ended.
fn watch(
    targets: &[RecordTarget],
    events: &mpsc::Receiver<Event>,
    progress: &mut RunProgress,
) -> Vec<Result<PathBuf, PythonError>> {
    let mut state = BatchState {
        targets,
        steps: vec![None; targets.len()],
        ended: 0,
    };
    let mut results: Vec<Option<Result<PathBuf, PythonError>>> =
        targets.iter().map(|_| None).collect();
    progress.begin();
    loop {
        match events.recv_timeout(TICK) {
            Ok(Event {
                target,
                content: Content::Message(line),
            }) => progress.message(&state.named(target, &line)),
            Ok(Event {
                target,
                content: Content::Step { step, done, of },
            }) => {
                state.steps[target] = Some(RecorderStep { step, done, of });
            }
            Ok(Event {
                target,
                content: Content::Ended(result),
            }) => {
                state.steps[target] = None;
                state.ended += 1;
                if result.is_ok() && targets.len() > 1 {
                    progress.recorded(&format!(
                        "{}/{} {}",
                        state.ended,
                        targets.len(),
                        targets[target].name
                    ));
                }
                results[target] = Some(result);
            }
            // Only so that the time that is shown goes on.
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        progress.recording(&state.done(), &state.running(), state.share());
    }
    progress.clear();
    // Nothing is left out: the channel closes after the last recorder has sent its `Ended`.
    results.into_iter().flatten().collect()
}
