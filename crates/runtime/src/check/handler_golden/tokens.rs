//! Generated tokens, tokens of frames, and generated answers with their passages.
//!
//! A token may be another one only if the recorded margin between the two best is below the error
//! that the threshold allows for a logit. The tokens after it depend on it, so the comparison of
//! the row ends there.

use super::{
    candidates::{AnswerCandidate, HandlerChoice, Numbers},
    comparison::AnswerComparison,
};
use crate::{
    check::run::{Abort, CheckResult},
    recorded_answer::{Retrieved, Tokens},
    task::{GeneratedText, RetrievedAnswer, Transcription},
};

/// The logits, in the noise of an answer.
const TOKENS: &str = "tokens";

/// The tokens and the text of one row.
#[derive(Clone, Copy)]
struct TokenRow<'a> {
    ids: &'a [i64],
    text: &'a str,
}

impl<'a> TokenRow<'a> {
    fn new(ids: &'a [i64], text: &'a str) -> Self {
        Self { ids, text }
    }
}

/// How many tokens were compared.
#[derive(Default)]
struct ComparedTokens {
    tokens: usize,
    of: usize,
}

impl AnswerComparison<'_, '_, '_> {
    /// The new tokens of each prompt.
    pub(super) fn generated(&mut self, expected: &[Tokens], got: &[GeneratedText]) -> CheckResult {
        let got = got.iter().map(|row| TokenRow::new(&row.ids, &row.text));
        let compared = self.rows(expected.iter(), got);
        compared.summary(self.failures.is_empty())
    }

    /// The tokens that a decoder writes for each recording.
    pub(super) fn transcripts(
        &mut self,
        expected: &[Tokens],
        got: &[Transcription],
    ) -> CheckResult {
        let got = got.iter().map(|row| TokenRow::new(&row.ids, &row.text));
        let compared = self.rows(expected.iter(), got);
        compared.summary(self.failures.is_empty())
    }

    fn rows<'r>(
        &mut self,
        expected: impl ExactSizeIterator<Item = &'r Tokens>,
        got: impl ExactSizeIterator<Item = TokenRow<'r>>,
    ) -> ComparedTokens {
        self.same_count("rows of tokens", expected.len(), got.len());
        let mut compared = ComparedTokens::default();
        for (row, (expected, got)) in expected.zip(got).enumerate() {
            compared.of += expected.ids.len();
            compared.tokens += self.sequence(&format!("row {row}"), expected, got);
        }
        compared
    }

    /// Compares one row up to the first token that its margin excuses; returns the number of equal
    /// tokens before it.
    fn sequence(&mut self, what: &str, expected: &Tokens, got: TokenRow<'_>) -> usize {
        // Margins are recorded relative to the largest logit, like this error.
        let allowed = self.tolerance.golden(TOKENS).max_rel;
        let longest = expected.ids.len().max(got.ids.len());
        let differs = (0..longest).find(|step| expected.ids.get(*step) != got.ids.get(*step));
        let Some(step) = differs else {
            if expected.text != got.text {
                self.failures.push(format!(
                    "{what}: the text is {:?}, expected {:?}",
                    got.text, expected.text
                ));
            }
            return longest;
        };
        // Another end also differs at the end token, which has a margin.
        let margin = margin(expected, step);
        if margin > allowed {
            let [expected, got] = [expected.ids.get(step), got.ids.get(step)];
            self.failures.push(format!(
                "{what}, token {step}: expected {expected:?}, got {got:?}, although the margin {margin:.3e} is above the \
                 threshold {allowed:.3e}"
            ));
        }
        step
    }

    /// The likeliest token of each frame; frames do not depend on each other.
    pub(super) fn frames(&mut self, expected: &[Tokens], got: &[Transcription]) -> CheckResult {
        self.same_count("recordings", expected.len(), got.len());
        let allowed = self.tolerance.golden(TOKENS).max_rel;
        let mut compared = ComparedTokens::default();
        for (row, (expected, got)) in expected.iter().zip(got).enumerate() {
            compared.of += expected.ids.len();
            if !self.same_count(
                &format!("frames in recording {row}"),
                expected.ids.len(),
                got.ids.len(),
            ) {
                continue;
            }
            let mut equal = true;
            for (frame, (id, got)) in expected.ids.iter().zip(&got.ids).enumerate() {
                compared.tokens += usize::from(id == got);
                equal &= id == got;
                if id != got && margin(expected, frame) > allowed {
                    self.failures.push(format!(
                        "recording {row}, frame {frame}: expected token {id}, got {got}"
                    ));
                }
            }
            if equal && expected.text != got.text {
                self.failures.push(format!(
                    "recording {row}: the text is {:?}, expected {:?}",
                    got.text, expected.text
                ));
            }
        }
        compared.summary(self.failures.is_empty())
    }

    /// The passages of one question, whose scores may have the error `allowed`.
    fn passages(&mut self, row: usize, expected: &Retrieved, got: &RetrievedAnswer, allowed: f32) {
        let what = format!("passages of question {row}");
        self.same_count(&what, expected.passages.len(), got.passages.len());
        let recorded = expected.passages.iter().map(|one| AnswerCandidate {
            key: one.id,
            score: one.score,
        });
        let got = got.passages.iter().map(|one| AnswerCandidate {
            key: one.id,
            score: one.score,
        });
        self.choose(&HandlerChoice {
            what,
            allowed,
            recorded: recorded.collect(),
            got: got.collect(),
        });
    }

    /// Answers, and the passages with their scores.
    pub(super) fn retrieved(
        &mut self,
        expected: &[Retrieved],
        got: &[RetrievedAnswer],
    ) -> CheckResult {
        let largest = expected
            .iter()
            .flat_map(|row| &row.passages)
            .fold(0.0_f32, |most, one| most.max(one.score.abs()));
        let allowed = self.allowed(
            "scores",
            expected
                .iter()
                .flat_map(|row| &row.passages)
                .map(|passage| passage.score),
        );
        let mut shares = Numbers::default();
        for (row, (expected, got)) in expected.iter().zip(got).enumerate() {
            self.passages(row, expected, got, allowed);
            // By rank: two passages with equal scores may change places, and their probabilities
            // are equal.
            for (expected, got) in expected.passages.iter().zip(&got.passages) {
                shares.push(expected.probability, got.probability);
            }
        }
        let passages = shares.got.len();
        let threshold = self.tolerance.probabilities("scores", largest.into());
        self.probabilities(threshold, shares);
        let answers = got
            .iter()
            .map(|row| TokenRow::new(&row.answer.ids, &row.answer.text));
        // The passages are compared in any case, so no equal token is required.
        let ComparedTokens { tokens, of } =
            self.rows(expected.iter().map(|row| &row.answer), answers);
        Ok(Some(format!(
            "{passages} passages, {tokens} of {of} tokens equal, the others within their margin"
        )))
    }
}

/// The recorded margin of a token. Without one, no other token is excused.
fn margin(expected: &Tokens, step: usize) -> f64 {
    expected.margins.get(step).copied().unwrap_or(f64::INFINITY)
}

impl ComparedTokens {
    /// Tokens that are all within their margin prove nothing.
    fn summary(&self, green: bool) -> CheckResult {
        let Self { tokens, of } = self;
        if green && *tokens == 0 {
            let reason = "in this precision no recorded margin is above the threshold, and every row begins with another token";
            return Err(Abort::Skip(reason.to_owned()));
        }
        Ok(Some(format!(
            "{tokens} of {of} tokens equal, the others within their margin"
        )))
    }
}
