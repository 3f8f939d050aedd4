//! Recording several checkpoints: as many processes at once as there are processors and memory, and
//! how far they are.
//!
//! Every recorder computes with one thread, alone or beside others, so that its file has the same
//! bytes.

use super::{
    event::{Content, Event},
    options::RecordOptions,
    process::Recorder,
    synthetic::{SyntheticWeights, record_stored, record_synthetic},
};
use crate::reference::python_program::PythonError;
use std::{
    collections::VecDeque,
    fs,
    num::NonZero,
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};
use testgen_base::{child_process, progress::RunProgress};

/// The memory of a recorder for each byte of weights: a model in 16 bits, one in f32 and one in f64
/// at once, from a file in 16 bits.
const MEMORY_OF_A_BYTE: u64 = 9;
/// The memory of Python with torch and transformers.
const MEMORY_OF_PYTHON: u64 = 768 << 20;
/// The share of the available memory that recorders may take.
const USABLE: f64 = 0.8;
/// The interval between two looks at the clock while no recorder reports.
const TICK: Duration = Duration::from_millis(200);

/// A checkpoint to record.
#[derive(Debug, Clone)]
pub struct RecordTarget {
    /// Its name in messages, as the user wrote it.
    pub name: String,
    /// Its directory.
    pub checkpoint: PathBuf,
    /// The configuration and the seed of a synthetic one, whose directory has no weights.
    pub synthetic: Option<SyntheticWeights>,
}

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
    let memory = RecorderMemory::available();
    let (sender, events) = mpsc::channel();
    let next = || {
        queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    };
    Ok(thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, recorder, memory) = (sender.clone(), &recorder, &memory);
            scope.spawn(move || {
                while let Some(target) = next() {
                    let send = |content| {
                        // The receiver lives until every sender is gone.
                        let _ = sender.send(Event { target, content });
                    };
                    let result = record(recorder, memory, &targets[target], &send);
                    send(Content::Ended(result));
                }
            });
        }
        drop(sender);
        watch(targets, &events, progress)
    }))
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
    let mut state = State {
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
                state.steps[target] = Some(Step { step, done, of });
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
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        progress.recording(&state.text(), state.share());
    }
    progress.clear();
    results.into_iter().flatten().collect()
}

/// The step of a recorder.
#[derive(Debug, Clone)]
struct Step {
    step: String,
    done: u64,
    of: u64,
}

/// How far all recorders are.
struct State<'a> {
    targets: &'a [RecordTarget],
    steps: Vec<Option<Step>>,
    ended: usize,
}

impl State<'_> {
    /// `2/40, bert: noise 3/24, llama: config 12/64`.
    fn text(&self) -> String {
        let running = self
            .steps
            .iter()
            .zip(self.targets)
            .filter_map(|(found, target)| {
                let found = found.as_ref()?;
                Some(format!("{}: {}", target.name, found.text()))
            });
        let done = format!("{}/{}", self.ended, self.targets.len());
        [done]
            .into_iter()
            .chain(running)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The share of the work that is done, from 0 to 1.
    fn share(&self) -> f64 {
        let running: f64 = self.steps.iter().flatten().map(Step::share).sum();
        (self.ended as f64 + running) / self.targets.len().max(1) as f64
    }

    /// A line with the name of its checkpoint, if there are several.
    fn named(&self, target: usize, line: &str) -> String {
        if self.targets.len() == 1 {
            line.to_owned()
        } else {
            format!("{}: {line}", self.targets[target].name)
        }
    }
}

/// The steps with the share of a recording's time that precedes each, and the share that it takes.
const STEPS: [(&str, f64, f64); 4] = [
    ("inputs", 0.0, 0.1),
    ("noise", 0.1, 0.35),
    ("config", 0.45, 0.5),
    ("answers", 0.95, 0.05),
];

impl Step {
    /// `noise 3/24`; a step without parts has no count.
    fn text(&self) -> String {
        match self.of {
            0 => self.step.clone(),
            of => format!("{} {}/{of}", self.step, self.done),
        }
    }

    fn share(&self) -> f64 {
        let (_, before, own) = STEPS
            .into_iter()
            .find(|(name, ..)| *name == self.step)
            .unwrap_or_default();
        before + own * self.done as f64 / self.of.max(1) as f64
    }
}

/// The memory that recorders share.
struct RecorderMemory {
    limit: u64,
    used: Mutex<u64>,
    released: Condvar,
}

impl RecorderMemory {
    /// The memory that is available now; without a limit where there is no `/proc`.
    fn available() -> Self {
        let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("MemAvailable:"));
        let kibibytes =
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        let limit = kibibytes.map_or(u64::MAX, |kibibytes| {
            (kibibytes as f64 * 1024.0 * USABLE) as u64
        });
        Self {
            limit,
            used: Mutex::new(0),
            released: Condvar::new(),
        }
    }

    /// Runs `work` when `bytes` are free, or alone if they never are.
    fn with<T>(&self, bytes: u64, work: impl FnOnce() -> T) -> T {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mut used = self
            .released
            .wait_while(used, |used: &mut u64| {
                *used > 0 && used.saturating_add(bytes) > self.limit
            })
            .unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_add(bytes);
        drop(used);
        let result = work();
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_sub(bytes);
        drop(used);
        self.released.notify_all();
        result
    }
}

/// The memory that recording a checkpoint takes, in bytes.
fn needed(checkpoint: &Path) -> u64 {
    let files = fs::read_dir(checkpoint).into_iter().flatten().flatten();
    let weights = files.filter(|file| {
        file.path()
            .extension()
            .is_some_and(|extension| extension == "safetensors")
    });
    let bytes: u64 = weights
        .filter_map(|file| Some(file.metadata().ok()?.len()))
        .sum();
    MEMORY_OF_PYTHON.saturating_add(bytes.saturating_mul(MEMORY_OF_A_BYTE))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    fn targets(names: &[&str]) -> Vec<RecordTarget> {
        names
            .iter()
            .map(|name| RecordTarget {
                name: (*name).to_owned(),
                checkpoint: PathBuf::new(),
                synthetic: None,
            })
            .collect()
    }

    #[test]
    fn progress_names_the_models_that_are_recorded_and_their_steps() {
        let targets = targets(&["bert", "llama", "gpt2", "t5"]);
        let step = |step: &str, done, of| {
            Some(Step {
                step: step.to_owned(),
                done,
                of,
            })
        };
        let state = State {
            targets: &targets,
            steps: vec![None, step("noise", 6, 24), step("inputs", 0, 0), None],
            ended: 1,
        };
        assert_eq!(state.text(), "1/4, llama: noise 6/24, gpt2: inputs");
        assert!(
            (state.share() - (1.0 + 0.1 + 0.35 / 4.0) / 4.0).abs() < 1e-9,
            "{}",
            state.share()
        );
        assert_eq!(state.named(1, "note"), "llama: note");
    }

    #[test]
    fn recorders_that_do_not_fit_together_run_one_after_another() {
        let memory = RecorderMemory {
            limit: 10,
            used: Mutex::new(0),
            released: Condvar::new(),
        };
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
            thread::sleep(Duration::from_millis(20));
            running.fetch_sub(1, SeqCst);
        };
        // The largest does not fit at all, and runs alone.
        thread::scope(|scope| {
            for bytes in [6, 6, 6, 40] {
                let memory = &memory;
                scope.spawn(move || memory.with(bytes, work));
            }
        });
        assert_eq!((most.load(SeqCst), *memory.used.lock().unwrap()), (1, 0));
    }
}
