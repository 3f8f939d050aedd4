//! Tokenizers as transformers 5 builds them anew from a vocabulary: a class with rules of its own takes vocabulary, merges
//! and added tokens from `tokenizer.json` and replaces most of the rest.

use super::{
    super::PreprocessError,
    settings::{Class, Settings},
};
use serde_json::{Value, json};

/// `PRETOKENIZE_REGEX` in `tokenization_qwen2.py`.
const QWEN2_PATTERN: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Replaces in the content of a `tokenizer.json` what the class replaces.
pub(super) fn rebuild(file: &mut Value, settings: &Settings) -> Result<(), PreprocessError> {
    let model = file["model"]["type"].as_str().map(str::to_owned);
    match (settings.class, model.as_deref()) {
        (Class::Bert, Some("WordPiece") | None) => bert(file, settings),
        (Class::Gpt2, Some("BPE")) => {
            byte_level(file, settings);
            Ok(())
        }
        (Class::Qwen2, Some("BPE")) => {
            byte_level(file, settings);
            qwen2(file, settings);
            Ok(())
        }
        (Class::Roberta, Some("BPE")) => {
            byte_level(file, settings);
            roberta(file, settings)
        }
        (Class::Llama, Some("BPE")) if !mentions_byte_level(&file["pre_tokenizer"]) => {
            llama(file, settings);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// `BertTokenizer`.
fn bert(file: &mut Value, settings: &Settings) -> Result<(), PreprocessError> {
    file["normalizer"] = json!({
        "type": "BertNormalizer",
        "clean_text": true,
        "handle_chinese_chars": settings.split_chinese.unwrap_or(true),
        "strip_accents": settings.strip_accents,
        "lowercase": settings.lowercase.unwrap_or(true),
    });
    file["pre_tokenizer"] = json!({ "type": "BertPreTokenizer" });
    file["decoder"] = json!({ "type": "WordPiece", "prefix": "##", "cleanup": true });
    file["post_processor"] = json!({
        "type": "BertProcessing",
        "sep": token_and_id(file, settings, "sep_token")?,
        "cls": token_and_id(file, settings, "cls_token")?,
    });
    file["model"]["type"] = json!("WordPiece");
    file["model"]["unk_token"] = json!(settings.special("unk_token"));
    file["model"]["continuing_subword_prefix"] = json!("##");
    file["model"]["max_input_chars_per_word"] = json!(100);
    Ok(())
}

/// `GPT2Tokenizer`, and what its relatives share with it: unknown bytes vanish.
fn byte_level(file: &mut Value, settings: &Settings) {
    let model = json!({ "continuing_subword_prefix": "", "end_of_word_suffix": "" });
    byte_pairs(file, &model);
    let bytes = json!({
        "type": "ByteLevel",
        "add_prefix_space": settings.prefix_space.unwrap_or(false),
        "trim_offsets": true,
        "use_regex": true,
    });
    file["normalizer"] = Value::Null;
    file["pre_tokenizer"] = bytes.clone();
    file["decoder"] = bytes;
}

/// `Qwen2Tokenizer`.
fn qwen2(file: &mut Value, settings: &Settings) {
    let mut bytes = file["pre_tokenizer"].take();
    bytes["use_regex"] = json!(false);
    bytes["add_prefix_space"] = json!(settings.prefix_space.unwrap_or(false));
    let split =
        json!({ "type": "Split", "pattern": { "Regex": QWEN2_PATTERN }, "behavior": "Isolated", "invert": false });
    file["normalizer"] = json!({ "type": "NFC" });
    file["pre_tokenizer"] = json!({ "type": "Sequence", "pretokenizers": [split, bytes] });
}

/// `RobertaTokenizer`.
fn roberta(file: &mut Value, settings: &Settings) -> Result<(), PreprocessError> {
    file["post_processor"] = json!({
        "type": "RobertaProcessing",
        "sep": token_and_id(file, settings, "sep_token")?,
        "cls": token_and_id(file, settings, "cls_token")?,
        "trim_offsets": true,
        "add_prefix_space": settings.prefix_space.unwrap_or(false),
    });
    Ok(())
}

/// `LlamaTokenizer`.
fn llama(file: &mut Value, settings: &Settings) {
    byte_pairs(file, &json!({ "fuse_unk": true, "byte_fallback": true }));
    let prefix = settings.prefix_space.unwrap_or(true);
    let scheme = match (prefix, settings.legacy) {
        (false, _) => "never",
        (true, true) => "always",
        (true, false) => "first",
    };
    file["normalizer"] = Value::Null;
    file["pre_tokenizer"] =
        json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": false });
    let mut decoders = vec![
        json!({ "type": "Replace", "pattern": { "String": "▁" }, "content": " " }),
        json!({ "type": "ByteFallback" }),
        json!({ "type": "Fuse" }),
    ];
    if prefix {
        decoders.push(json!({ "type": "Strip", "content": " ", "start": 1, "stop": 0 }));
    }
    file["decoder"] = json!({ "type": "Sequence", "decoders": decoders });
}

/// A BPE model with the vocabulary and merges of the file, and nothing else of it.
fn byte_pairs(file: &mut Value, options: &Value) {
    let mut model = options.clone();
    model["type"] = json!("BPE");
    model["vocab"] = file["model"]["vocab"].take();
    model["merges"] = file["model"]["merges"].take();
    file["model"] = model;
}

fn mentions_byte_level(pre_tokenizer: &Value) -> bool {
    let within = pre_tokenizer["pretokenizers"].as_array().map(Vec::as_slice).unwrap_or_default();
    pre_tokenizer["type"] == "ByteLevel" || within.iter().any(mentions_byte_level)
}

/// `[token, id]` of a special token, among the vocabulary or the added tokens.
fn token_and_id(file: &Value, settings: &Settings, role: &str) -> Result<Value, PreprocessError> {
    let token = settings.special(role).unwrap_or_default();
    let added = file["added_tokens"].as_array().into_iter().flatten().find(|added| added["content"] == token);
    let id = added.map(|added| &added["id"]).or_else(|| file["model"]["vocab"].get(token));
    id.map(|id| json!([token, id])).ok_or_else(|| PreprocessError::Tokenizer {
        message: format!("the vocabulary has no `{token}`; name the `{role}` in `tokenizer_config.json`"),
    })
}
