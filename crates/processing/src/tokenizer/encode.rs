//! Texts and words as the tokenizers crate takes them, and its results.

use super::guarded::guarded;
use crate::error::PreprocessError;
use tokenizers::{EncodeInput, Encoding};

/// A text, or a pair such as a question and its context.
pub type TextInput<'a> = (&'a str, Option<&'a str>);

/// A pair of texts that are split into words already.
pub type WordsInput<'a> = (Vec<&'a str>, Vec<&'a str>);

pub(super) fn encode_all(
    backend: &tokenizers::Tokenizer,
    inputs: Vec<EncodeInput<'_>>,
) -> Result<Vec<Encoding>, PreprocessError> {
    inputs
        .into_iter()
        .map(|input| guarded(|| backend.encode(input, true)).map_err(|message| failed(&message)))
        .collect()
}

pub(super) fn encode_input<'a>((first, second): &TextInput<'a>) -> EncodeInput<'a> {
    match second {
        Some(second) => (*first, *second).into(),
        None => (*first).into(),
    }
}

pub(super) fn failed(message: &str) -> PreprocessError {
    PreprocessError::Tokenizer {
        message: message.to_owned(),
    }
}
