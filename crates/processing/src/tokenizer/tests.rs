//! Settings and files that the tokenizers of the fixtures do not have.

use super::{TokenizeOptions, Tokenizer};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// The tokenizer of a fixture after `change` of its `tokenizer.json`, with other settings beside
/// it.
fn changed(fixture: &str, settings: &Value, change: impl FnOnce(&mut Value)) -> Tokenizer {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(fixture);
    let directory = tempfile::tempdir().unwrap();
    fs::copy(
        fixture.join("config.json"),
        directory.path().join("config.json"),
    )
    .unwrap();
    let mut file =
        serde_json::from_slice(&fs::read(fixture.join("tokenizer.json")).unwrap()).unwrap();
    change(&mut file);
    fs::write(directory.path().join("tokenizer.json"), file.to_string()).unwrap();
    fs::write(
        directory.path().join("tokenizer_config.json"),
        settings.to_string(),
    )
    .unwrap();
    Tokenizer::open(directory.path()).unwrap().unwrap()
}

fn with(fixture: &str, settings: &Value) -> Tokenizer {
    changed(fixture, settings, |_| ())
}

/// The tokenizer of a directory with these files.
fn tokenizer(files: &[(&str, &str)]) -> Tokenizer {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    Tokenizer::open(directory.path()).unwrap().unwrap()
}

fn ids(tokenizer: &Tokenizer, text: &str) -> Vec<i64> {
    tokenizer.encode(&[text]).unwrap()["input_ids"]
        .as_integers()
        .unwrap()
        .to_vec()
}

#[test]
fn the_padding_id_is_that_of_the_token() {
    let tokenizer = with("bert", &json!({ "pad_token": "[MASK]" }));
    let id = tokenizer.id("[MASK]").unwrap();
    assert!(id > 1, "other than the ids of a guess");
    assert_eq!(tokenizer.pad_id(), Some(id));
    assert_eq!(with("llama", &json!({})).pad_id(), None);
}

#[test]
fn rows_are_cut_on_the_side_of_the_settings() {
    let options = TokenizeOptions {
        max_length: Some(4),
        ..TokenizeOptions::default()
    };
    let cut = |side: &str| {
        let tokenizer = with("bert", &json!({ "truncation_side": side }));
        let row = tokenizer
            .tokenize(&[("the dog saw it", None)], options)
            .unwrap();
        (
            row.arrays["input_ids"].as_integers().unwrap().to_vec(),
            ids(&tokenizer, "the dog"),
            ids(&tokenizer, "saw it"),
        )
    };
    let (row, first, last) = cut("right");
    assert_eq!((&row, row == last), (&first, false));
    let (row, first, last) = cut("left");
    assert_eq!((&row, row == first), (&last, false));
}

fn has_token_types(settings: &Value) -> bool {
    let encoded = with("bert", settings).encode(&["the dog"]).unwrap();
    encoded.contains_key("token_type_ids")
}

#[test]
fn token_types_are_read_where_the_names_of_the_inputs_have_them() {
    for (names, expected) in [
        (
            json!(["input_ids", "token_type_ids", "attention_mask"]),
            true,
        ),
        (json!(["input_ids", "attention_mask"]), false),
    ] {
        for class in ["BertTokenizer", "TokenizersBackend"] {
            let settings = json!({ "tokenizer_class": class, "model_input_names": names });
            assert_eq!(has_token_types(&settings), expected, "{settings}");
        }
    }
}

/// Expected values are from `AutoTokenizer` (transformers 5.23).
#[test]
fn without_names_of_the_inputs_the_class_decides_about_token_types() {
    for (class, expected) in [
        ("BertTokenizerFast", true),
        ("DebertaV2Tokenizer", true),
        ("ElectraTokenizer", true),
        ("TokenizersBackend", false),
        ("PreTrainedTokenizerFast", false),
        ("AlbertTokenizer", false),
        ("DistilBertTokenizer", false),
        ("RobertaTokenizer", false),
    ] {
        let settings = json!({ "tokenizer_class": class });
        assert_eq!(has_token_types(&settings), expected, "{class}");
    }
    assert!(has_token_types(&json!({})), "the class of the model type");
}

#[test]
fn tokens_without_a_role_are_one_token() {
    for settings in [
        json!({ "additional_special_tokens": ["<first>"] }),
        json!({ "added_tokens_decoder": { "400": { "content": "<first>" } } }),
    ] {
        let tokenizer = with("qwen2", &settings);
        let id = tokenizer.id("<first>").unwrap();
        assert_eq!(ids(&tokenizer, "it<first>").last(), Some(&id), "{settings}");
    }
}

#[test]
fn special_tokens_are_matched_as_they_are_written_and_left_out() {
    let tokenizer = with("bert", &json!({ "mask_token": { "content": "<HOLE>" } }));
    let (token, id) = tokenizer.mask_token().unwrap();
    assert_eq!(token, "<HOLE>");
    assert!(ids(&tokenizer, "the <HOLE>").contains(&id));
    assert!(
        !ids(&tokenizer, "the <hole>").contains(&id),
        "its letters are not lowered before it is matched"
    );
    let with_token = [ids(&tokenizer, "the dog"), vec![id]].concat();
    assert_eq!(
        tokenizer.decode(&with_token, true).unwrap(),
        tokenizer.decode(&ids(&tokenizer, "the dog"), true).unwrap()
    );
}

#[test]
fn mpnet_replaces_all_but_the_vocabulary() {
    let settings = json!({ "tokenizer_class": "MPNetTokenizer" });
    let damaged = changed("mpnet", &settings, |file| {
        file["normalizer"] = Value::Null;
        file["post_processor"] = Value::Null;
    });
    let whole = with("mpnet", &settings);
    assert_eq!(ids(&damaged, "The dog"), ids(&whole, "the dog"));
    assert_eq!(
        ids(&damaged, "the dog").len(),
        4,
        "two words and a token at each end"
    );
}

#[test]
fn the_question_encoder_of_rag_has_the_class_of_bert() {
    let words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "dog"].join("\n");
    let tokenizer = tokenizer(&[
        ("vocab.txt", &words),
        ("config.json", r#"{"model_type": "dpr"}"#),
    ]);
    assert_eq!(ids(&tokenizer, "The dog"), [2, 5, 6, 3]);
}

/// Llama 3 and its relatives name the class of Llama 1.
#[test]
fn pieces_of_bytes_stay_although_the_class_is_that_of_llama() {
    let class = |name: &str| json!({ "tokenizer_class": name });
    for fixture in ["gpt2", "qwen2"] {
        let (named, generic) = (
            with(fixture, &class("LlamaTokenizer")),
            with(fixture, &class("TokenizersBackend")),
        );
        let text = "the dog saw it, Über";
        assert_eq!(ids(&named, text), ids(&generic, text), "{fixture}");
    }
}

#[test]
fn a_token_at_the_ends_may_be_a_piece_only() {
    for (fixture, class) in [
        ("albert", "AlbertTokenizer"),
        ("deberta_v2", "DebertaV2Tokenizer"),
    ] {
        let settings = json!({ "tokenizer_class": class });
        let pieces = changed(fixture, &settings, |file| {
            file["added_tokens"] = json!([]);
            file["post_processor"] = Value::Null;
        });
        assert_eq!(
            ids(&pieces, "the dog"),
            ids(&with(fixture, &settings), "the dog"),
            "{fixture}"
        );
    }
}

#[test]
fn empty_lines_among_merges_are_skipped() {
    let vocabulary = r#"{"<|endoftext|>": 0, "i": 1, "t": 2, "it": 3}"#;
    let files = |merges| {
        [
            ("vocab.json", vocabulary),
            ("merges.txt", merges),
            ("config.json", r#"{"model_type": "gpt2"}"#),
        ]
    };
    assert_eq!(
        ids(&tokenizer(&files("#version: 0.2\n\ni t\n\n")), "it"),
        [3]
    );
}

#[test]
fn tokens_of_words_have_the_number_of_their_word() {
    let tokenizer = with("bert", &json!({ "sep_token": "[SEP]" }));
    let pair = (vec!["saw", "it"], vec!["words", "dog"]);
    let batch = tokenizer.tokenize_words(vec![pair]).unwrap();
    let words = |sequence| -> Vec<Option<u32>> {
        let tokens = batch.tokens_of(0, sequence).into_iter();
        tokens.map(|token| batch.spans[0][token].word).collect()
    };
    assert_eq!(words(0), [Some(0), Some(1)]);
    // `words` is `wor` and `##ds`.
    assert_eq!(words(1), [Some(0), Some(0), Some(1)]);
    let separator = tokenizer.special_id("sep_token");
    let ids = batch.arrays["input_ids"].as_integers().unwrap();
    assert_eq!(ids.last().copied(), separator);
    assert_eq!(tokenizer.special_id("bos_token"), None);
}
