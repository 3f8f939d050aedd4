//! The checkpoint's constraints on tokens, besides the constraints of the caller:
//! `LogitsProcessor`s of transformers that are the same for greedy search and for sampling.

use crate::{config_file::ConfigFile, error::PreprocessError};
use serde_json::Value;

/// The rules of one checkpoint, in the fields of its `generation_config.json`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TokenRules {
    /// No sequence of so many tokens twice; 0 allows all.
    no_repeat_ngram_size: usize,
    /// Sequences that must not be completed.
    bad_words: Vec<Vec<i64>>,
    /// The length, prompt included, before which no end token is taken.
    min_length: usize,
    forced_bos: Option<i64>,
    forced_eos: Vec<i64>,
    suppressed: Vec<i64>,
    suppressed_first: Vec<i64>,
}

/// The context of the next token of a row.
pub(super) struct TokenContext<'a> {
    /// The prompt and what was chosen since.
    pub(super) sequence: &'a [i64],
    /// How many of them were chosen.
    pub(super) added: usize,
    /// The least that must be, unless the last one is forced to be the end.
    pub(super) min_new_tokens: usize,
    /// The most that may be.
    pub(super) max_new_tokens: usize,
    pub(super) end: &'a [i64],
}

impl TokenRules {
    pub(super) fn read(file: &ConfigFile) -> Result<Self, PreprocessError> {
        Ok(Self {
            no_repeat_ngram_size: file.count("no_repeat_ngram_size")?.unwrap_or(0),
            bad_words: bad_words(file)?,
            min_length: file.count("min_length")?.unwrap_or(0),
            forced_bos: list("forced_bos_token_id", file)?.first().copied(),
            forced_eos: list("forced_eos_token_id", file)?,
            suppressed: list("suppress_tokens", file)?,
            suppressed_first: list("begin_suppress_tokens", file)?,
        })
    }

    /// Forbids in `scores`, in the order of `GenerationMixin._get_logits_processor`.
    pub(super) fn apply(&self, scores: &mut [f32], place: &TokenContext<'_>) {
        let TokenContext {
            sequence,
            added,
            min_new_tokens,
            max_new_tokens,
            end,
        } = *place;
        forbid(scores, &repeated(sequence, self.no_repeat_ngram_size));
        // `NoBadWordsLogitsProcessor` leaves out end tokens, without which no sequence would end.
        let bad = self
            .bad_words
            .iter()
            .filter(|word| !matches!(word.as_slice(), [id] if end.contains(id)));
        for (last, before) in bad.filter_map(|word| word.split_last()) {
            if sequence.ends_with(before) {
                forbid(scores, &[*last]);
            }
        }
        if sequence.len() < self.min_length || added < min_new_tokens {
            forbid(scores, end);
        }
        // `ForcedBOSTokenLogitsProcessor` counts the whole sequence: it acts only after a prompt of
        // one token.
        if let Some(first) = self.forced_bos.filter(|_| sequence.len() == 1) {
            force(scores, &[first]);
        }
        if added + 1 == max_new_tokens && !self.forced_eos.is_empty() {
            force(scores, &self.forced_eos);
        }
        forbid(scores, &self.suppressed);
        // `_get_logits_processor` moves the beginning past a forced first token.
        let begin = usize::from(self.forced_bos.is_some() && sequence.len() - added == 1);
        if added == begin {
            forbid(scores, &self.suppressed_first);
        }
    }
}

/// One id or several.
pub(super) fn ids(file: &ConfigFile, name: &str) -> Result<Option<Vec<i64>>, PreprocessError> {
    let Some(value) = file.get(name) else {
        return Ok(None);
    };
    let ids = match value.as_array() {
        Some(values) => values.iter().map(Value::as_i64).collect(),
        None => value.as_i64().map(|id| vec![id]),
    };
    ids.map(Some)
        .ok_or_else(|| file.not_a(name, "a token id or a list of them", value))
}

fn bad_words(file: &ConfigFile) -> Result<Vec<Vec<i64>>, PreprocessError> {
    const NAME: &str = "bad_words_ids";
    let Some(value) = file.get(NAME) else {
        return Ok(Vec::new());
    };
    let words = value.as_array().and_then(|words| {
        words
            .iter()
            .map(|word| {
                word.as_array()?
                    .iter()
                    .map(Value::as_i64)
                    .collect::<Option<Vec<i64>>>()
            })
            .collect()
    });
    words.ok_or_else(|| file.not_a(NAME, "a list of lists of token ids", value))
}

/// The tokens that would complete a sequence of `size` tokens that is there already.
fn repeated(sequence: &[i64], size: usize) -> Vec<i64> {
    if size == 0 || sequence.len() + 1 < size {
        return Vec::new();
    }
    let begun = &sequence[sequence.len() + 1 - size..];
    sequence
        .windows(size)
        .filter(|window| window.starts_with(begun))
        .map(|window| window[size - 1])
        .collect()
}

/// Forbids `tokens`.
fn forbid(scores: &mut [f32], tokens: &[i64]) {
    // Ids outside the vocabulary are ignored; the mask that transformers builds does not contain
    // them either.
    for token in tokens {
        if let Some(score) = usize::try_from(*token)
            .ok()
            .and_then(|token| scores.get_mut(token))
        {
            *score = f32::NEG_INFINITY;
        }
    }
}

/// Forbids all tokens except `tokens`.
fn force(scores: &mut [f32], tokens: &[i64]) {
    for (token, score) in scores.iter_mut().enumerate() {
        *score = if tokens.contains(&(token as i64)) {
            0.0
        } else {
            f32::NEG_INFINITY
        };
    }
}

fn list(name: &str, file: &ConfigFile) -> Result<Vec<i64>, PreprocessError> {
    Ok(ids(file, name)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of six that are left.
    fn left(rules: &TokenRules, sequence: &[i64], added: usize) -> Vec<usize> {
        left_of(rules, sequence, added, 0)
    }

    fn left_of(
        rules: &TokenRules,
        sequence: &[i64],
        added: usize,
        min_new_tokens: usize,
    ) -> Vec<usize> {
        let mut scores = [1.0; 6];
        rules.apply(
            &mut scores,
            &TokenContext {
                sequence,
                added,
                min_new_tokens,
                max_new_tokens: 4,
                end: &[5],
            },
        );
        (0..6)
            .filter(|token| scores[*token] > f32::NEG_INFINITY)
            .collect()
    }

    #[test]
    fn sequences_do_not_come_twice() {
        let rules = TokenRules {
            no_repeat_ngram_size: 2,
            ..TokenRules::default()
        };
        assert_eq!(left(&rules, &[1, 2, 1, 3, 1], 4), [0, 1, 4, 5]);
        assert_eq!(left(&rules, &[1], 0), [0, 1, 2, 3, 4, 5]);
        assert_eq!(
            left(
                &TokenRules {
                    no_repeat_ngram_size: 1,
                    ..rules
                },
                &[0, 4],
                1
            ),
            [1, 2, 3, 5]
        );
    }

    #[test]
    fn bad_words_are_not_completed_and_an_end_token_is_none() {
        let rules = TokenRules {
            bad_words: vec![vec![0], vec![2, 3], vec![5]],
            ..TokenRules::default()
        };
        assert_eq!(left(&rules, &[1], 0), [1, 2, 3, 4, 5]);
        assert_eq!(left(&rules, &[1, 2], 1), [1, 2, 4, 5]);
    }

    #[test]
    fn first_and_last_tokens_are_forced() {
        let rules = TokenRules {
            forced_bos: Some(2),
            forced_eos: vec![5],
            ..TokenRules::default()
        };
        assert_eq!(left(&rules, &[1], 0), [2]);
        assert_eq!(left(&rules, &[1, 2], 1), [0, 1, 2, 3, 4, 5]);
        assert_eq!(left(&rules, &[1, 2, 0, 0], 3), [5]);
        // The least number of tokens does not forbid an end that is forced.
        assert_eq!(left_of(&rules, &[1, 2, 0, 0], 3, 4), [5]);
    }

    #[test]
    fn suppressed_tokens_are_never_taken_or_not_at_first() {
        let rules = TokenRules {
            suppressed: vec![4],
            suppressed_first: vec![0, 5],
            ..TokenRules::default()
        };
        assert_eq!(left(&rules, &[1, 2], 0), [1, 2, 3]);
        assert_eq!(left(&rules, &[1, 2, 3], 1), [0, 1, 2, 3, 5]);
        let forced = TokenRules {
            forced_bos: Some(2),
            ..rules
        };
        assert_eq!(left(&forced, &[1, 2], 1), [1, 2, 3]);
    }

    #[test]
    fn no_end_token_before_the_least_length() {
        let rules = TokenRules {
            min_length: 3,
            ..TokenRules::default()
        };
        assert_eq!(left(&rules, &[1, 2], 1), [0, 1, 2, 3, 4]);
        assert_eq!(left(&rules, &[1, 2, 3], 2).len(), 6);
        assert_eq!(
            left_of(&TokenRules::default(), &[1, 2], 1, 2),
            [0, 1, 2, 3, 4]
        );
        assert_eq!(left_of(&TokenRules::default(), &[1, 2, 3], 2, 2).len(), 6);
    }
}
