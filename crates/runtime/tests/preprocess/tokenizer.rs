//! Texts become the ids of transformers, and ids become texts.

use crate::{directory_with, fixture, recorded, tensors::Tensors};
use serde_json::Value;
use std::fs;
use testgen_runtime::{PaddingSide, TextInput, TokenizeOptions, Tokenizer};

fn open(name: &str) -> Tokenizer {
    Tokenizer::open(&fixture(name)).unwrap().unwrap()
}

fn integers(value: &Value) -> Vec<i64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_i64().unwrap())
        .collect()
}

fn ids(tokenizer: &Tokenizer, text: &str) -> Vec<i64> {
    tokenizer.encode(&[text]).unwrap()["input_ids"]
        .as_integers()
        .unwrap()
        .to_vec()
}

fn records() -> Vec<Value> {
    serde_json::from_slice(&fs::read(recorded("texts.json")).unwrap()).unwrap()
}

#[test]
fn fixtures_equal_their_goldens() {
    let mut compared = 0;
    for entry in fs::read_dir(fixture("")).unwrap() {
        let directory = entry.unwrap().path();
        let Ok(Some(tokenizer)) = Tokenizer::open(&directory) else {
            continue;
        };
        let golden = Tensors::read(&directory.join("golden.safetensors"));
        // Recordings and images beside prompts have no recorded text.
        let Some(texts) = golden.metadata.get("text") else {
            continue;
        };
        let texts: Vec<String> = serde_json::from_str(texts).unwrap();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let inputs: Vec<TextInput<'_>> = texts.iter().map(|text| (*text, None)).collect();
        let pad_to = golden.arrays["input.input_ids"].shape()[1];
        let options = TokenizeOptions {
            padding_side: Some(PaddingSide::Right),
            pad_to: Some(pad_to),
            max_length: None,
        };
        let arrays = tokenizer.tokenize(&inputs, options).unwrap().arrays;
        for name in ["input_ids", "attention_mask"]
            .into_iter()
            .filter(|name| golden.arrays.contains_key(&format!("input.{name}")))
        {
            assert_eq!(
                arrays[name],
                golden.arrays[&format!("input.{name}")],
                "{name} of {}",
                directory.display()
            );
        }
        // Goldens of models with two types have both, whatever the tokenizer returns.
        let types = golden.arrays.contains_key("input.token_type_ids");
        assert!(
            types || !arrays.contains_key("token_type_ids"),
            "token types of {}",
            directory.display()
        );
        compared += 1;
    }
    assert!(compared >= 8, "only {compared} fixtures have texts");
}

#[test]
fn texts_pairs_and_cuts_equal_transformers() {
    let records = records();
    assert_eq!(records.len(), 95);
    for record in &records {
        let name = record["fixture"].as_str().unwrap();
        let tokenizer = with_config(name, record["config"].as_str().unwrap());
        let text = record["text"].as_str().unwrap();
        assert_eq!(
            ids(&tokenizer, text),
            integers(&record["ids"]),
            "{name}: {text}"
        );
        let pair = tokenizer.encode_pairs(&[("the dog", text)]).unwrap();
        assert_eq!(
            pair["input_ids"].as_integers().unwrap(),
            integers(&record["pair"]),
            "{name}: {text}"
        );
        // The model of the other fixtures has one type or none.
        if ["albert", "bert", "electra"].contains(&name) {
            let types = pair.get("token_type_ids");
            let types = types.map(|types| types.as_integers().unwrap().to_vec());
            let recorded = &record["pair_types"];
            let recorded = (!recorded.is_null()).then(|| integers(recorded));
            assert_eq!(types, recorded, "{name}: {text}");
        }
        let options = TokenizeOptions {
            max_length: Some(8),
            ..TokenizeOptions::default()
        };
        let cut = tokenizer.tokenize(&[(text, None)], options).unwrap();
        assert_eq!(
            cut.arrays["input_ids"].as_integers().unwrap(),
            integers(&record["cut"]),
            "{name}: {text}"
        );
        let decoded = |skip| tokenizer.decode(&integers(&record["ids"]), skip).unwrap();
        assert_eq!(
            decoded(false),
            record["decoded"].as_str().unwrap(),
            "{name}"
        );
        assert_eq!(
            decoded(true),
            record["decoded_plain"].as_str().unwrap(),
            "{name}"
        );
    }
}

#[test]
fn rows_are_padded_on_the_side_asked_for() {
    let tokenizer = open("bert");
    let rows = |side| tokenizer.encode_padded(&["the", "the dog"], side).unwrap();
    let (left, right) = (rows(PaddingSide::Left), rows(PaddingSide::Right));
    assert_eq!(
        left["attention_mask"].as_integers().unwrap(),
        [0, 1, 1, 1, 1, 1, 1, 1]
    );
    assert_eq!(
        right["attention_mask"].as_integers().unwrap(),
        [1, 1, 1, 0, 1, 1, 1, 1]
    );
    assert_eq!(left["input_ids"].as_integers().unwrap()[0], 0);
    assert_eq!(left["input_ids"].shape(), [2, 4]);
}

#[test]
fn spans_say_where_tokens_come_from() {
    let batch = open("bert")
        .tokenize(
            &[("é dog", Some("the the")), ("a", Some("b"))],
            TokenizeOptions::default(),
        )
        .unwrap();
    let found: Vec<_> = batch.spans[0]
        .iter()
        .map(|span| (span.start, span.end, span.sequence))
        .collect();
    let expected = [
        (0, 0, None),
        (0, 2, Some(0)),
        (3, 6, Some(0)),
        (0, 0, None),
        (0, 3, Some(1)),
        (4, 7, Some(1)),
        (0, 0, None),
    ];
    assert_eq!(found, expected);
    assert_eq!(batch.spans[0][5].word, Some(1));
    assert_eq!(batch.spans[1].len(), 7);
    assert_eq!(batch.spans[1][6].sequence, None);
}

/// The files of a fixture's tokenizer, with another `tokenizer_config.json`.
fn with_config(name: &str, config: &str) -> Tokenizer {
    let json = fs::read_to_string(fixture(name).join("tokenizer.json")).unwrap();
    let model = fs::read_to_string(fixture(name).join("config.json")).unwrap();
    let directory = directory_with(&[
        ("tokenizer.json", &json),
        ("tokenizer_config.json", config),
        ("config.json", &model),
    ]);
    Tokenizer::open(directory.path()).unwrap().unwrap()
}

#[test]
fn the_configuration_is_followed() {
    let cased = with_config(
        "bert",
        r#"{"tokenizer_class": "BertTokenizer", "do_lower_case": false}"#,
    );
    assert_ne!(ids(&cased, "The"), ids(&open("bert"), "The"));
    let left = with_config(
        "qwen2",
        r#"{"pad_token": "<|endoftext|>", "padding_side": "left", "model_max_length": 12}"#,
    );
    assert_eq!(
        left.encode(&["a", "a b c"]).unwrap()["attention_mask"]
            .as_integers()
            .unwrap()[0],
        0
    );
    assert_eq!(left.max_length(), Some(12));
    let added = with_config(
        "qwen2",
        r#"{"pad_token": "<|endoftext|>", "mask_token": {"content": "<hole>"}}"#,
    );
    let (token, id) = added.mask_token().unwrap();
    assert_eq!(
        (token, ids(&added, "a<hole>").last()),
        ("<hole>", Some(&id))
    );
    let lone = with_config("llama", "{}");
    assert!(lone.encode(&["the"]).is_ok());
    assert!(
        lone.encode(&["the", "the dog"])
            .unwrap_err()
            .to_string()
            .contains("pad")
    );
}

#[test]
fn spaces_are_cleaned_up_where_the_checkpoint_says_so() {
    for record in &records() {
        let name = record["fixture"].as_str().unwrap();
        let config = record["config"].as_str().unwrap().replacen(
            '{',
            r#"{"clean_up_tokenization_spaces": true, "#,
            1,
        );
        let tokenizer = with_config(name, &config);
        let cleaned = tokenizer.decode(&integers(&record["ids"]), true).unwrap();
        assert_eq!(cleaned, record["cleaned"].as_str().unwrap(), "{name}");
    }
}

#[test]
fn vocabulary_files_of_older_checkpoints_give_the_same_ids() {
    for (name, special) in [
        ("bert", "[MASK] it"),
        ("roberta", "<mask> it</s>"),
        ("gpt2", "it<|endoftext|>"),
        ("qwen2", "it<|im_end|>"),
    ] {
        let model: Value =
            serde_json::from_slice(&fs::read(fixture(name).join("tokenizer.json")).unwrap())
                .unwrap();
        let vocabulary = model["model"]["vocab"].as_object().unwrap();
        let mut lines: Vec<(&String, i64)> = vocabulary
            .iter()
            .map(|(token, id)| (token, id.as_i64().unwrap()))
            .collect();
        lines.sort_by_key(|(_, id)| *id);
        let lines: Vec<&str> = lines.into_iter().map(|(token, _)| token.as_str()).collect();
        let merges = model["model"]["merges"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let merge = |merge: &Value| {
            merge
                .as_array()
                .unwrap()
                .iter()
                .map(|part| part.as_str().unwrap())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let merges: Vec<String> = merges.iter().map(merge).collect();
        let config = format!(r#"{{"model_type": "{name}", "type_vocab_size": 1}}"#);
        let settings = if name == "qwen2" {
            r#"{"eos_token": "<|im_end|>"}"#
        } else {
            "{}"
        };
        let directory = match name {
            "bert" => directory_with(&[("vocab.txt", &lines.join("\n")), ("config.json", &config)]),
            _ => directory_with(&[
                ("vocab.json", &model["model"]["vocab"].to_string()),
                (
                    "merges.txt",
                    &format!("#version: 0.2\n{}\n", merges.join("\n")),
                ),
                ("config.json", &config),
                ("tokenizer_config.json", settings),
            ]),
        };
        let older = Tokenizer::open(directory.path()).unwrap().unwrap();
        for text in [
            "The dog isn't here, Über.",
            "it is so: 1989! the other",
            special,
        ] {
            assert_eq!(ids(&older, text), ids(&open(name), text), "{name}: {text}");
        }
        fs::write(
            directory.path().join("tokenizer_config.json"),
            r#"{"add_bos_token": true}"#,
        )
        .unwrap();
        let started = Tokenizer::open(directory.path()).unwrap().unwrap();
        if name == "gpt2" {
            assert_eq!(ids(&started, "it"), [vec![0], ids(&older, "it")].concat());
        }
    }
}
