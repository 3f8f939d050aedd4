//! The comparison of one answer: thresholds, collected scores and failures.

use super::candidates::{HandlerChoice, Numbers};
use crate::{
    check::run::{Abort, CheckRun, Failures},
    tolerance::{DerivedThreshold, Tolerance},
};
use testgen_nn::array::Array;

/// The comparison of one answer.
pub(super) struct AnswerComparison<'r, 'a, 'n> {
    run: &'r mut CheckRun<'a>,
    pub(super) tolerance: Tolerance<'n>,
    pub(super) failures: Failures,
    pub(super) scores: Numbers,
}

impl<'r, 'a, 'n> AnswerComparison<'r, 'a, 'n> {
    pub(super) fn new(run: &'r mut CheckRun<'a>, tolerance: Tolerance<'n>) -> Self {
        Self {
            run,
            tolerance,
            failures: Failures::default(),
            scores: Numbers::default(),
        }
    }

    /// Compares the scores that were collected, and reports all failures.
    pub(super) fn conclude(mut self) -> Result<(), Abort> {
        let Numbers { expected, got } = std::mem::take(&mut self.scores);
        // An empty tensor equals another one, so that a report would show scores that were never
        // compared.
        if !expected.is_empty() {
            self.numbers("scores", expected, got);
        }
        self.failures.conclude()
    }

    /// Keeps a failure from being excused by the reference, whose answer the same handler
    /// computes.
    pub(super) fn mark_different(&mut self) {
        self.run.evidence.differs_from_golden = true;
    }

    pub(super) fn numbers(&mut self, name: &str, expected: Vec<f32>, got: Vec<f32>) {
        let threshold = self.tolerance.golden(name);
        let [expected, got] = [expected, got].map(|values| Array::floats([values.len()], values));
        // The prefix separates answers from outputs of the model with the same name.
        let failure = self
            .run
            .compare(&format!("answer.{name}"), &expected, &got, threshold);
        self.failures.extend(failure);
    }

    /// Compares numbers between 0 and 1, computed from scores.
    pub(super) fn probabilities(&mut self, threshold: DerivedThreshold, numbers: Numbers) {
        let Numbers { expected, got } = numbers;
        let [expected, got] = [expected, got].map(|values| Array::floats([values.len()], values));
        let name = "answer.probabilities";
        let failure = self
            .run
            .compare_probabilities(name, &expected, &got, threshold);
        self.failures.extend(failure);
    }

    /// Whether both have one entry for each input; a failure otherwise.
    pub(super) fn same_count(&mut self, what: &str, expected: usize, got: usize) -> bool {
        if expected != got {
            self.failures
                .push(format!("{got} {what} instead of {expected}"));
        }
        expected == got
    }

    /// The error that the threshold of `name` allows for one number.
    pub(super) fn allowed(&self, name: &str, recorded: impl Iterator<Item = f32>) -> f32 {
        let largest = recorded.fold(0.0_f32, |largest, value| largest.max(value.abs()));
        // A threshold is relative to the largest number, as `measure` divides by it.
        (self.tolerance.golden(name).max_rel * f64::from(largest)) as f32
    }

    /// Adds a choice with its scores.
    pub(super) fn choose<K: Clone + PartialEq + std::fmt::Debug>(
        &mut self,
        choice: &HandlerChoice<K>,
    ) {
        self.failures.extend(choice.evaluate(&mut self.scores));
    }
}
