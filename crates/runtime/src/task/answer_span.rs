//! The best span of tokens, from a score for each first and each last token.

use super::scores::softmax;

/// The most tokens of an answer.
// `max_answer_len` of transformers' pipelines.
const LONGEST_ANSWER: usize = 15;

/// The scores of the first and of the last token of an answer.
pub(super) struct SpanLogits<'a> {
    /// For every token of the row.
    pub(super) starts: &'a [f32],
    /// As `starts`.
    pub(super) ends: &'a [f32],
}

/// A span of tokens.
#[derive(Debug, PartialEq)]
pub(super) struct AnswerSpan {
    /// The first token of the row that belongs to it.
    pub(super) first: usize,
    /// The last token.
    pub(super) last: usize,
    /// The product of both probabilities.
    pub(super) score: f32,
}

impl SpanLogits<'_> {
    /// The best span among `tokens`, the first of equals. `others` compete for the probability, and
    /// are in no span.
    pub(super) fn best(&self, tokens: &[usize], others: &[usize]) -> Option<AnswerSpan> {
        let [starts, ends] =
            [self.starts, self.ends].map(|logits| probabilities(logits, tokens, others));
        let mut best: Option<AnswerSpan> = None;
        for (first, start) in starts.iter().enumerate() {
            // The limit is the default of `max_answer_len` in transformers' pipeline.
            for (last, end) in ends.iter().enumerate().skip(first).take(LONGEST_ANSWER) {
                let score = start * end;
                if best.as_ref().is_none_or(|best| score > best.score) {
                    let [first, last] = [tokens[first], tokens[last]];
                    best = Some(AnswerSpan { first, last, score });
                }
            }
        }
        best
    }
}

/// The probabilities of `tokens` among them and `others`.
fn probabilities(logits: &[f32], tokens: &[usize], others: &[usize]) -> Vec<f32> {
    let all = tokens.iter().chain(others).map(|token| logits[*token]);
    let mut found = softmax(&all.collect::<Vec<f32>>());
    found.truncate(tokens.len());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_take_probability_and_are_in_no_span() {
        let logits = SpanLogits {
            starts: &[0.0; 3],
            ends: &[0.0; 3],
        };
        let span = |score| {
            Some(AnswerSpan {
                first: 1,
                last: 1,
                score,
            })
        };
        assert_eq!(logits.best(&[1, 2], &[]), span(0.25));
        let third = 1.0_f32 / 3.0;
        assert_eq!(logits.best(&[1, 2], &[0]), span(third * third));
        assert_eq!(logits.best(&[], &[0]), None);
    }

    #[test]
    fn a_span_is_in_order_and_not_too_long() {
        let mut starts = [0.0; 17];
        let mut ends = [0.0; 17];
        (starts[0], starts[4], ends[16], ends[3]) = (9.0, 8.0, 9.0, 5.0);
        let tokens: Vec<usize> = (0..17).collect();
        let [starts, ends] = [&starts, &ends];
        let best = SpanLogits { starts, ends }.best(&tokens, &[]);
        assert_eq!(best.map(|best| (best.first, best.last)), Some((4, 16)));
    }
}
