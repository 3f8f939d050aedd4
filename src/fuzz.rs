//! Fuzzing of what the command line reads: mutated specs, settings, templates, reports and configurations.
//!
//! Owns: the loop, its seeds and its limits. Does not own: the mutations (`mutation`), and the functions that are fuzzed with their
//! properties (`target`, `property`).
//! Ordinary tests run a fixed number of executions with fixed seeds. `just fuzz` sets `TESTGEN_FUZZ_SECONDS`: each target then runs
//! for so long, with seeds that continue, and writes inputs with a new behaviour and inputs that fail below `target/fuzz/`.

mod inverse;
mod mutation;
mod property;
mod target;

use mutation::Mutator;
use std::{
    collections::BTreeSet,
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

/// The longest time of one execution; one that takes longer is a finding.
const SLOW: Duration = Duration::from_secs(10);

/// A function that is fuzzed.
struct Target {
    name: &'static str,
    /// Files of this repository that are mutated, in addition to `tests/fuzz/<name>/`: a directory and an extension.
    seeds: Option<(&'static str, &'static str)>,
    /// Words of the format.
    dictionary: &'static [&'static str],
    /// Executions as an ordinary test; a few seconds without optimisation.
    executions: u64,
    /// Panics when a property does not hold. Returns a description of the behaviour: inputs with a new one are mutated further.
    check: fn(&str) -> String,
}

/// The result of fuzzing a target.
struct Outcome {
    executions: u64,
    behaviours: usize,
}

impl Target {
    /// Executes all seeds, then mutations of them, and prints the number of executions.
    fn run(&self) -> Outcome {
        let mut corpus = self.corpus();
        let seconds = env::var("TESTGEN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
        let (begun, limit) = (Instant::now(), seconds.map(Duration::from_secs));
        let mut behaviours = BTreeSet::new();
        let current = Watch::start(self.name);
        for input in &corpus {
            behaviours.insert(self.execute(input, &current));
        }
        let mut executions = corpus.len() as u64;
        let mut mutator = Mutator::new(start_seed(limit.is_some()), self.dictionary);
        while limit.map_or(executions < self.executions, |limit| begun.elapsed() < limit) {
            let input = mutator.mutate(&corpus);
            executions += 1;
            if behaviours.insert(self.execute(&input, &current)) {
                if limit.is_some() {
                    keep(self.name, &format!("new-{}", behaviours.len()), &input);
                }
                corpus.push(input);
            }
        }
        current.stop();
        println!(
            "fuzz {}: {executions} executions, {} behaviours, {:.1} s",
            self.name,
            behaviours.len(),
            begun.elapsed().as_secs_f64()
        );
        Outcome { executions, behaviours: behaviours.len() }
    }

    /// The behaviour of one input. A panic fails the test, with the path of the input.
    fn execute(&self, input: &str, current: &Watch) -> String {
        current.set(input);
        let begun = Instant::now();
        let behaviour = catch_unwind(AssertUnwindSafe(|| (self.check)(input)));
        match behaviour {
            Ok(behaviour) if begun.elapsed() < SLOW => behaviour,
            failed => {
                let path = keep(self.name, "failed", input);
                let how = if failed.is_ok() { "took too long" } else { "failed" };
                panic!(
                    "{}: the input {} {how}; keep it in tests/fuzz/{}/ when it is fixed",
                    self.name,
                    path.display(),
                    self.name
                );
            }
        }
    }

    /// The seeds in the order of their names.
    fn corpus(&self) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = files(&root.join("tests/fuzz").join(self.name));
        if let Some((directory, extension)) = self.seeds {
            let is_seed = |path: &PathBuf| path.extension().is_some_and(|kind| kind == extension);
            files.extend(self::files(&root.join(directory)).into_iter().filter(is_seed));
        }
        let texts = files.into_iter().map(|path| fs::read(path).expect("a seed can be read"));
        let corpus: Vec<String> = texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
        assert!(corpus.len() > 3, "{} has no seeds", self.name);
        corpus
    }
}

/// The files in a directory and in those directly in it, in the order of their names.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(directory).max_depth(2).sort_by_file_name();
    let files = entries.into_iter().filter_map(Result::ok).filter(|entry| entry.file_type().is_file());
    files.map(walkdir::DirEntry::into_path).collect()
}

/// Fixed for ordinary tests; the time for `just fuzz`, so that each run continues with other inputs.
fn start_seed(long: bool) -> u64 {
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    if long { now() } else { 19 }
}

/// Writes an input below `target/fuzz/`.
fn keep(target: &str, name: &str, input: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz").join(target);
    let path = directory.join(name);
    fs::create_dir_all(&directory).and_then(|()| fs::write(&path, input)).expect("target/ can be written");
    path
}

/// Ends the process when an execution does not end, because a thread cannot be ended from outside.
struct Watch {
    current: Arc<Mutex<Option<(Instant, String)>>>,
}

impl Watch {
    fn start(target: &'static str) -> Self {
        let current: Arc<Mutex<Option<(Instant, String)>>> = Arc::default();
        let watched = Arc::downgrade(&current);
        thread::spawn(move || {
            while let Some(current) = watched.upgrade() {
                let late = current.lock().expect("no thread panics with it").clone();
                if let Some((_, input)) = late.filter(|(begun, _)| begun.elapsed() > SLOW * 6) {
                    let path = keep(target, "endless", &input);
                    eprintln!("{target}: the input {} does not end", path.display());
                    std::process::abort();
                }
                drop(current);
                thread::sleep(Duration::from_secs(1));
            }
        });
        Self { current }
    }

    fn set(&self, input: &str) {
        *self.current.lock().expect("no thread panics with it") = Some((Instant::now(), input.to_owned()));
    }

    fn stop(&self) {
        *self.current.lock().expect("no thread panics with it") = None;
    }
}
