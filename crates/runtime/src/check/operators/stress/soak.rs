//! Repetitions of stress cases for a time: the same bits each time, with two streams at once.

use super::super::super::run::Failures;
use std::time::{Duration, Instant};
use testgen_operators::cases::{ResultDigests, Stress, StressCase};

/// Bytes of a case that is repeated.
// Many repetitions show more than a few large ones.
const LARGEST: u64 = 1 << 30;

/// The cases that are repeated.
pub(super) struct Soaked {
    time: Option<Duration>,
    cases: Vec<(StressCase, ResultDigests, String)>,
    repetitions: usize,
    taken: Duration,
}

impl Soaked {
    /// Repetitions for `time`, or `None` without it.
    pub(super) fn new(time: Option<Duration>) -> Self {
        Self {
            time,
            cases: Vec::new(),
            repetitions: 0,
            taken: Duration::ZERO,
        }
    }

    /// Adds a case with the bits of its first run.
    pub(super) fn add(&mut self, case: StressCase, bits: ResultDigests, name: String) {
        if self.time.is_some() && case.bytes() <= LARGEST {
            self.cases.push((case, bits, name));
        }
    }

    /// Repeats all cases in turn until the time is over; ends at the first failure.
    pub(super) fn repeat(&mut self, stress: &Stress<'_>, failures: &mut Failures) {
        let Some(time) = self.time.filter(|_| !self.cases.is_empty()) else {
            return;
        };
        let started = Instant::now();
        for (case, bits, name) in self.cases.iter().cycle() {
            if started.elapsed() >= time {
                break;
            }
            self.repetitions += 1;
            // Against the digests of the first run, which was compared with the reference.
            if let Some(problem) = stress.at_once(case, bits) {
                failures.push(format!(
                    "{name}, repetition {}: {problem}",
                    self.repetitions
                ));
                break;
            }
        }
        self.taken = started.elapsed();
    }

    /// The number of repetitions and their time, or `None` if nothing is to be repeated.
    pub(super) fn description(&self) -> Option<String> {
        let streams = 2 * self.repetitions;
        self.time.map(|_| {
            format!(
                "{streams} repetitions of {} cases in {:.0} s",
                self.cases.len(),
                self.taken.as_secs_f64()
            )
        })
    }
}
