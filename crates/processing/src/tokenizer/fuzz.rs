//! Fuzzing of tokenizers: `tokenizer.json` and the two configurations that decide how it is used.

use super::{PaddingSide, TextInput, TokenizeOptions, Tokenizer};
use crate::error::PreprocessError;
use std::{
    fs,
    path::{Path, PathBuf},
};
use testgen_fuzz::{Target, assert_message, scratch_directory};
use testgen_types::bounded_file::{limit, read_text};

/// The first two lines are `tokenizer_config.json` and `config.json`, the others `tokenizer.json`.
const FILES: [&str; 3] = ["tokenizer_config.json", "config.json", "tokenizer.json"];

const TEXTS: [&str; 5] = [
    "Hello, World! é e\u{301} 漢字 🦀",
    "",
    "the dog saw it",
    " \0\n\t a  b",
    "<s>[CLS] [MASK]</s>",
];

/// No tokenizer panics, whatever texts it encodes or ids it decodes; the same text always has the
/// same ids.
#[test]
fn fuzz_tokenizers() {
    let directory = scratch_directory();
    Target {
        name: "tokenizer",
        seeds: seeds(),
        dictionary: &[
            "\"type\":\"WordPiece\"",
            "\"type\":\"BPE\"",
            "\"type\":\"Unigram\"",
            "\"type\":\"ByteLevel\"",
            "\"type\":\"Metaspace\"",
            "\"tokenizer_class\": \"BertTokenizer\",",
            "\"tokenizer_class\": \"LlamaTokenizer\",",
            "\"tokenizer_class\": \"AlbertTokenizer\",",
            "\"vocab\":{",
            "\"merges\":[",
            "\"unk_id\":",
            "\"byte_fallback\":true",
            "\"Regex\":\"",
            "\"String\":\"",
            "\"pad_token\": \"<pad>\",",
            "\"padding_side\": \"left\",",
            "null",
            "\\ud800",
            "\\u0000",
            "(?=",
            "\\\\p{L}+",
            ".*",
        ],
        repair: None,
        executions: 500,
        behaviours: 20,
        check: &|bytes| {
            let mut parts = bytes.splitn(3, |byte| *byte == b'\n');
            for file in FILES {
                fs::write(
                    directory.path().join(file),
                    parts.next().unwrap_or_default(),
                )
                .expect("it can be written");
            }
            let behaviour = match Tokenizer::open(directory.path()) {
                Ok(None) => Ok("no tokenizer".to_owned()),
                Ok(Some(tokenizer)) => check_tokenizer(&tokenizer),
                Err(error) => Err(error),
            };
            behaviour.unwrap_or_else(|error| assert_message(&error.to_string()))
        },
    }
    .run();
}

fn check_tokenizer(tokenizer: &Tokenizer) -> Result<String, PreprocessError> {
    let mut tokens = 0;
    for text in TEXTS {
        let arrays = tokenizer.encode(&[text])?;
        assert_eq!(arrays, tokenizer.encode(&[text])?);
        let ids = arrays["input_ids"].as_integers().expect("ids are integers");
        assert_eq!(
            arrays["input_ids"].shape(),
            arrays["attention_mask"].shape()
        );
        tokens += ids.len();
        for skip_special in [false, true] {
            tokenizer.decode(ids, skip_special)?;
        }
        tokenizer.decode_target(ids)?;
    }
    let pair: TextInput<'_> = (TEXTS[0], Some(TEXTS[2]));
    let options = TokenizeOptions {
        padding_side: Some(PaddingSide::Left),
        max_length: Some(4),
        pad_to: Some(6),
    };
    let cut = tokenizer.tokenize(&[pair, (TEXTS[3], None)], options)?;
    assert_eq!(cut.spans.len(), 2);
    tokenizer.decode(&[0, 1, 7, 1 << 20, i64::from(u32::MAX)], true)?;
    let mask = tokenizer
        .mask_token()
        .map(|(_, id)| tokenizer.token(id).is_some());
    Ok(format!(
        "{} {:?} {:?}",
        tokens / 10,
        mask,
        tokenizer.pad_id().is_some()
    ))
}

/// The files of each fixture with a tokenizer as one input, in the order of the names.
fn seeds() -> Vec<Vec<u8>> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let entries = fs::read_dir(fixtures).expect("the fixtures can be read");
    let mut directories: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the fixtures can be read").path())
        .collect();
    directories.sort();
    directories
        .iter()
        .filter_map(|fixture| seed(fixture))
        .collect()
}

fn on_one_line(text: &str) -> String {
    text.replace('\n', " ")
}

fn seed(fixture: &Path) -> Option<Vec<u8>> {
    let [settings, model, tokenizer] =
        FILES.map(|file| read_text(&fixture.join(file), limit::TOKENIZER).ok());
    Some(
        [on_one_line(&settings?), on_one_line(&model?), tokenizer?]
            .join("\n")
            .into_bytes(),
    )
}
