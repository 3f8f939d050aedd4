//! Converts texts to token ids and back, as configured in `tokenizer.json` and the files next to
//! it.

mod assemble;
mod batch;
mod characters;
mod class;
mod digest;
mod encode;
#[cfg(test)]
mod fuzz;
mod guarded;
mod rebuild;
mod settings;
mod side;
mod translation;

pub use batch::{TokenBatch, TokenSpan};
pub use encode::{TextInput, WordsInput};
pub use side::PaddingSide;

use crate::{config_file::ConfigFile, error::PreprocessError};
use batch::Padding;
use characters::Characters;
use class::TokenizerClass;
use encode::{encode_all, encode_input, failed};
use guarded::guarded;
use settings::TokenizerSettings;
use std::path::Path;
use testgen_nn::array::Arrays;
use tokenizers::{EncodeInput, Encoding, TruncationParams};
use translation::Translation;

/// A tokenizer with the padding of its checkpoint.
///
/// Follows `AutoTokenizer` and `TokenizersBackend` (transformers 5): the model and templates of
/// `tokenizer.json`, special tokens and sides of `tokenizer_config.json`, and the rules of the
/// class that it names.
#[derive(Debug)]
pub struct Tokenizer {
    backend: tokenizers::Tokenizer,
    settings: TokenizerSettings,
    pad_id: Option<u32>,
    translation: Option<Translation>,
    characters: Option<Characters>,
}

/// How a batch of texts is laid out; the default is what the checkpoint says, without truncation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenizeOptions {
    /// Where short rows are filled up.
    pub padding_side: Option<PaddingSide>,
    /// The most tokens of a row, special tokens included; longer rows are cut. None cuts nothing.
    pub max_length: Option<usize>,
    /// The length that every row is padded to, or `None` for the longest.
    pub pad_to: Option<usize>,
}

impl Tokenizer {
    /// Reads the tokenizer files in `directory`, or `None` if there are none.
    pub fn open(directory: &Path) -> Result<Option<Self>, PreprocessError> {
        Self::open_of(
            directory,
            &ConfigFile::read_or_empty(directory, "config.json")?,
        )
    }

    /// As [`Tokenizer::open`], of the model that `config.json` elsewhere describes.
    pub(crate) fn open_of(
        directory: &Path,
        model: &ConfigFile,
    ) -> Result<Option<Self>, PreprocessError> {
        let settings = TokenizerSettings::read(directory, model)?;
        if settings.class == TokenizerClass::FrameTokens {
            return Ok(None);
        }
        // Before any `tokenizer.json`: `MarianTokenizer` has no such backend, and its ids come from
        // `vocab.json`.
        if let Some((backend, translation)) = translation_of(directory, &settings)? {
            return Ok(Some(Self {
                backend,
                settings,
                pad_id: translation.pad,
                translation: Some(translation),
                characters: None,
            }));
        }
        let (backend, characters) = match Characters::open(directory, &settings)? {
            Some((backend, characters)) => (Some(backend), Some(characters)),
            None => (assemble::backend(directory, &settings)?, None),
        };
        let Some(mut backend) = backend else {
            return Ok(None);
        };
        let completed = guarded(|| Ok(assemble::complete(&mut backend, &settings)));
        completed.map_err(|message| failed(&message))??;
        let pad_id = settings
            .pad_token()
            .and_then(|token| backend.token_to_id(token));
        Ok(Some(Self {
            backend,
            settings,
            pad_id,
            translation: None,
            characters,
        }))
    }

    /// `input_ids`, `attention_mask` and, if the model reads them, `token_type_ids`, all int64
    /// [batch, seq], padded to the longest text on the side that the checkpoint says.
    pub fn encode(&self, texts: &[&str]) -> Result<Arrays, PreprocessError> {
        let inputs: Vec<TextInput<'_>> = texts.iter().map(|text| (*text, None)).collect();
        Ok(self.tokenize(&inputs, TokenizeOptions::default())?.arrays)
    }

    /// As [`Tokenizer::encode`], padded on `side`.
    pub fn encode_padded(
        &self,
        texts: &[&str],
        side: PaddingSide,
    ) -> Result<Arrays, PreprocessError> {
        let inputs: Vec<TextInput<'_>> = texts.iter().map(|text| (*text, None)).collect();
        let options = TokenizeOptions {
            padding_side: Some(side),
            ..TokenizeOptions::default()
        };
        Ok(self.tokenize(&inputs, options)?.arrays)
    }

    /// As [`Tokenizer::encode`], for pairs such as a question and its context.
    pub fn encode_pairs(&self, pairs: &[(&str, &str)]) -> Result<Arrays, PreprocessError> {
        let inputs: Vec<TextInput<'_>> = pairs
            .iter()
            .map(|(first, second)| (*first, Some(*second)))
            .collect();
        Ok(self.tokenize(&inputs, TokenizeOptions::default())?.arrays)
    }

    /// The arrays of [`Tokenizer::encode`] together with where each token comes from.
    pub fn tokenize(
        &self,
        inputs: &[TextInput<'_>],
        options: TokenizeOptions,
    ) -> Result<TokenBatch, PreprocessError> {
        if let Some(characters) = &self.characters {
            let encodings: Vec<Encoding> = inputs
                .iter()
                .map(|input| characters.encode(input, options.max_length))
                .collect();
            return self.batch(&encodings, options);
        }
        let inputs: Vec<EncodeInput<'_>> = inputs.iter().map(encode_input).collect();
        let encodings = match options.max_length {
            None => encode_all(&self.backend, inputs)?,
            Some(max_length) => encode_all(&self.truncating(max_length)?, inputs)?,
        };
        self.batch(&encodings, options)
    }

    /// As [`Tokenizer::tokenize`], for pairs of words; the spans of tokens have the number of their
    /// word. As `is_split_into_words` of transformers.
    pub fn tokenize_words(
        &self,
        inputs: Vec<WordsInput<'_>>,
    ) -> Result<TokenBatch, PreprocessError> {
        let inputs = inputs.into_iter().map(EncodeInput::from).collect();
        let encodings = encode_all(&self.backend, inputs)?;
        self.batch(&encodings, TokenizeOptions::default())
    }

    fn batch(
        &self,
        encodings: &[Encoding],
        options: TokenizeOptions,
    ) -> Result<TokenBatch, PreprocessError> {
        let side = options.padding_side.unwrap_or(self.settings.padding_side);
        let length = options.pad_to.unwrap_or_default();
        let padding = Padding {
            side,
            length,
            id: self.pad_id,
            token_types: self.settings.token_types,
        };
        TokenBatch::new(encodings, &padding, &|id| {
            self.translation
                .as_ref()
                .map_or(id, |translation| translation.id(id))
        })
    }

    /// The text of `ids`; special tokens are left out when `skip_special` says so.
    pub fn decode(&self, ids: &[i64], skip_special: bool) -> Result<String, PreprocessError> {
        let known =
            |id: &i64| u32::try_from(*id).map_err(|_| failed(&format!("{id} is not a token id")));
        let ids: Vec<u32> = ids.iter().map(known).collect::<Result<_, _>>()?;
        let text = guarded(|| self.backend.decode(&ids, skip_special))
            .map_err(|message| failed(&message))?;
        // `TokenizersBackend._decode` ignores the setting for BPE, whose spaces before punctuation
        // belong to the text.
        let word_piece = !matches!(self.backend.get_model(), tokenizers::ModelWrapper::BPE(_));
        Ok(if self.settings.clean_up_spaces && word_piece {
            clean_up_spaces(&text)
        } else {
            text
        })
    }

    /// The text of what a decoder beside an encoder wrote, without special tokens.
    pub fn decode_target(&self, ids: &[i64]) -> Result<String, PreprocessError> {
        match &self.translation {
            Some(translation) => Ok(translation.decode(ids)),
            None => self.decode(ids, true),
        }
    }

    /// The id of a token, as it is written in the vocabulary.
    pub fn id(&self, token: &str) -> Option<i64> {
        self.backend.token_to_id(token).map(i64::from)
    }

    /// The token with an id, as it is written in the vocabulary.
    pub fn token(&self, id: i64) -> Option<String> {
        self.backend.id_to_token(u32::try_from(id).ok()?)
    }

    /// The mask token and its id, if the checkpoint has one.
    pub fn mask_token(&self) -> Option<(&str, i64)> {
        let token = self.settings.special("mask_token")?;
        self.id(token).map(|id| (token, id))
    }

    /// The id of the token with a role, for instance `sep_token`, if the checkpoint has one.
    pub fn special_id(&self, role: &str) -> Option<i64> {
        self.settings.special(role).and_then(|token| self.id(token))
    }

    /// The id that pads short rows, or `None` if the checkpoint has no pad, end or unknown token.
    pub fn pad_id(&self) -> Option<i64> {
        self.pad_id.map(i64::from)
    }

    /// `model_max_length`: the most tokens of a row, if the checkpoint says it.
    pub fn max_length(&self) -> Option<usize> {
        self.settings.max_length
    }

    fn truncating(&self, max_length: usize) -> Result<tokenizers::Tokenizer, PreprocessError> {
        // The crate keeps truncation in the tokenizer and not in the
        // call; with a clone, `&self` serves several threads.
        let mut backend = self.backend.clone();
        let direction = self.settings.truncation_side.into();
        let truncation = TruncationParams {
            max_length,
            direction,
            ..TruncationParams::default()
        };
        backend
            .with_truncation(Some(truncation))
            .map_err(|error| failed(&error.to_string()))?;
        Ok(backend)
    }
}

/// The vocabularies of a Marian checkpoint.
fn translation_of(
    directory: &Path,
    settings: &TokenizerSettings,
) -> Result<Option<(tokenizers::Tokenizer, Translation)>, PreprocessError> {
    if settings.class == TokenizerClass::Marian {
        Translation::open(directory)
    } else {
        Ok(None)
    }
}

/// `clean_up_tokenization` of transformers: no space before punctuation and English contractions.
fn clean_up_spaces(text: &str) -> String {
    const PAIRS: [(&str, &str); 10] = [
        (" .", "."),
        (" ?", "?"),
        (" !", "!"),
        (" ,", ","),
        (" ' ", "'"),
        (" n't", "n't"),
        (" 'm", "'m"),
        (" 's", "'s"),
        (" 've", "'ve"),
        (" 're", "'re"),
    ];
    PAIRS
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
