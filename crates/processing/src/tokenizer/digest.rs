//! The digest of a tokenizer's vocabulary, as the recorder computes it
//! (`python/record/vocabulary.py`).

use super::{Tokenizer, encode::failed};
use crate::error::PreprocessError;
use serde_json::Value;
use sha2::{Digest, Sha256};

impl Tokenizer {
    /// SHA-256, in hexadecimal, of every token with its id, of the merges in order and of the
    /// scores of pieces.
    ///
    /// Recorded texts use a small part of a vocabulary; two tokenizers with the same digest also
    /// agree on the rest of it.
    pub fn vocabulary_digest(&self) -> Result<String, PreprocessError> {
        let mut state = Sha256::new();
        for (id, token) in self.vocabulary() {
            update(
                &mut state,
                &[b"token", id.to_string().as_bytes(), token.as_bytes()],
            );
        }
        match &self.translation {
            // The recorder's Marian tokenizer has no backend, so neither merges nor scores.
            Some(translation) => {
                for (id, token) in translation.separate_target() {
                    update(
                        &mut state,
                        &[b"target", id.to_string().as_bytes(), token.as_bytes()],
                    );
                }
            }
            None => {
                let model = serde_json::to_value(self.backend.get_model())
                    .map_err(|error| failed(&error.to_string()))?;
                merges(&mut state, &model["merges"]);
                scores(&mut state, &model["vocab"]);
            }
        }
        Ok(state
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect())
    }

    /// Every token with its id, by id.
    fn vocabulary(&self) -> Vec<(i64, String)> {
        let mut entries: Vec<(i64, String)> = match &self.translation {
            Some(translation) => translation
                .source()
                .map(|(id, token)| (id, token.to_owned()))
                .collect(),
            None => self
                .backend
                .get_vocab(true)
                .into_iter()
                .map(|(token, id)| (i64::from(id), token))
                .collect(),
        };
        // `get_vocab` returns a hash map, whose order is not defined.
        entries.sort_unstable();
        entries
    }
}

/// The merges of byte-pair encoding: two pieces, or a text with a space between them in older
/// files.
fn merges(state: &mut Sha256, merges: &Value) {
    for merge in merges.as_array().into_iter().flatten() {
        let parts: Vec<&str> = match merge.as_str() {
            Some(text) => text.split(' ').collect(),
            None => merge
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect(),
        };
        let fields: Vec<&[u8]> = std::iter::once("merge")
            .chain(parts)
            .map(str::as_bytes)
            .collect();
        update(state, &fields);
    }
}

/// The pieces of a Unigram model, whose vocabulary is a list with scores.
fn scores(state: &mut Sha256, vocabulary: &Value) {
    for entry in vocabulary.as_array().into_iter().flatten() {
        let (piece, score) = (
            entry[0].as_str().unwrap_or_default(),
            entry[1].as_f64().unwrap_or_default(),
        );
        // In 32 bits: parsers of JSON differ in the last bit of 64.
        update(
            state,
            &[b"score", piece.as_bytes(), &(score as f32).to_le_bytes()],
        );
    }
}

/// Adds fields, each with its length.
fn update(state: &mut Sha256, fields: &[&[u8]]) {
    // With the lengths, no two lists of fields are the same bytes.
    for field in fields {
        state.update((field.len() as u64).to_le_bytes());
        state.update(field);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use crate::tokenizer::Tokenizer;
    use serde_json::Value;
    use std::{fs, path::Path};

    /// The digest of the tokenizer of a fixture after a change of `tokenizer.json`.
    fn digest(name: &str, change: impl FnOnce(&mut Value)) -> String {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures")
            .join(name);
        let directory = tempfile::tempdir().unwrap();
        for file in ["config.json", "tokenizer_config.json"] {
            fs::copy(fixture.join(file), directory.path().join(file)).unwrap();
        }
        let mut file =
            serde_json::from_slice(&fs::read(fixture.join("tokenizer.json")).unwrap()).unwrap();
        change(&mut file);
        fs::write(directory.path().join("tokenizer.json"), file.to_string()).unwrap();
        Tokenizer::open(directory.path())
            .unwrap()
            .unwrap()
            .vocabulary_digest()
            .unwrap()
    }

    fn exchange_ids(file: &mut Value) {
        let vocabulary = file["model"]["vocab"].as_object_mut().unwrap();
        let mut tokens: Vec<String> = vocabulary.keys().cloned().collect();
        let (first, second) = (tokens.pop().unwrap(), tokens.pop().unwrap());
        let id = vocabulary
            .insert(first, vocabulary[&second].clone())
            .unwrap();
        vocabulary.insert(second, id);
    }

    #[test]
    fn a_changed_vocabulary_has_another_digest() {
        let unchanged = |_: &mut Value| ();
        assert_ne!(digest("bert", unchanged), digest("bert", exchange_ids));
        let exchange_merges =
            |file: &mut Value| file["model"]["merges"].as_array_mut().unwrap().swap(1, 2);
        assert_ne!(digest("llama", unchanged), digest("llama", exchange_merges));
        let change_score = |file: &mut Value| file["model"]["vocab"][5][1] = (-3.5).into();
        assert_ne!(digest("t5", unchanged), digest("t5", change_score));
    }

    #[test]
    fn another_form_of_the_same_vocabulary_has_the_same_digest() {
        let as_text = |file: &mut Value| {
            for merge in file["model"]["merges"].as_array_mut().unwrap() {
                *merge = format!(
                    "{} {}",
                    merge[0].as_str().unwrap(),
                    merge[1].as_str().unwrap()
                )
                .into();
            }
        };
        assert_eq!(digest("llama", |_| ()), digest("llama", as_text));
    }
}
