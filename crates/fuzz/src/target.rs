//! A function that is fuzzed, and the loop that does it.

use crate::{
    directories::corpus,
    mutation::{Mutator, Random},
    seeds::seeds,
    watch::{SLOW, Watch, keep},
};
use std::{
    collections::HashSet,
    env,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// The most inputs that are mutated.
// Each of them is a file of a long run.
const LARGEST_CORPUS: usize = 5000;

/// The number of executions after which a long run prints how many there were.
const SHOWN: u64 = 50_000;

/// The variable that makes a long run of an ordinary test.
const SECONDS: &str = "TESTGEN_FUZZ_SECONDS";

/// A function that is fuzzed.
pub struct Target<'a> {
    /// Its name. Its kept inputs are in `tests/fuzz/<name>/`.
    pub name: &'static str,
    /// Inputs in addition to the kept ones.
    pub seeds: Vec<Vec<u8>>,
    /// Words of the format.
    pub dictionary: &'static [&'static str],
    /// Corrects lengths and checksums after a mutation, in most cases.
    pub repair: Option<fn(&mut Vec<u8>, &mut Random)>,
    /// Executions as an ordinary test; a few seconds without optimisation.
    pub executions: u64,
    /// The fewest behaviours that an ordinary test reaches: with fewer, nothing would be tested.
    pub behaviours: usize,
    /// Panics when a property does not hold. Returns a description of the behaviour: inputs with a
    /// new one are mutated further.
    pub check: &'a dyn Fn(&[u8]) -> String,
}

impl Target<'_> {
    /// Executes all seeds, then mutations of them, and prints the number of executions.
    ///
    /// # Panics
    ///
    /// When a property does not hold for an input, or one takes more than a minute; the message has
    /// the path of the input.
    pub fn run(&self) {
        let mut corpus = self.corpus();
        let limit = seconds();
        let begun = Instant::now();
        let mut behaviours = HashSet::new();
        let mut current = Watch::start(self.name, limit.is_some());
        for input in &corpus {
            behaviours.insert(self.execute(input, &mut current));
        }
        let mut executions = corpus.len() as u64;
        let mut mutator = Mutator::new(start_seed(limit.is_some()), self.dictionary, self.repair);
        while limit.map_or(executions < self.executions, |limit| {
            begun.elapsed() < limit
        }) {
            let input = mutator.mutate(&corpus);
            executions += 1;
            // A run that is ended early, or by a finding, has been counted as well.
            if executions.is_multiple_of(SHOWN) {
                println!("fuzz {}: {executions} executions so far", self.name);
            }
            if behaviours.insert(self.execute(&input, &mut current))
                && corpus.len() < LARGEST_CORPUS
            {
                if limit.is_some() {
                    keep(self.name, &format!("new-{}", behaviours.len()), &input);
                }
                corpus.push(input);
            }
        }
        current.stop();
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "fuzz {}: {executions} executions, {} behaviours, {seconds:.1} s",
            self.name,
            behaviours.len()
        );
        assert!(
            behaviours.len() >= self.behaviours,
            "{}: {} behaviours",
            self.name,
            behaviours.len()
        );
    }

    /// The hash of the behaviour of one input. A panic fails the test, with the path of the input.
    fn execute(&self, input: &[u8], current: &mut Watch) -> u64 {
        current.set(input);
        let mut begun = Instant::now();
        let mut behaviour = catch_unwind(AssertUnwindSafe(|| (self.check)(input)));
        if begun.elapsed() >= SLOW {
            // Again: the machine may have been paused.
            begun = Instant::now();
            behaviour = catch_unwind(AssertUnwindSafe(|| (self.check)(input)));
        }
        match behaviour {
            Ok(behaviour) if begun.elapsed() < SLOW => {
                // Descriptions of hours would not fit into memory, hashes do. Each new
                // `RandomState` has other keys: every behaviour would be new.
                BuildHasherDefault::<DefaultHasher>::default().hash_one(behaviour)
            }
            failed => {
                let path = keep(self.name, "failed", input);
                let how = if failed.is_ok() {
                    "took too long"
                } else {
                    "failed"
                };
                panic!(
                    "{}: the input {} {how}; keep it in tests/fuzz/{}/ when it is fixed",
                    self.name,
                    path.display(),
                    self.name
                );
            }
        }
    }

    /// The kept inputs in the order of their names, then the seeds.
    fn corpus(&self) -> Vec<Vec<u8>> {
        let mut inputs = seeds(&corpus(self.name), None);
        inputs.extend(self.seeds.iter().cloned());
        // A folder that was moved yields no files and no error, and mutations of nearly nothing
        // fail at the first check of a reader.
        assert!(inputs.len() > 3, "{} has no seeds", self.name);
        inputs
    }
}

/// The time of a long run.
fn seconds() -> Option<Duration> {
    let text = env::var_os(SECONDS)?;
    Some(duration(&text.to_string_lossy()))
}

fn duration(seconds: &str) -> Duration {
    match seconds.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        // Not a short run, which would be green after seconds instead of hours.
        Err(_) => panic!("{SECONDS} is `{seconds}`, not a number of seconds; set it to one, as 60"),
    }
}

/// Fixed for ordinary tests; the time for `just fuzz`.
fn start_seed(long: bool) -> u64 {
    // By the time, so that each long run continues with other inputs.
    if long {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_secs())
    } else {
        19
    }
}

#[cfg(test)]
mod tests {
    use super::Target;
    use std::{
        cell::Cell,
        panic::{AssertUnwindSafe, catch_unwind},
    };

    fn target<'a>(name: &'static str, check: &'a dyn Fn(&[u8]) -> String) -> Target<'a> {
        let seeds = ["a", "b", "c", "dd"]
            .map(|seed| seed.as_bytes().to_vec())
            .to_vec();
        Target {
            name,
            seeds,
            dictionary: &["word"],
            repair: None,
            executions: 500,
            behaviours: 2,
            check,
        }
    }

    #[test]
    fn executions_are_counted_and_reach_new_behaviours() {
        let count = Cell::new(0);
        let check = |input: &[u8]| {
            count.set(count.get() + 1);
            (input.len() / 10).min(5).to_string()
        };
        target("self_counted", &check).run();
        // In a long run, it is the time that is fixed.
        assert!(
            count.get() == 500 || super::seconds().is_some(),
            "{}",
            count.get()
        );
    }

    #[test]
    fn a_time_that_is_not_a_number_of_seconds_is_an_error() {
        assert_eq!(super::duration("60").as_secs(), 60);
        for wrong in ["60s", ""] {
            let message = catch_unwind(|| super::duration(wrong)).expect_err("it is refused");
            let message = message.downcast_ref::<String>().expect("a text");
            let expected = format!("TESTGEN_FUZZ_SECONDS is `{wrong}`, not a number of seconds");
            assert!(message.starts_with(&expected), "{message}");
        }
    }

    #[test]
    fn a_failure_and_an_idle_target_are_findings() {
        let fails = |input: &[u8]| {
            assert!(!input.windows(4).any(|part| part == b"word"), "found");
            String::new()
        };
        let message = catch_unwind(AssertUnwindSafe(|| target("self_failing", &fails).run()))
            .expect_err("it fails");
        let message = message.downcast_ref::<String>().expect("a text");
        assert!(
            message.contains("target/fuzz/self_failing/failed failed; keep it"),
            "{message}"
        );
        let idle = |_: &[u8]| String::new();
        assert!(catch_unwind(AssertUnwindSafe(|| target("self_idle", &idle).run())).is_err());
    }
}
