//! From texts to token ids and back, as `tokenizer.json` and its companions say.

use super::PreprocessError;
use crate::Arrays;
use std::path::Path;

/// Where short rows of a batch are filled up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaddingSide {
    /// In front of the text, as generation wants it.
    Left,
    /// Behind the text.
    Right,
}

/// Where a token comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenSpan {
    /// The first byte of the text that the token stands for.
    pub start: usize,
    /// The byte behind the last one.
    pub end: usize,
    /// Which text of a pair it comes from; none for tokens that the tokenizer adds and for padding.
    pub sequence: Option<usize>,
    /// The word that it is a part of.
    pub word: Option<u32>,
}

/// A tokenizer with the padding and truncation of its checkpoint.
#[derive(Debug)]
pub struct Tokenizer {}

impl Tokenizer {
    /// Reads the tokenizer files in `directory`, or gives none where there are none.
    pub fn open(directory: &Path) -> Result<Option<Self>, PreprocessError> {
        let _ = directory;
        Ok(None)
    }

    /// `input_ids`, `attention_mask` and, where the model reads them, `token_type_ids`, all int64 [batch, seq], padded to
    /// the longest text on the side that the checkpoint says.
    pub fn encode(&self, texts: &[&str]) -> Result<Arrays, PreprocessError> {
        let _ = texts;
        unimplemented!()
    }

    /// As [`Tokenizer::encode`], padded on `side`.
    pub fn encode_padded(&self, texts: &[&str], side: PaddingSide) -> Result<Arrays, PreprocessError> {
        let _ = (texts, side);
        unimplemented!()
    }

    /// As [`Tokenizer::encode`], for pairs such as a question and its context.
    pub fn encode_pairs(&self, pairs: &[(&str, &str)]) -> Result<Arrays, PreprocessError> {
        let _ = pairs;
        unimplemented!()
    }

    /// The text of `ids`; special tokens are left out when `skip_special` says so.
    pub fn decode(&self, ids: &[i64], skip_special: bool) -> Result<String, PreprocessError> {
        let _ = (ids, skip_special);
        unimplemented!()
    }
}
