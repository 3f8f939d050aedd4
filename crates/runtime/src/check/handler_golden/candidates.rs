//! Candidates with scores, and a choice among them. Pure: knows neither the model nor the report.

use std::fmt::Debug;

/// Something that may be chosen.
#[derive(Debug, Clone)]
pub(super) struct AnswerCandidate<K> {
    pub(super) key: K,
    pub(super) score: f32,
}

/// Candidates that a handler chose.
pub(super) struct HandlerChoice<K> {
    /// Names the choice in messages.
    pub(super) what: String,
    /// The error that is allowed for a score.
    pub(super) allowed: f32,
    /// More candidates than are chosen, best first.
    pub(super) recorded: Vec<AnswerCandidate<K>>,
    /// The chosen ones, best first.
    pub(super) got: Vec<AnswerCandidate<K>>,
}

impl<K: Clone + PartialEq + Debug> HandlerChoice<K> {
    /// Adds the scores of the chosen candidates with the recorded ones, and returns what is wrong.
    pub(super) fn evaluate(&self, scores: &mut Numbers) -> Vec<String> {
        let Self {
            what,
            recorded,
            got,
            ..
        } = self;
        // The scores must descend, and each is compared with the recorded one, so another order
        // passes only if the scores are equal within their threshold.
        let mut left = recorded.clone();
        let mut failures = Vec::new();
        for candidate in got {
            match left.iter().position(|known| known.key == candidate.key) {
                // Removed, so that a candidate which is chosen twice is missing the second time.
                Some(index) => scores.push(left.remove(index).score, candidate.score),
                None => failures.push(format!(
                    "{what}: {:?} is not among the recorded candidates",
                    candidate.key
                )),
            }
        }
        if !got.is_sorted_by(|one, next| one.score >= next.score) {
            failures.push(format!("{what}: the best is not first: {got:?}"));
        }
        failures.extend(self.missed(&left));
        failures
    }

    /// The best candidate that was not chosen, although its score is above the last chosen one's.
    fn missed(&self, left: &[AnswerCandidate<K>]) -> Option<String> {
        let Some(last) = self.got.last() else {
            return Some(format!("{}: nothing was chosen", self.what));
        };
        let recorded = self.recorded.iter().find(|known| known.key == last.key)?;
        // Twice, because both scores can be off by the allowed error, in opposite directions.
        let missed = left
            .iter()
            .find(|candidate| candidate.score - recorded.score > 2.0 * self.allowed)?;
        Some(format!(
            "{}: expected {:?} instead of {:?}",
            self.what, missed.key, last.key
        ))
    }
}

/// Numbers of an answer with the recorded ones, compared together: one of them alone may be near
/// zero by chance.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) expected: Vec<f32>,
    pub(super) got: Vec<f32>,
}

impl Numbers {
    pub(super) fn push(&mut self, expected: f32, got: f32) {
        self.expected.push(expected);
        self.got.push(got);
    }
}

#[cfg(test)]
mod tests;
