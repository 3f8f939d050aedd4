//! The request of `testgen bench` to a suite: the subjects, and how often what is timed.

use crate::{precision::Precision, timed_calls::timed_calls};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// How often a timed call is repeated: by number, and for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetitions {
    /// The fewest calls before the timed ones.
    pub warmup: u32,
    /// The fewest timed calls.
    pub iterations: u32,
    /// The milliseconds that must have passed before the warm-up ends, and again before the timed
    /// calls end; 0 for calls by number alone.
    #[serde(default)]
    pub min_time_ms: u32,
}

impl Repetitions {
    /// From so many times of a row on, the minimum time adds no calls, which limits the memory and
    /// the size of a report.
    pub const MOST_TIMES: usize = 10_000;

    /// So many calls without a warm-up.
    pub const fn exactly(iterations: u32) -> Self {
        Self {
            warmup: 0,
            iterations,
            min_time_ms: 0,
        }
    }

    /// The same numbers of calls without a minimum time.
    pub const fn by_number(self) -> Self {
        Self {
            min_time_ms: 0,
            ..self
        }
    }

    /// Whether there are calls before the timed ones.
    pub const fn has_warmup(self) -> bool {
        self.warmup > 0 || self.min_time_ms > 0
    }

    /// The fewest and the most timed calls.
    pub fn counts(self) -> [usize; 2] {
        let fewest = self.iterations as usize;
        let for_a_time = self.min_time_ms > 0;
        let most = if for_a_time { Self::MOST_TIMES } else { 0 };
        [fewest, fewest.max(most)]
    }

    /// The time for which the warm-up, and again the timed calls, go on at least.
    pub const fn min_time(self) -> Duration {
        Duration::from_millis(self.min_time_ms as u64)
    }

    /// The times of the timed calls, of `call`, which returns the time of one.
    ///
    /// # Errors
    ///
    /// The first error of a call.
    pub fn measure<T, E>(self, call: impl FnMut() -> Result<T, E>) -> Result<Vec<T>, E> {
        self.measure_counted(|_| 1, call)
    }

    /// The results of the timed calls, of `call`, each of which adds `times` times to a row.
    ///
    /// # Errors
    ///
    /// The first error of a call.
    pub fn measure_counted<T, E>(
        self,
        times: impl Fn(&T) -> usize,
        call: impl FnMut() -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        self.measure_with(Instant::now, times, call)
    }

    fn measure_with<T, E>(
        self,
        now: impl Fn() -> Instant,
        times: impl Fn(&T) -> usize,
        mut call: impl FnMut() -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        let mut repeat = |fewest: u32| -> Result<Vec<T>, E> {
            let (start, mut results, mut count) = (now(), Vec::new(), 0);
            while self.goes_on(fewest, [results.len(), count], now().duration_since(start)) {
                let result = call()?;
                count += times(&result);
                results.push(result);
            }
            Ok(results)
        };
        // Not timed: the first calls on a GPU compile kernels.
        repeat(self.warmup)?;
        timed_calls(|| repeat(self.iterations))
    }

    /// Whether another call follows after so many calls with so many times, which took `elapsed`.
    /// The number comes first, so that slow calls are not repeated for a time.
    fn goes_on(self, fewest: u32, [calls, times]: [usize; 2], elapsed: Duration) -> bool {
        calls < fewest as usize || (times < Self::MOST_TIMES && elapsed < self.min_time())
    }
}

/// The work of a suite that times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BenchRequest {
    /// The subjects: `<architecture>::<name>::<device>`.
    pub subjects: Vec<String>,
    /// Only these precisions; empty for the precisions of each spec.
    pub precisions: Vec<Precision>,
    /// The numbers of inputs that are computed together.
    pub batches: Vec<usize>,
    /// The tokens of each input; empty for 128, or as many as the model has positions for.
    pub tokens: Vec<usize>,
    /// The tokens that are generated one after another after a prompt.
    pub steps: u32,
    /// How often each is timed.
    pub repetitions: Repetitions,
}

impl BenchRequest {
    /// The variable of a suite that has the request as JSON.
    pub const VARIABLE: &str = "TESTGEN_BENCH";
}

#[cfg(test)]
mod tests {
    use super::{Duration, Instant, Repetitions};
    use crate::timed_calls::with_timed_ends;
    use std::{cell::Cell, rc::Rc};

    const BY_NUMBER: Repetitions = Repetitions {
        warmup: 2,
        iterations: 3,
        min_time_ms: 0,
    };

    #[test]
    fn calls_of_the_warm_up_are_not_counted() {
        let mut calls = 0;
        let times = BY_NUMBER.measure(|| {
            calls += 1;
            Ok::<_, ()>(calls)
        });
        assert_eq!((times, calls), (Ok(vec![3, 4, 5]), 5));
        assert_eq!(BY_NUMBER.measure(|| Err::<(), _>("fails")), Err("fails"));
    }

    /// The number of the first timed call, and the number of timed calls, if a call takes
    /// `milliseconds` and adds `times` times to a row.
    fn timed(repetitions: Repetitions, milliseconds: u64, times: usize) -> (usize, usize) {
        let (clock, calls) = (Cell::new(Instant::now()), Cell::new(0));
        let timed = repetitions.measure_with(
            || clock.get(),
            |_| times,
            || {
                clock.set(clock.get() + Duration::from_millis(milliseconds));
                Ok::<_, ()>(calls.replace(calls.get() + 1))
            },
        );
        let timed = timed.expect("no call fails");
        (timed[0], timed.len())
    }

    #[test]
    fn short_calls_are_repeated_for_the_minimum_time_and_slow_ones_by_number() {
        let for_a_time = Repetitions {
            min_time_ms: 300,
            ..BY_NUMBER
        };
        assert_eq!(timed(for_a_time, 10, 1), (30, 30));
        // The call that is computed when the time is over is the last one.
        assert_eq!(timed(for_a_time, 7, 1), (43, 43));
        // Two calls of the warm-up take less than the time, three timed calls do not.
        assert_eq!(timed(for_a_time, 100, 1), (3, 3));
        assert_eq!(timed(for_a_time, 4000, 1), (2, 3));
        assert_eq!(timed(for_a_time.by_number(), 10, 1), (2, 3));
        let without_numbers = Repetitions {
            min_time_ms: 300,
            ..Repetitions::exactly(0)
        };
        assert_eq!(timed(without_numbers, 10, 1), (30, 30));
    }

    #[test]
    fn the_minimum_time_adds_calls_up_to_a_limit_of_times() {
        let most = Repetitions::MOST_TIMES;
        let long = Repetitions {
            min_time_ms: u32::MAX,
            ..BY_NUMBER
        };
        assert_eq!(timed(long, 1, 1), (most, most));
        assert_eq!(timed(long, 1, 100), (most / 100, most / 100));
        // What is requested by number is measured.
        let many = Repetitions {
            iterations: 12_000,
            ..long
        };
        assert_eq!(timed(many, 1, 1), (most, 12_000));
    }

    #[test]
    fn reports_without_a_minimum_time_are_from_calls_by_number() {
        let earlier = serde_json::from_str(r#"{"warmup":2,"iterations":3}"#);
        assert_eq!(earlier.ok(), Some(BY_NUMBER));
    }

    #[test]
    fn the_ends_of_timed_calls_are_after_the_warm_up_and_after_the_last_call() {
        let calls = Rc::new(Cell::new(0));
        let ends = Rc::new(Cell::new([None; 2]));
        let (counted, seen) = (Rc::clone(&calls), Rc::clone(&ends));
        let times = with_timed_ends(
            move |_| seen.set([seen.get()[1], Some(counted.get())]),
            || {
                BY_NUMBER.measure(|| {
                    calls.set(calls.get() + 1);
                    Ok::<_, ()>(())
                })
            },
        );
        assert_eq!(
            (times.map(|it| it.len()), ends.get()),
            (Ok(3), [Some(2), Some(5)])
        );
    }
}
