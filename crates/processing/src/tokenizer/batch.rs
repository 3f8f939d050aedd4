//! Rows of tokens padded to one length.

use super::{PaddingSide, PreprocessError};
use std::convert::identity;
use testgen_nn::array::{Array, Arrays};
use tokenizers::Encoding;

/// The part of a text that a token comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenSpan {
    /// The first byte of the token's text.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// The index of its text in a pair, or `None` for tokens that the tokenizer adds and for
    /// padding.
    pub sequence: Option<usize>,
    /// The word that it is a part of.
    pub word: Option<u32>,
}

/// Texts as tensors, and where each of their tokens comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenBatch {
    /// `input_ids`, `attention_mask` and, if the model reads them, `token_type_ids`, int64 [batch,
    /// seq].
    pub arrays: Arrays,
    /// One span per token, [batch, seq].
    pub spans: Vec<Vec<TokenSpan>>,
}

/// The padding of rows, and whether there are token types.
pub(super) struct Padding {
    pub(super) side: PaddingSide,
    /// The shortest that rows may be.
    pub(super) length: usize,
    pub(super) id: Option<u32>,
    pub(super) token_types: bool,
}

impl TokenBatch {
    /// `number` converts the backend's ids to the model's.
    pub(super) fn new(
        encodings: &[Encoding],
        padding: &Padding,
        number: &dyn Fn(u32) -> u32,
    ) -> Result<Self, PreprocessError> {
        let longest = encodings
            .iter()
            .map(Encoding::len)
            .max()
            .unwrap_or_default()
            .max(padding.length);
        let unequal = encodings.iter().any(|encoding| encoding.len() != longest);
        let pad_id = match padding.id {
            Some(id) => id,
            // A made-up id could be the id of a real token. Without padding the value is not used.
            None if unequal => return Err(PreprocessError::NoPadToken),
            None => 0,
        };
        let rows = PaddedRows {
            encodings,
            length: longest,
            side: padding.side,
        };
        let mut arrays = Arrays::from([
            (
                "input_ids".to_owned(),
                rows.integers(pad_id, Encoding::get_ids, number),
            ),
            (
                "attention_mask".to_owned(),
                rows.integers(0, Encoding::get_attention_mask, &identity::<u32>),
            ),
        ]);
        if padding.token_types {
            arrays.insert(
                "token_type_ids".to_owned(),
                rows.integers(0, Encoding::get_type_ids, &identity::<u32>),
            );
        }
        Ok(Self {
            arrays,
            spans: rows.spans(),
        })
    }
}

/// The rows of a batch and their common length.
struct PaddedRows<'a> {
    encodings: &'a [Encoding],
    length: usize,
    side: PaddingSide,
}

impl PaddedRows<'_> {
    /// A field of each token, [batch, seq]. `number` converts ids.
    fn integers(
        &self,
        fill: u32,
        field: fn(&Encoding) -> &[u32],
        number: &dyn Fn(u32) -> u32,
    ) -> Array {
        // Masks and token types are not ids, so they stay.
        let values = self.encodings.iter().flat_map(|encoding| {
            let values: Vec<i64> = field(encoding)
                .iter()
                .map(|value| i64::from(number(*value)))
                .collect();
            padded(values.into_iter(), self.length, i64::from(fill), self.side)
                .collect::<Vec<i64>>()
        });
        Array::integers([self.encodings.len(), self.length], values.collect())
    }

    fn spans(&self) -> Vec<Vec<TokenSpan>> {
        let nowhere = TokenSpan {
            start: 0,
            end: 0,
            sequence: None,
            word: None,
        };
        self.encodings
            .iter()
            .map(|encoding| {
                padded(spans(encoding).into_iter(), self.length, nowhere, self.side).collect()
            })
            .collect()
    }
}

impl TokenBatch {
    /// The tokens of a row that come from a text of its pair.
    pub fn tokens_of(&self, row: usize, sequence: usize) -> Vec<usize> {
        let spans = self.spans[row].iter().enumerate();
        spans
            .filter(|(_, span)| span.sequence == Some(sequence))
            .map(|(token, _)| token)
            .collect()
    }
}

/// `row` padded to `length`.
fn padded<T: Copy>(
    row: impl ExactSizeIterator<Item = T>,
    length: usize,
    fill: T,
    side: PaddingSide,
) -> impl Iterator<Item = T> {
    let missing = length - row.len();
    let (front, back) = match side {
        PaddingSide::Left => (missing, 0),
        PaddingSide::Right => (0, missing),
    };
    std::iter::repeat_n(fill, front)
        .chain(row)
        .chain(std::iter::repeat_n(fill, back))
}

fn spans(encoding: &Encoding) -> Vec<TokenSpan> {
    let special = encoding.get_special_tokens_mask();
    let sequences = encoding.get_sequence_ids();
    let words = encoding.get_word_ids();
    encoding
        .get_offsets()
        .iter()
        .enumerate()
        .map(|(index, (start, end))| {
            let sequence = if special[index] == 1 {
                None
            } else {
                sequences[index]
            };
            TokenSpan {
                start: *start,
                end: *end,
                sequence,
                word: words[index],
            }
        })
        .collect()
}
