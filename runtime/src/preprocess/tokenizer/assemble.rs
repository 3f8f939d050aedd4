//! From files to a backend of the `tokenizers` crate: `tokenizer.json`, or the vocabulary files of older checkpoints.

use super::{
    super::{
        PreprocessError,
        config_file::{ConfigFile, read_text},
    },
    settings::Settings,
};
use serde_json::{Map, Value, json};
use std::path::Path;
use tokenizers::{AddedToken, NormalizerWrapper, PostProcessorWrapper, Tokenizer};

/// Qwen2 splits text with its own pattern; `PRETOKENIZE_REGEX` in `tokenization_qwen2.py`.
const QWEN2_PATTERN: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// Vocabularies that need code which is not here.
const CONVERTIBLE: [&str; 4] = ["tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.json"];

/// The backend as its files describe it; none where there are no files.
pub(super) fn backend(directory: &Path, settings: &Settings) -> Result<Option<Tokenizer>, PreprocessError> {
    let path = directory.join("tokenizer.json");
    let unreadable = |error: tokenizers::Error| PreprocessError::Unreadable { path: path.clone(), message: error.to_string() };
    let description = match read_text(&path)? {
        Some(text) => Some(text),
        None => older(directory, settings)?.map(|description| description.to_string()),
    };
    description.map(|text| Tokenizer::from_bytes(text).map_err(unreadable)).transpose()
}

/// The `tokenizer.json` that transformers would make of `vocab.txt`, or of `vocab.json` and `merges.txt`.
fn older(directory: &Path, settings: &Settings) -> Result<Option<Value>, PreprocessError> {
    let family = settings.family.as_str();
    if let ("bert" | "distilbert", Some(vocabulary)) = (family, read_text(&directory.join("vocab.txt"))?) {
        return word_piece(&vocabulary, settings).map(Some);
    }
    let pair = (ConfigFile::read(directory, "vocab.json")?, read_text(&directory.join("merges.txt"))?);
    if let ("gpt2" | "roberta" | "qwen2", (Some(vocabulary), Some(merges))) = (family, pair) {
        return byte_level(&vocabulary, &merges, settings).map(Some);
    }
    let needs_conversion = |name: &&&str| directory.join(name).is_file();
    match CONVERTIBLE.iter().chain(&["vocab.txt"]).find(needs_conversion) {
        None => Ok(None),
        Some(name) => Err(PreprocessError::Unreadable {
            path: directory.join(name),
            message: format!(
                "there is no `tokenizer.json` beside it and no rule for `{family}`; load the tokenizer with transformers and save it again"
            ),
        }),
    }
}

/// As `BertTokenizer` of transformers 5 builds it.
fn word_piece(vocabulary: &str, settings: &Settings) -> Result<Value, PreprocessError> {
    let vocabulary: Map<String, Value> =
        vocabulary.lines().enumerate().map(|(id, token)| (token.to_owned(), json!(id))).collect();
    let role = |role: &str, default: &str| settings.special(role).unwrap_or(default).to_owned();
    let (cls, sep) = (role("cls_token", "[CLS]"), role("sep_token", "[SEP]"));
    let pair_of = |token: &str| vocabulary.get(token).map(|id| json!([token, id])).ok_or_else(|| missing("vocab.txt", token));
    Ok(json!({
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": true,
            "handle_chinese_chars": settings.split_chinese.unwrap_or(true),
            "strip_accents": settings.strip_accents,
            "lowercase": settings.lowercase.unwrap_or(true),
        },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": { "type": "BertProcessing", "sep": pair_of(&sep)?, "cls": pair_of(&cls)? },
        "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": true },
        "model": {
            "type": "WordPiece",
            "unk_token": role("unk_token", "[UNK]"),
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocabulary,
        },
    }))
}

/// As `GPT2Tokenizer`, `RobertaTokenizer` and `Qwen2Tokenizer` of transformers 5 build it.
fn byte_level(vocabulary: &ConfigFile, merges: &str, settings: &Settings) -> Result<Value, PreprocessError> {
    let vocabulary: Map<String, Value> =
        vocabulary.fields().map(|(token, id)| (token.to_owned(), id.clone())).collect();
    let merges: Vec<&str> = merges.lines().filter(|line| !line.starts_with("#version") && !line.is_empty()).collect();
    let prefix_space = settings.prefix_space.unwrap_or(false);
    let bytes = |regex: bool| json!({ "type": "ByteLevel", "add_prefix_space": prefix_space, "trim_offsets": true, "use_regex": regex });
    let qwen2 = settings.family == "qwen2";
    let split = json!({ "type": "Split", "pattern": { "Regex": QWEN2_PATTERN }, "behavior": "Isolated", "invert": false });
    let post_processor = match settings.family.as_str() {
        "roberta" => roberta_ends(&vocabulary, settings, prefix_space)?,
        _ => json!({ "type": "ByteLevel", "add_prefix_space": prefix_space, "trim_offsets": false, "use_regex": true }),
    };
    Ok(json!({
        "version": "1.0",
        "added_tokens": [],
        "normalizer": qwen2.then(|| json!({ "type": "NFC" })),
        "pre_tokenizer": if qwen2 { json!({ "type": "Sequence", "pretokenizers": [split, bytes(false)] }) } else { bytes(true) },
        "post_processor": post_processor,
        "decoder": bytes(true),
        "model": { "type": "BPE", "continuing_subword_prefix": "", "end_of_word_suffix": "", "vocab": vocabulary, "merges": merges },
    }))
}

fn roberta_ends(vocabulary: &Map<String, Value>, settings: &Settings, prefix_space: bool) -> Result<Value, PreprocessError> {
    let pair = |role: &str, default: &str| {
        let token = settings.special(role).unwrap_or(default);
        vocabulary.get(token).map(|id| json!([token, id])).ok_or_else(|| missing("vocab.json", token))
    };
    Ok(json!({
        "type": "RobertaProcessing",
        "sep": pair("sep_token", "</s>")?,
        "cls": pair("cls_token", "<s>")?,
        "trim_offsets": true,
        "add_prefix_space": prefix_space,
    }))
}

fn missing(file: &str, token: &str) -> PreprocessError {
    PreprocessError::Tokenizer { message: format!("`{file}` has no token `{token}`; name the special tokens in `tokenizer_config.json`") }
}

/// What `tokenizer_config.json` adds to the backend: special tokens, tokens at the ends, normalising of BERT.
pub(super) fn complete(backend: &mut Tokenizer, settings: &Settings) -> Result<(), PreprocessError> {
    backend.with_padding(None);
    let failed = |error: &dyn std::fmt::Display| PreprocessError::Tokenizer { message: error.to_string() };
    backend.with_truncation(None).map_err(|error| failed(&error))?;
    backend.set_encode_special_tokens(settings.split_special_tokens);
    let known = backend.get_added_tokens_decoder();
    let new = |token: &&AddedToken| !known.values().any(|other| other.content == token.content);
    let tokens: Vec<AddedToken> = settings.tokens().filter(new).cloned().collect();
    backend.add_tokens(&tokens);
    if let Some((start, end)) = settings.ends {
        let template = ends_template(backend, settings, start, end);
        let template: PostProcessorWrapper = serde_json::from_value(template).map_err(|error| failed(&error))?;
        backend.with_post_processor(Some(template));
    }
    normalize_as_bert(backend, settings);
    Ok(())
}

/// `TokenizersBackend.update_post_processor`: start and end token around each text, where they exist.
fn ends_template(backend: &Tokenizer, settings: &Settings, start: bool, end: bool) -> Value {
    let token = |wanted: bool, role| settings.special(role).filter(|_| wanted).and_then(|token| Some((token, backend.token_to_id(token)?)));
    let (start, end) = (token(start, "bos_token"), token(end, "eos_token"));
    let piece = |token: Option<(&str, u32)>, type_id| token.map(|(token, _)| json!({ "SpecialToken": { "id": token, "type_id": type_id } }));
    let around = |sequence: &str, type_id: u32| {
        let text = json!({ "Sequence": { "id": sequence, "type_id": type_id } });
        [piece(start, type_id), Some(text), piece(end, type_id)].into_iter().flatten().collect::<Vec<Value>>()
    };
    let specials: Map<String, Value> = [start, end]
        .into_iter()
        .flatten()
        .map(|(token, id)| (token.to_owned(), json!({ "id": token, "ids": [id], "tokens": [token] })))
        .collect();
    let pair = [around("A", 0), around("B", 1)].concat();
    json!({
        "type": "TemplateProcessing",
        "single": around("A", 0),
        "pair": pair,
        "special_tokens": specials,
    })
}

/// `BertTokenizer` lets `tokenizer_config.json` decide over `tokenizer.json`.
fn normalize_as_bert(backend: &mut Tokenizer, settings: &Settings) {
    let Some(NormalizerWrapper::BertNormalizer(normalizer)) = backend.get_normalizer() else { return };
    if !matches!(settings.family.as_str(), "bert" | "distilbert") {
        return;
    }
    let mut normalizer = normalizer.clone();
    normalizer.lowercase = settings.lowercase.unwrap_or(normalizer.lowercase);
    normalizer.strip_accents = settings.strip_accents.or(normalizer.strip_accents);
    normalizer.handle_chinese_chars = settings.split_chinese.unwrap_or(normalizer.handle_chinese_chars);
    backend.with_normalizer(Some(normalizer));
}
