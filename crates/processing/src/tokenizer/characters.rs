//! The vocabulary of a `VitsTokenizer`: a token for each character, between blanks.
//!
//! transformers has no backend for it. The one that is built here knows the tokens; texts are split
//! here.

use super::{
    class::TokenizerClass,
    encode::{TextInput, failed},
    guarded::guarded,
    settings::TokenizerSettings,
};
use crate::{config_file::ConfigFile, error::PreprocessError};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, path::Path};
use tokenizers::{Encoding, Token, Tokenizer};

/// The settings of the tokenizer, and the ids of its characters.
#[derive(Debug)]
pub(super) struct Characters {
    /// The tokens of `vocab.json` by their text.
    ids: BTreeMap<String, u32>,
    /// The unknown and the padding token, which separate the texts before and after them.
    special: Vec<(String, u32)>,
    unknown: u32,
    add_blank: bool,
    normalize: bool,
    /// Whether a letter of Romanian has another code in the vocabulary.
    is_romanian: bool,
}

impl Characters {
    /// The backend and the vocabulary in `directory`, or `None` if its tokenizer has another
    /// class.
    pub(super) fn open(
        directory: &Path,
        settings: &TokenizerSettings,
    ) -> Result<Option<(Tokenizer, Self)>, PreprocessError> {
        if settings.class != TokenizerClass::Vits {
            return Ok(None);
        }
        let Some(file) = ConfigFile::read(directory, "vocab.json")? else {
            return Ok(None);
        };
        let config = ConfigFile::read_or_empty(directory, "tokenizer_config.json")?;
        // Each needs a package of Python. The defaults are those of the class.
        for (field, default) in [("phonemize", true), ("is_uroman", false)] {
            if config.flag(field)?.unwrap_or(default) {
                let hint = "testgen does not apply it; set it to false if the model does without";
                return Err(config.wrong(field, "is true", hint));
            }
        }
        let ids = ids(&file)?;
        let mut all = ids.clone();
        let roles = ["unk_token", "pad_token"].map(|role| settings.special(role));
        let special = roles.into_iter().flatten().map(|token| {
            // A token that the vocabulary lacks comes after it.
            let next = all.len() as u32;
            (
                token.to_owned(),
                *all.entry(token.to_owned()).or_insert(next),
            )
        });
        let special: Vec<(String, u32)> = special.collect();
        let found = Self {
            unknown: special.first().map_or(0, |(_, id)| *id),
            special,
            ids,
            // The defaults of `VitsTokenizer`, which has a rule for Romanian alone.
            add_blank: config.flag("add_blank")?.unwrap_or(true),
            normalize: config.flag("normalize")?.unwrap_or(true),
            is_romanian: config.text("language")? == Some("ron"),
        };
        Ok(Some((backend(&all, settings.special("unk_token"))?, found)))
    }

    /// The tokens of a text, at most `longest`.
    pub(super) fn encode(&self, input: &TextInput<'_>, longest: Option<usize>) -> Encoding {
        let texts = [Some(input.0), input.1];
        let ids = texts
            .into_iter()
            .flatten()
            .flat_map(|text| self.ids_of(&self.prepared(text)));
        let tokens = ids.take(longest.unwrap_or(usize::MAX));
        Encoding::from_tokens(
            tokens
                .map(|id| Token::new(id, String::new(), (0, 0)))
                .collect(),
            0,
        )
    }

    /// The text in small letters without what the vocabulary lacks.
    fn prepared(&self, text: &str) -> String {
        if !self.normalize {
            return self.spelled(text);
        }
        let mut small = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let known = self
                .ids
                .keys()
                .chain(self.special.iter().map(|(token, _)| token));
            // The longest, as in a vocabulary whose tokens are characters and `<unk>`.
            let token = known.filter(|token| !token.is_empty() && rest.starts_with(token.as_str()));
            match token.max_by_key(|token| token.len()) {
                Some(token) => {
                    small.push_str(token);
                    rest = &rest[token.len()..];
                }
                None => {
                    small.extend(first.to_lowercase());
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        let kept = self.spelled(&small);
        let kept: String = kept
            .chars()
            .filter(|letter| self.id(*letter).is_some())
            .collect();
        kept.trim().to_owned()
    }

    fn spelled(&self, text: &str) -> String {
        if self.is_romanian {
            text.replace('\u{21b}', "\u{163}")
        } else {
            text.to_owned()
        }
    }

    fn id(&self, letter: char) -> Option<u32> {
        self.ids
            .get(letter.encode_utf8(&mut [0; 4]) as &str)
            .copied()
    }

    /// The ids of a text: special tokens, and the letters between them with their blanks.
    fn ids_of(&self, text: &str) -> Vec<u32> {
        let (mut ids, mut letters, mut rest) = (Vec::new(), Vec::new(), text);
        while let Some(first) = rest.chars().next() {
            let special = self
                .special
                .iter()
                .find(|(token, _)| rest.starts_with(token.as_str()));
            let length = match special {
                Some((token, id)) => {
                    self.append(&mut letters, &mut ids);
                    ids.push(*id);
                    token.len()
                }
                None => {
                    letters.push(self.id(first).unwrap_or(self.unknown));
                    first.len_utf8()
                }
            };
            // An empty token would be found again and again.
            rest = &rest[length.max(first.len_utf8())..];
        }
        self.append(&mut letters, &mut ids);
        ids
    }

    /// Moves letters to `ids`, each after a blank, and a last blank.
    fn append(&self, letters: &mut Vec<u32>, ids: &mut Vec<u32>) {
        if letters.is_empty() || !self.add_blank {
            ids.append(letters);
            return;
        }
        // The blank is token 0.
        ids.extend(letters.drain(..).flat_map(|letter| [0, letter]));
        ids.push(0);
    }
}

/// The tokens of `vocab.json`.
fn ids(file: &ConfigFile) -> Result<BTreeMap<String, u32>, PreprocessError> {
    let numbered = file.fields().map(|(token, id)| {
        let number = id.as_u64().and_then(|id| u32::try_from(id).ok());
        let number = number.ok_or_else(|| file.not_a(token, "a token id", id))?;
        Ok((token.to_owned(), number))
    });
    numbered.collect()
}

/// A backend with these tokens.
fn backend(
    tokens: &BTreeMap<String, u32>,
    unknown: Option<&str>,
) -> Result<Tokenizer, PreprocessError> {
    let vocabulary: Map<String, Value> = tokens
        .iter()
        .map(|(token, id)| (token.clone(), json!(id)))
        .collect();
    let unknown = unknown.unwrap_or_default();
    let model = json!({ "type": "WordLevel", "vocab": vocabulary, "unk_token": unknown });
    let file = json!({ "version": "1.0", "added_tokens": [], "model": model });
    guarded(|| Tokenizer::from_bytes(file.to_string())).map_err(|message| failed(&message))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use crate::tokenizer::Tokenizer;
    use serde_json::{Value, json};
    use std::fs;

    fn tokenizer(vocabulary: &Value, changes: &[(&str, Value)]) -> Tokenizer {
        let directory = tempfile::tempdir().unwrap();
        let mut config = json!({
            "tokenizer_class": "VitsTokenizer", "phonemize": false, "pad_token": "k",
        });
        for (field, value) in changes {
            config[*field] = value.clone();
        }
        for (name, value) in [
            ("vocab.json", vocabulary),
            ("tokenizer_config.json", &config),
        ] {
            fs::write(directory.path().join(name), value.to_string()).unwrap();
        }
        Tokenizer::open(directory.path()).unwrap().unwrap()
    }

    fn ids(tokenizer: &Tokenizer, text: &str) -> Vec<i64> {
        tokenizer.encode(&[text]).unwrap()["input_ids"]
            .as_integers()
            .unwrap()
            .to_vec()
    }

    /// Expected ids are from `VitsTokenizer` (transformers 5.23).
    #[test]
    fn characters_are_between_blanks_and_special_tokens_separate_texts() {
        let letters = json!({ "k": 0, " ": 1, "a": 2, "b": 3 });
        let blanks = tokenizer(&letters, &[]);
        assert_eq!(ids(&blanks, " Ab cB!"), [0, 2, 0, 3, 0, 1, 0, 3, 0]);
        assert_eq!(ids(&blanks, "<unk>k"), [0, 0]);
        assert_eq!(ids(&blanks, "a<unk>\tb\n"), [0, 2, 0, 0, 0, 3, 0]);
        assert_eq!(blanks.id("<unk>"), Some(4));
        let other = tokenizer(&letters, &[("pad_token", json!("<pad>"))]);
        assert_eq!(
            (ids(&other, "<unk>k"), other.pad_id()),
            (vec![0; 5], Some(5))
        );
    }

    #[test]
    fn blanks_and_small_letters_are_settings() {
        let letters = json!({ "k": 0, " ": 1, "a": 2, "B": 3 });
        let dense = tokenizer(&letters, &[("add_blank", json!(false))]);
        assert_eq!(ids(&dense, " Ab cB!"), [2, 1, 3]);
        let written = tokenizer(&letters, &[("normalize", json!(false))]);
        let expected = [0, 1, 0, 4, 0, 4, 0, 1, 0, 4, 0, 3, 0, 4, 0];
        assert_eq!(ids(&written, " Ab cB!"), expected);
        assert_eq!(ids(&written, "<unk>k"), [4, 0]);
    }

    #[test]
    fn a_step_that_needs_a_package_of_python_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("vocab.json"), "{\"a\": 0}").unwrap();
        let config = "{\"tokenizer_class\": \"VitsTokenizer\"}";
        fs::write(directory.path().join("tokenizer_config.json"), config).unwrap();
        let error = Tokenizer::open(directory.path()).unwrap_err().to_string();
        assert!(error.contains("`phonemize` is true"), "{error}");
    }
}
