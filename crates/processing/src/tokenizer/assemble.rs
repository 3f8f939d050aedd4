//! Builds a backend of the `tokenizers` crate from `tokenizer.json`, or from the vocabulary files
//! of older checkpoints.

use super::{
    class::TokenizerClass, guarded::guarded, rebuild::rebuild, settings::TokenizerSettings,
};
use crate::{
    config_file::{ConfigFile, read_text},
    error::PreprocessError,
};
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use std::path::Path;
use testgen_types::{bounded_file::limit, excerpt};
use tokenizers::{AddedToken, PostProcessorWrapper, Tokenizer};

/// Vocabularies that some class reads; which.
// Of them need code that is not here shows when nothing else was found.
const VOCABULARIES: [&str; 5] = [
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "vocab.json",
    "vocab.txt",
];

/// The backend as its files and its class describe it, or `None` if there are no files.
pub(super) fn backend(
    directory: &Path,
    settings: &TokenizerSettings,
) -> Result<Option<Tokenizer>, PreprocessError> {
    let path = directory.join("tokenizer.json");
    let description = match read_text(&path, limit::TOKENIZER)? {
        Some(text) if settings.class == TokenizerClass::Generic => {
            // The crate panics at some errors of JSON.
            let json: Result<IgnoredAny, _> = serde_json::from_str(&text);
            json.map_err(|error| unreadable(excerpt(&error.to_string()).into_owned(), &path))?;
            Some(text)
        }
        Some(text) => {
            let mut file: Value = serde_json::from_str(&text)
                .map_err(|error| unreadable(excerpt(&error.to_string()).into_owned(), &path))?;
            rebuild(&mut file, settings)?;
            Some(file.to_string())
        }
        None => older(directory, settings)?.map(|description| description.to_string()),
    };
    let backend = description
        .map(|description| guarded(|| Tokenizer::from_bytes(description)))
        .transpose();
    backend.map_err(|error| unreadable(excerpt(&error).into_owned(), &path))
}

/// The `tokenizer.json` that transformers would make of `vocab.txt`, or of `vocab.json` and
/// `merges.txt`.
fn older(directory: &Path, settings: &TokenizerSettings) -> Result<Option<Value>, PreprocessError> {
    let model = match settings.class {
        TokenizerClass::Bert | TokenizerClass::Mpnet => {
            read_text(&directory.join("vocab.txt"), limit::TOKENIZER)?
                .map(|lines| word_piece(&lines))
        }
        TokenizerClass::Gpt2 | TokenizerClass::Qwen2 | TokenizerClass::Roberta => {
            byte_pairs(directory)?
        }
        TokenizerClass::Albert
        | TokenizerClass::DebertaV2
        | TokenizerClass::Llama
        | TokenizerClass::Generic
        | TokenizerClass::FrameTokens
        | TokenizerClass::Marian
        | TokenizerClass::Vits => None,
    };
    if let Some(model) = model {
        let mut file = json!({ "version": "1.0", "added_tokens": [], "model": model });
        rebuild(&mut file, settings)?;
        return Ok(Some(file));
    }
    match VOCABULARIES
        .iter()
        .map(|name| directory.join(name))
        .find(|path| path.is_file())
    {
        None => Ok(None),
        // An error, because a checkpoint whose vocabulary cannot be read would look like one
        // without a tokenizer.
        Some(path) => {
            let hint = "there is no `tokenizer.json` beside it; load the tokenizer with transformers and save it again";
            Err(PreprocessError::Unreadable {
                path,
                message: hint.to_owned(),
            })
        }
    }
}

/// One token a line, its id is the line's number.
fn word_piece(lines: &str) -> Value {
    let numbered = lines
        .lines()
        .enumerate()
        .map(|(id, token)| (token.to_owned(), json!(id)));
    json!({ "type": "WordPiece", "vocab": numbered.collect::<Map<String, Value>>() })
}

fn byte_pairs(directory: &Path) -> Result<Option<Value>, PreprocessError> {
    let vocabulary = ConfigFile::read(directory, "vocab.json")?;
    let Some((vocabulary, merges)) =
        vocabulary.zip(read_text(&directory.join("merges.txt"), limit::TOKENIZER)?)
    else {
        return Ok(None);
    };
    let vocabulary: Map<String, Value> = vocabulary
        .fields()
        .map(|(token, id)| (token.to_owned(), id.clone()))
        .collect();
    // `#version: 0.2` is a header. A merge may begin with `#` as well, so a single `#` does not
    // identify the header.
    let merges: Vec<&str> = merges
        .lines()
        .filter(|line| !line.starts_with("#version") && !line.is_empty())
        .collect();
    Ok(Some(
        json!({ "type": "BPE", "vocab": vocabulary, "merges": merges }),
    ))
}

/// The additions of `tokenizer_config.json` to the backend: special tokens, and tokens at the ends.
pub(super) fn complete(
    backend: &mut Tokenizer,
    settings: &TokenizerSettings,
) -> Result<(), PreprocessError> {
    // Padding and truncation in `tokenizer.json` are left from a call of its author; every call
    // here sets its own.
    backend.with_padding(None);
    backend
        .with_truncation(None)
        .map_err(|error| failed(&error))?;
    // The crate's name for `split_special_tokens`: special tokens that occur in a text are encoded
    // as ordinary text.
    backend.set_encode_special_tokens(settings.split_special_tokens);
    let known = backend.get_added_tokens_decoder();
    let tokens: Vec<AddedToken> = settings
        .tokens()
        .filter(|token| {
            // Adding a token again would replace its `lstrip`, `rstrip` and `normalized` of
            // `tokenizer.json`.
            !known.values().any(|other| other.content == token.content)
        })
        .cloned()
        .collect();
    backend.add_tokens(&tokens);
    if let Some((start, end)) = settings.ends {
        let template = ends_template(backend, settings, start, end);
        let template: PostProcessorWrapper =
            serde_json::from_value(template).map_err(|error| failed(&error))?;
        backend.with_post_processor(Some(template));
    }
    Ok(())
}

/// `TokenizersBackend.update_post_processor`: start and end token around each text, where they
/// exist.
fn ends_template(
    backend: &Tokenizer,
    settings: &TokenizerSettings,
    start: bool,
    end: bool,
) -> Value {
    let token = |added: bool, role| {
        settings
            .special(role)
            .filter(|_| added)
            .and_then(|token| Some((token, backend.token_to_id(token)?)))
    };
    let (start, end) = (token(start, "bos_token"), token(end, "eos_token"));
    let around = |sequence: &str, type_id: u32| {
        let text = json!({ "Sequence": { "id": sequence, "type_id": type_id } });
        [
            special_piece(start, type_id),
            Some(text),
            special_piece(end, type_id),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<Value>>()
    };
    let specials: Map<String, Value> = [start, end]
        .into_iter()
        .flatten()
        .map(|(token, id)| {
            (
                token.to_owned(),
                json!({ "id": token, "ids": [id], "tokens": [token] }),
            )
        })
        .collect();
    let pair = [around("A", 0), around("B", 1)].concat();
    json!({
        "type": "TemplateProcessing",
        "single": around("A", 0),
        "pair": pair,
        "special_tokens": specials,
    })
}

fn unreadable(message: String, path: &Path) -> PreprocessError {
    PreprocessError::Unreadable {
        path: path.to_owned(),
        message,
    }
}

fn failed(error: &dyn std::fmt::Display) -> PreprocessError {
    PreprocessError::Tokenizer {
        message: error.to_string(),
    }
}

fn special_piece(token: Option<(&str, u32)>, type_id: u32) -> Option<Value> {
    token.map(|(token, _)| json!({ "SpecialToken": { "id": token, "type_id": type_id } }))
}
