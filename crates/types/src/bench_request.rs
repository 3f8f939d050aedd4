//! The request of `testgen bench` to a suite: the subjects, and how often what is timed.

use crate::{precision::Precision, timed_calls::timed_calls};
use serde::{Deserialize, Serialize};

/// How often a timed call is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetitions {
    /// Calls before the timed ones.
    pub warmup: u32,
    /// Timed calls.
    pub iterations: u32,
}

impl Repetitions {
    /// The times of the timed calls, of `call`, which returns the time of one.
    ///
    /// # Errors
    ///
    /// The first error of a call.
    pub fn measure<T, E>(self, mut call: impl FnMut() -> Result<T, E>) -> Result<Vec<T>, E> {
        for _ in 0..self.warmup {
            call()?;
        }
        timed_calls(|| (0..self.iterations).map(|_| call()).collect())
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
    use super::Repetitions;
    use crate::timed_calls::with_timed_ends;
    use std::{cell::Cell, rc::Rc};

    #[test]
    fn calls_of_the_warm_up_are_not_counted() {
        let repetitions = Repetitions {
            warmup: 2,
            iterations: 3,
        };
        let mut calls = 0;
        let times = repetitions.measure(|| {
            calls += 1;
            Ok::<_, ()>(calls)
        });
        assert_eq!((times, calls), (Ok(vec![3, 4, 5]), 5));
        assert_eq!(repetitions.measure(|| Err::<(), _>("fails")), Err("fails"));
    }

    #[test]
    fn the_ends_of_timed_calls_are_after_the_warm_up_and_after_the_last_call() {
        let repetitions = Repetitions {
            warmup: 2,
            iterations: 3,
        };
        let calls = Rc::new(Cell::new(0));
        let ends = Rc::new(Cell::new([None; 2]));
        let (counted, seen) = (Rc::clone(&calls), Rc::clone(&ends));
        let times = with_timed_ends(
            move |_| seen.set([seen.get()[1], Some(counted.get())]),
            || {
                repetitions.measure(|| {
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
