//! Rebuilds tokenizers from their vocabulary, as transformers 5 does: some classes use vocabulary,
//! merges and added tokens of `tokenizer.json` and replace most of the rest.

use super::{class::TokenizerClass, settings::TokenizerSettings};
use crate::error::PreprocessError;
use serde_json::{Map, Value, json};

/// `PRETOKENIZE_REGEX` in `tokenization_qwen2.py`.
const QWEN2_PATTERN: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Replaces in the content of a `tokenizer.json` what the class replaces.
pub(super) fn rebuild(
    file: &mut Value,
    settings: &TokenizerSettings,
) -> Result<(), PreprocessError> {
    let model = file["model"]["type"].as_str().map(str::to_owned);
    match (settings.class, model.as_deref()) {
        (TokenizerClass::Albert, Some("Unigram")) => albert(file, settings),
        // Older files do not name the type of their model.
        (TokenizerClass::Bert, Some("WordPiece") | None) => bert(file, settings),
        (TokenizerClass::DebertaV2, Some("Unigram")) => deberta_v2(file, settings),
        (TokenizerClass::Gpt2, Some("BPE")) => {
            byte_level(file, settings);
            Ok(())
        }
        (TokenizerClass::Mpnet, Some("WordPiece") | None) => mpnet(file, settings),
        (TokenizerClass::Qwen2, Some("BPE")) => {
            byte_level(file, settings);
            qwen2(file, settings);
            Ok(())
        }
        (TokenizerClass::Roberta, Some("BPE")) => {
            byte_level(file, settings);
            roberta(file, settings)
        }
        // Repositories in the style of Llama 3 name this class, although their
        // pieces are bytes; `AutoTokenizer` takes `TokenizersBackend` for them.
        (TokenizerClass::Llama, Some("BPE")) if !mentions_byte_level(&file["pre_tokenizer"]) => {
            llama(file, settings);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// `AlbertTokenizer`; of the file's normaliser it keeps the table of characters, and its template
/// where there is one.
fn albert(file: &mut Value, settings: &TokenizerSettings) -> Result<(), PreprocessError> {
    let mut normalizers = vec![replacement("``", "\""), replacement("''", "\"")];
    if !settings.keep_accents {
        normalizers.extend([json!({ "type": "NFKD" }), json!({ "type": "StripAccents" })]);
    }
    if settings.lowercase.unwrap_or(true) {
        normalizers.push(json!({ "type": "Lowercase" }));
    }
    normalizers.extend(precompiled(&file["normalizer"]));
    let spaces = metaspace(if settings.prefix_space.unwrap_or(true) {
        "always"
    } else {
        "never"
    });
    file["normalizer"] = json!({ "type": "Sequence", "normalizers": normalizers });
    file["pre_tokenizer"] = json!({ "type": "Sequence", "pretokenizers": [{ "type": "WhitespaceSplit" }, spaces.clone()] });
    file["decoder"] = spaces;
    // `AlbertTokenizer` does not look the unknown token up: it is always the second piece.
    file["model"] = unigram(file["model"]["vocab"].take(), 1);
    // The class sets its template before `TokenizersBackend.__init__`, which then prefers the
    // template of the file.
    if file["post_processor"].is_null() {
        file["post_processor"] = around_texts(file, settings)?;
    }
    Ok(())
}

/// `DebertaV2Tokenizer`.
fn deberta_v2(file: &mut Value, settings: &TokenizerSettings) -> Result<(), PreprocessError> {
    let mut normalizers = Vec::new();
    if settings.lowercase.unwrap_or(false) {
        normalizers.push(json!({ "type": "Lowercase" }));
    }
    let spaces = json!({ "Regex": r"\s{2,}|[\n\r\t]" });
    normalizers.extend([
        json!({ "type": "Replace", "pattern": spaces, "content": " " }),
        json!({ "type": "NFC" }),
        json!({ "type": "Strip", "strip_left": false, "strip_right": true }),
    ]);
    let mut splits = Vec::new();
    if settings.split_by_punct {
        splits.push(json!({ "type": "Punctuation", "behavior": "Isolated" }));
    }
    let spaces = metaspace(if settings.prefix_space.unwrap_or(true) {
        "always"
    } else {
        "first"
    });
    splits.push(spaces.clone());
    file["normalizer"] = json!({ "type": "Sequence", "normalizers": normalizers });
    file["pre_tokenizer"] = json!({ "type": "Sequence", "pretokenizers": splits });
    file["decoder"] = spaces;
    // Set after `TokenizersBackend.__init__`, so that here the file's template does not count.
    file["post_processor"] = around_texts(file, settings)?;
    let vocab = file["model"]["vocab"].take();
    // The class looks for the unknown token with a score of exactly zero; with another score it
    // takes the second piece.
    let unknown = json!([settings.special("unk_token"), 0.0]);
    let place = vocab
        .as_array()
        .and_then(|pieces| pieces.iter().position(|piece| *piece == unknown));
    file["model"] = unigram(vocab, place.unwrap_or(1));
    Ok(())
}

fn unigram(vocab: Value, unknown: usize) -> Value {
    json!({ "type": "Unigram", "unk_id": unknown, "vocab": vocab, "byte_fallback": false })
}

fn metaspace(scheme: &str) -> Value {
    json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": true })
}

/// The first table of characters of a normaliser, alone or in a sequence.
fn precompiled(normalizer: &Value) -> Option<Value> {
    let alone = std::slice::from_ref(normalizer);
    let parts = normalizer["normalizers"]
        .as_array()
        .map_or(alone, Vec::as_slice);
    parts
        .iter()
        .find(|part| part["type"] == "Precompiled")
        .cloned()
}

/// A class token before the first text and a separator after each.
fn around_texts(file: &Value, settings: &TokenizerSettings) -> Result<Value, PreprocessError> {
    let (class, separator) = (
        token_and_id(file, settings, "cls_token")?,
        token_and_id(file, settings, "sep_token")?,
    );
    let single = vec![
        special_piece(&class, 0),
        text_piece("A", 0),
        special_piece(&separator, 0),
    ];
    let pair = [
        single.clone(),
        vec![text_piece("B", 1), special_piece(&separator, 1)],
    ]
    .concat();
    let specials: Map<String, Value> = [&class, &separator]
        .into_iter()
        .map(|token| {
            let name = token[0].as_str().unwrap_or_default().to_owned();
            (
                name,
                json!({ "id": token[0], "ids": [token[1]], "tokens": [token[0]] }),
            )
        })
        .collect();
    Ok(
        json!({ "type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": specials }),
    )
}

/// `BertTokenizer`.
fn bert(file: &mut Value, settings: &TokenizerSettings) -> Result<(), PreprocessError> {
    word_piece(file, settings);
    file["post_processor"] = json!({
        "type": "BertProcessing",
        "sep": token_and_id(file, settings, "sep_token")?,
        "cls": token_and_id(file, settings, "cls_token")?,
    });
    Ok(())
}

/// `MPNetTokenizer`.
fn mpnet(file: &mut Value, settings: &TokenizerSettings) -> Result<(), PreprocessError> {
    word_piece(file, settings);
    // `MPNetTokenizer` passes False whatever `add_prefix_space` says.
    file["post_processor"] = roberta_ends(file, settings, false)?;
    Ok(())
}

/// The common part of the tokenizers of BERT and MPNet.
fn word_piece(file: &mut Value, settings: &TokenizerSettings) {
    file["normalizer"] = json!({
        "type": "BertNormalizer",
        "clean_text": true,
        "handle_chinese_chars": settings.split_chinese.unwrap_or(true),
        "strip_accents": settings.strip_accents,
        "lowercase": settings.lowercase.unwrap_or(true),
    });
    file["pre_tokenizer"] = json!({ "type": "BertPreTokenizer" });
    file["decoder"] = json!({ "type": "WordPiece", "prefix": "##", "cleanup": true });
    file["model"]["type"] = json!("WordPiece");
    file["model"]["unk_token"] = json!(settings.special("unk_token"));
    file["model"]["continuing_subword_prefix"] = json!("##");
    // The default of `WordPiece`, which a model in JSON must state.
    file["model"]["max_input_chars_per_word"] = json!(100);
}

/// `GPT2Tokenizer`, and what its relatives share with it: unknown bytes vanish.
fn byte_level(file: &mut Value, settings: &TokenizerSettings) {
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
fn qwen2(file: &mut Value, settings: &TokenizerSettings) {
    let mut bytes = file["pre_tokenizer"].take();
    // The split before it is the regex; GPT-2's would split its pieces again.
    bytes["use_regex"] = json!(false);
    bytes["add_prefix_space"] = json!(settings.prefix_space.unwrap_or(false));
    let split = json!({ "type": "Split", "pattern": { "Regex": QWEN2_PATTERN }, "behavior": "Isolated", "invert": false });
    file["normalizer"] = json!({ "type": "NFC" });
    file["pre_tokenizer"] = json!({ "type": "Sequence", "pretokenizers": [split, bytes] });
}

/// `RobertaTokenizer`.
fn roberta(file: &mut Value, settings: &TokenizerSettings) -> Result<(), PreprocessError> {
    file["post_processor"] = roberta_ends(file, settings, settings.prefix_space.unwrap_or(false))?;
    Ok(())
}

fn roberta_ends(
    file: &Value,
    settings: &TokenizerSettings,
    prefix_space: bool,
) -> Result<Value, PreprocessError> {
    Ok(json!({
        "type": "RobertaProcessing",
        "sep": token_and_id(file, settings, "sep_token")?,
        "cls": token_and_id(file, settings, "cls_token")?,
        "trim_offsets": true,
        "add_prefix_space": prefix_space,
    }))
}

/// `LlamaTokenizer`.
fn llama(file: &mut Value, settings: &TokenizerSettings) {
    byte_pairs(file, &json!({ "fuse_unk": true, "byte_fallback": true }));
    let prefix = settings.prefix_space.unwrap_or(true);
    let scheme = match (prefix, settings.legacy) {
        (false, _) => "never",
        (true, true) => "always",
        (true, false) => "first",
    };
    file["normalizer"] = Value::Null;
    file["pre_tokenizer"] = json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": false });
    let mut decoders = vec![
        json!({ "type": "Replace", "pattern": { "String": "▁" }, "content": " " }),
        json!({ "type": "ByteFallback" }),
        json!({ "type": "Fuse" }),
    ];
    // Removes the space that the pre-tokenizer put before the text.
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
    let within = pre_tokenizer["pretokenizers"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    pre_tokenizer["type"] == "ByteLevel" || within.iter().any(mentions_byte_level)
}

/// `[token, id]` of a special token, among the vocabulary or the added tokens.
fn token_and_id(
    file: &Value,
    settings: &TokenizerSettings,
    role: &str,
) -> Result<Value, PreprocessError> {
    let token = settings.special(role).unwrap_or_default();
    let added = file["added_tokens"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|added| added["content"] == token);
    let vocab = &file["model"]["vocab"];
    let id = added
        .map(|added| added["id"].clone())
        .or_else(|| vocab.get(token).cloned())
        .or_else(|| {
            // The vocabulary of a Unigram model is a list of pieces with scores, in the order of
            // their ids.
            vocab
                .as_array()?
                .iter()
                .position(|piece| piece[0] == token)
                .map(|place| json!(place))
        });
    id.map(|id| json!([token, id]))
        .ok_or_else(|| PreprocessError::Tokenizer {
            message: format!(
                "the vocabulary has no `{token}`; name the `{role}` in `tokenizer_config.json`"
            ),
        })
}

fn replacement(pattern: &str, content: &str) -> Value {
    json!({ "type": "Replace", "pattern": { "String": pattern }, "content": content })
}

fn special_piece(token: &Value, type_id: u32) -> Value {
    json!({ "SpecialToken": { "id": token[0], "type_id": type_id } })
}

fn text_piece(sequence: &str, type_id: u32) -> Value {
    json!({ "Sequence": { "id": sequence, "type_id": type_id } })
}

#[cfg(test)]
mod tests {
    use super::precompiled;
    use serde_json::{Value, json};

    #[test]
    fn the_table_of_characters_is_found_alone_and_in_a_sequence() {
        let table = json!({ "type": "Precompiled", "precompiled_charsmap": "" });
        let other = json!({ "type": "NFKD" });
        let sequence = |parts: &[&Value]| json!({ "type": "Sequence", "normalizers": parts });
        assert_eq!(precompiled(&table).as_ref(), Some(&table));
        assert_eq!(
            precompiled(&sequence(&[&other, &table])).as_ref(),
            Some(&table)
        );
        assert_eq!(
            [&other, &sequence(&[&other]), &Value::Null].map(precompiled),
            [None, None, None]
        );
    }
}
