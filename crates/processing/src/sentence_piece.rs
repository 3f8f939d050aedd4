//! Reads SentencePiece models from `.spm` files: pieces with scores, and the normalisation of
//! texts.
//!
//! The file is a protocol buffer; only the fields that affect tokens are read.

use crate::error::PreprocessError;
use std::path::Path;
use testgen_types::bounded_file::{limit, read_bytes};
use tokenizers::{
    NormalizerWrapper, PreTokenizerWrapper, Tokenizer,
    models::unigram::Unigram,
    normalizers::{Precompiled, Replace, Sequence, Strip},
    pre_tokenizers::metaspace::{Metaspace, PrependScheme},
};

/// The content of a model file.
#[derive(Debug, Default)]
pub(crate) struct SentencePiece {
    /// The pieces in the order of their ids, with their scores.
    pub(crate) pieces: Vec<(String, f64)>,
    unknown: Option<usize>,
    characters: Vec<u8>,
    // Negated, so that the derived `Default` equals the protocol's:
    // both settings are on if the file leaves them out.
    keeps_spaces: bool,
    no_prefix: bool,
    other_model: bool,
}

/// A number or bytes, by the wire types of protocol buffers.
enum WireValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl SentencePiece {
    pub(crate) fn read(path: &Path) -> Result<Self, PreprocessError> {
        let bytes = read_bytes(path, limit::TOKENIZER)?;
        let model = Self::parse(&bytes)
            .ok_or_else(|| unreadable("it is not a SentencePiece model", path))?;
        if model.other_model {
            return Err(unreadable(
                "it is not a Unigram model, the only supported kind",
                path,
            ));
        }
        Ok(model)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut model = Self::default();
        for (number, value) in fields(bytes)? {
            match (number, value) {
                (1, WireValue::Bytes(piece)) => model.piece(piece)?,
                (2, WireValue::Bytes(trainer)) => model.trainer(trainer)?,
                (3, WireValue::Bytes(normalizer)) => model.normalizer(normalizer)?,
                _ => {}
            }
        }
        (!model.pieces.is_empty()).then_some(model)
    }

    fn piece(&mut self, bytes: &[u8]) -> Option<()> {
        // `UNKNOWN` of `ModelProto.SentencePiece.Type`.
        const UNKNOWN: u64 = 2;
        // 1 is `NORMAL`, the kind of a piece whose field is left out.
        let (mut text, mut score, mut kind) = (String::new(), 0.0, 1);
        for (number, value) in fields(bytes)? {
            match (number, value) {
                (1, WireValue::Bytes(piece)) => text = String::from_utf8(piece.to_vec()).ok()?,
                (2, WireValue::Number(bits)) => score = f64::from(f32::from_bits(bits as u32)),
                (3, WireValue::Number(number)) => kind = number,
                _ => {}
            }
        }
        if kind == UNKNOWN {
            self.unknown = Some(self.pieces.len());
        }
        self.pieces.push((text, score));
        Some(())
    }

    fn trainer(&mut self, bytes: &[u8]) -> Option<()> {
        for (number, value) in fields(bytes)? {
            // `model_type`, 1 is Unigram. Scores of BPE are an order of merges:
            // read as Unigram they would give plausible, wrong pieces.
            if let (3, WireValue::Number(kind)) = (number, value) {
                self.other_model = kind != 1;
            }
        }
        Some(())
    }

    fn normalizer(&mut self, bytes: &[u8]) -> Option<()> {
        for (number, value) in fields(bytes)? {
            match (number, value) {
                (2, WireValue::Bytes(characters)) => self.characters = characters.to_vec(),
                (3, WireValue::Number(prefix)) => self.no_prefix = prefix == 0,
                (4, WireValue::Number(extra)) => self.keeps_spaces = extra == 0,
                _ => {}
            }
        }
        Some(())
    }

    /// The model as the `tokenizers` crate has it; ids are positions in [`SentencePiece::pieces`].
    pub(crate) fn tokenizer(&self) -> Result<Tokenizer, PreprocessError> {
        let model = Unigram::from(self.pieces.clone(), self.unknown, false)
            .map_err(|error| failed(error.to_string()))?;
        let mut tokenizer = Tokenizer::new(model);
        let mut steps: Vec<NormalizerWrapper> = Vec::new();
        if !self.characters.is_empty() {
            let characters = Precompiled::from(&self.characters)
                .map_err(|error| failed(format!("{error:?}")))?;
            steps.push(characters.into());
        }
        // After the table of characters, which maps other kinds of space to this one.
        if !self.keeps_spaces {
            steps.push(Strip::new(true, true).into());
            let pattern =
                tokenizers::normalizers::replace::ReplacePattern::Regex(" {2,}".to_owned());
            steps.push(
                Replace::new(pattern, " ")
                    .map_err(|error| failed(error.to_string()))?
                    .into(),
            );
        }
        tokenizer.with_normalizer(Some(Sequence::new(steps)));
        // Without splitting at spaces: SentencePiece searches the best pieces of the whole text at
        // once.
        let scheme = if self.no_prefix {
            PrependScheme::Never
        } else {
            PrependScheme::Always
        };
        tokenizer.with_pre_tokenizer(Some(PreTokenizerWrapper::from(Metaspace::new(
            '▁', scheme, false,
        ))));
        Ok(tokenizer)
    }
}

/// The fields of a message with their numbers, or `None` if it is not one.
fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, WireValue<'_>)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        // The lower bits are the wire type of Protocol Buffers, those above the field's number.
        let value = match key & 7 {
            0 => WireValue::Number(varint(&mut bytes)?),
            1 => WireValue::Number(u64::from_le_bytes(take(&mut bytes, 8)?.try_into().ok()?)),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                WireValue::Bytes(take(&mut bytes, length)?)
            }
            5 => WireValue::Number(u64::from(u32::from_le_bytes(
                take(&mut bytes, 4)?.try_into().ok()?,
            ))),
            // Groups (3 and 4) do not occur in this format; anything else is damage.
            _ => return None,
        };
        fields.push((key >> 3, value));
    }
    Some(fields)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    // Ten bytes hold 64 bits; a longer number is damage and would shift past the end.
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn unreadable(message: &str, path: &Path) -> PreprocessError {
    PreprocessError::Unreadable {
        path: path.to_owned(),
        message: message.to_owned(),
    }
}

fn failed(message: String) -> PreprocessError {
    PreprocessError::Tokenizer { message }
}
