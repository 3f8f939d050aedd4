//! Labels, tokens for masks and spans: choices among candidates by their scores.

use super::{
    candidates::{AnswerCandidate, HandlerChoice},
    comparison::AnswerComparison,
};
use crate::{
    check::run::CheckResult,
    recorded_answer::{LabelCandidate, RecordedSpan, TokenCandidate, TokenLabels},
    task::{Answer, FilledMask, LabelScore, LabelledToken},
};

/// The candidates for each mask token.
// `top_k` of transformers' pipeline; not the handler's constant, which may be wrong.
const CANDIDATES: usize = 5;

impl AnswerComparison<'_, '_, '_> {
    /// Every label of each row.
    pub(super) fn labels(
        &mut self,
        expected: &[Vec<LabelCandidate>],
        got: &[Vec<LabelScore>],
    ) -> CheckResult {
        // A failure does not end the comparison: the rows that both have show more.
        self.same_count("rows of labels", expected.len(), got.len());
        let allowed = self.allowed("scores", expected.iter().flatten().map(|label| label.score));
        for (row, (expected, got)) in expected.iter().zip(got).enumerate() {
            let what = format!("row {row}");
            self.same_count(&format!("labels in {what}"), expected.len(), got.len());
            let got = got
                .iter()
                .map(|label| AnswerCandidate {
                    key: label.label.clone(),
                    score: label.score,
                })
                .collect();
            self.choose(&HandlerChoice {
                what,
                allowed,
                recorded: labels(expected),
                got,
            });
        }
        Ok(Some(format!("{} rows of labels", expected.len())))
    }

    /// The candidates for each mask token.
    pub(super) fn filled(
        &mut self,
        expected: &[Vec<Vec<TokenCandidate>>],
        got: &[Vec<Vec<FilledMask>>],
    ) -> CheckResult {
        self.same_count("texts", expected.len(), got.len());
        let allowed = self.allowed(
            "scores",
            expected.iter().flatten().flatten().map(|token| token.score),
        );
        for (row, (expected, got)) in expected.iter().zip(got).enumerate() {
            self.same_count(
                &format!("mask tokens in text {row}"),
                expected.len(),
                got.len(),
            );
            for (expected, got) in expected.iter().zip(got) {
                // More are recorded, unless the vocabulary is smaller.
                let count = expected.len().min(CANDIDATES);
                self.same_count(&format!("candidates in text {row}"), count, got.len());
                let recorded = expected.iter().map(|token| AnswerCandidate {
                    key: (token.id, token.text.trim()),
                    score: token.score,
                });
                let got = got.iter().map(|token| AnswerCandidate {
                    key: (token.id, token.text.trim()),
                    score: token.score,
                });
                let (recorded, got) = (recorded.collect(), got.collect());
                self.choose(&HandlerChoice {
                    what: format!("text {row}"),
                    allowed,
                    recorded,
                    got,
                });
            }
        }
        Ok(Some(format!("{} texts", expected.len())))
    }

    /// The place and the label of every token.
    pub(super) fn token_labels(
        &mut self,
        expected: &[Vec<TokenLabels>],
        got: &[Vec<LabelledToken>],
    ) -> CheckResult {
        self.same_count("texts", expected.len(), got.len());
        let allowed = self.allowed(
            "scores",
            expected
                .iter()
                .flatten()
                .flat_map(|token| &token.labels)
                .map(|label| label.score),
        );
        for (row, (expected, got)) in expected.iter().zip(got).enumerate() {
            self.same_count(&format!("tokens in text {row}"), expected.len(), got.len());
            for (index, (expected, got)) in expected.iter().zip(got).enumerate() {
                let what = format!("text {row}, token {index}");
                let [place, recorded] = [(got.start, got.end), (expected.start, expected.end)];
                if place != recorded {
                    self.failures.push(format!(
                        "{what}: its bytes are {place:?}, expected {recorded:?}"
                    ));
                }
                let got = vec![AnswerCandidate {
                    key: got.label.label.clone(),
                    score: got.label.score,
                }];
                self.choose(&HandlerChoice {
                    what,
                    allowed,
                    recorded: labels(&expected.labels),
                    got,
                });
            }
        }
        Ok(Some(format!(
            "{} tokens",
            expected.iter().map(Vec::len).sum::<usize>()
        )))
    }

    /// The best span of each context.
    pub(super) fn spans(&mut self, expected: &[Vec<RecordedSpan>], got: &[Answer]) -> CheckResult {
        self.same_count("answers", expected.len(), got.len());
        let allowed = self.allowed("scores", expected.iter().flatten().map(|span| span.score));
        for (row, (expected, got)) in expected.iter().zip(got).enumerate() {
            let recorded = expected.iter();
            let recorded = recorded.map(|span| AnswerCandidate {
                key: (span.start, span.end, span.text.clone()),
                score: span.score,
            });
            let got = vec![AnswerCandidate {
                // With the text, which the handler cuts out of the context: right offsets do not
                // prove it.
                key: (got.start, got.end, got.text.clone()),
                score: got.score,
            }];
            self.choose(&HandlerChoice {
                what: format!("question {row}"),
                allowed,
                recorded: recorded.collect(),
                got,
            });
        }
        Ok(Some(format!("{} answers", expected.len())))
    }
}

fn labels(recorded: &[LabelCandidate]) -> Vec<AnswerCandidate<String>> {
    recorded
        .iter()
        .map(|label| AnswerCandidate {
            key: label.label.clone(),
            score: label.score,
        })
        .collect()
}
