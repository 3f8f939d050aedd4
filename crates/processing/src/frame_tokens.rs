//! The vocabulary of a `Wav2Vec2CTCTokenizer`, and how the tokens of frames become text.

use crate::{config_file::ConfigFile, error::PreprocessError};
use std::{collections::BTreeMap, path::Path};

/// One token for each frame; repeated tokens are separated by the pad token.
#[derive(Debug)]
pub struct FrameTokens {
    tokens: BTreeMap<i64, String>,
    pad: String,
    delimiter: String,
}

/// The name of the class in `tokenizer_config.json`.
pub(crate) const CLASS: &str = "Wav2Vec2CTCTokenizer";

impl FrameTokens {
    /// Reads the files in `directory`, or `None` if it has another tokenizer.
    pub fn open(directory: &Path) -> Result<Option<Self>, PreprocessError> {
        let settings = ConfigFile::read_or_empty(directory, "tokenizer_config.json")?;
        // `vocab.json` alone does not decide: tokenizers with byte pairs have a file of that name,
        // too.
        if settings.text("tokenizer_class")? != Some(CLASS) {
            return Ok(None);
        }
        let Some(vocabulary) = ConfigFile::read(directory, "vocab.json")? else {
            return Ok(None);
        };
        let mut tokens = BTreeMap::new();
        for (token, id) in vocabulary.fields() {
            let id = id
                .as_i64()
                .ok_or_else(|| vocabulary.not_a(token, "a token id", id))?;
            tokens.insert(id, token.to_owned());
        }
        let (pad, delimiter) = (
            token_content("pad_token", "<pad>", &settings),
            token_content("word_delimiter_token", "|", &settings),
        );
        Ok(Some(Self {
            tokens,
            pad,
            delimiter,
        }))
    }

    /// The text of one token per frame: repeated ones count once, the pad token is left out; other
    /// special tokens stay, as in the pipeline of transformers.
    pub fn decode(&self, ids: &[i64]) -> String {
        let mut text = String::new();
        for (place, id) in ids.iter().enumerate() {
            // Compared with the previous frame and not with the previous token
            // of the text: padding between equal letters keeps both.
            let Some(token) = self
                .tokens
                .get(id)
                .filter(|_| place == 0 || ids[place - 1] != *id)
            else {
                continue;
            };
            if *token == self.delimiter {
                text.push(' ');
            } else if *token != self.pad {
                text.push_str(token);
            }
        }
        text.trim().to_owned()
    }
}

fn token_content(role: &str, default: &str, settings: &ConfigFile) -> String {
    let value = settings.get(role);
    // Either a string or the object that an `AddedToken` is saved as.
    let content = value.and_then(|value| value.as_str().or_else(|| value.get("content")?.as_str()));
    content.unwrap_or(default).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_tokens_count_once_unless_padding_separates_them() {
        let tokens = [(0, "<pad>"), (1, "<s>"), (2, "|"), (3, "a"), (4, "b")];
        let vocabulary = FrameTokens {
            tokens: tokens
                .into_iter()
                .map(|(id, token)| (id, token.to_owned()))
                .collect(),
            pad: "<pad>".to_owned(),
            delimiter: "|".to_owned(),
        };
        assert_eq!(vocabulary.decode(&[1, 3, 3, 0, 3, 2, 2, 4, 0]), "<s>aa b");
    }
}
