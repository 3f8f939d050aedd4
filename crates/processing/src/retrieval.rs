//! The passages of an index, and the two tokenizers of question and generator: a question's ids
//! become the texts that a generator reads.
//!
//! Follows `RagRetriever` of transformers (`__call__`, `postprocess_docs`). Does not own the
//! search, which is the model's, on its device.

use crate::{
    config_file::{ConfigFile, read_text},
    error::PreprocessError,
    tokenizer::{TextInput, TokenizeOptions, Tokenizer},
};
use serde::Deserialize;
use std::path::Path;
use testgen_nn::array::Arrays;
use testgen_types::{bounded_file::limit, excerpt};

/// The file of the embeddings of all passages, beside the weights; the model searches it.
pub const EMBEDDINGS: &str = "passages.safetensors";
/// One JSON object for each line, in the order of the embeddings.
const PASSAGES: &str = "passages.jsonl";
/// The folder of each tokenizer in `RagTokenizer.save_pretrained`, and the field of `config.json`
/// with its model.
const QUESTION: [&str; 2] = ["question_encoder_tokenizer", "question_encoder"];
const GENERATOR: [&str; 2] = ["generator_tokenizer", "generator"];

/// A passage of the index.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Passage {
    /// Its title.
    pub title: String,
    /// Its text.
    pub text: String,
}

/// Everything of a retriever but the embeddings.
#[derive(Debug)]
pub struct Retrieval {
    /// In the order of the embeddings.
    pub passages: Vec<Passage>,
    /// Of the questions.
    pub question: Tokenizer,
    /// Of what the generator reads.
    pub generator: Tokenizer,
}

/// How a passage and a question become one text, and its length in tokens.
#[derive(Debug, Clone)]
pub struct ContextFormat {
    /// Before everything.
    pub prefix: String,
    /// Between the title and the text of a passage.
    pub title_sep: String,
    /// Between the passage and the question.
    pub doc_sep: String,
    /// Tokens; shorter ones are padded, longer ones cut.
    pub length: usize,
}

impl Retrieval {
    /// Reads `passages.jsonl` and both tokenizers, or `None` if there are no passages.
    pub fn open(directory: &Path) -> Result<Option<Self>, PreprocessError> {
        let path = directory.join(PASSAGES);
        let Some(text) = read_text(&path, limit::PASSAGES)? else {
            return Ok(None);
        };
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty());
        Ok(Some(Self {
            passages: lines
                .map(|(index, line)| {
                    serde_json::from_str(line).map_err(|error| PreprocessError::Unreadable {
                        path: path.clone(),
                        message: format!(
                            "line {}: {}; a line is {{\"title\": .., \"text\": ..}}",
                            index + 1,
                            excerpt(&error.to_string())
                        ),
                    })
                })
                .collect::<Result<_, _>>()?,
            question: required(directory, QUESTION)?,
            generator: required(directory, GENERATOR)?,
        }))
    }

    /// `input_ids` and `attention_mask` [questions * chosen, length]: every chosen passage of a
    /// question with the question, question by question. The ids of a question are the ids that its
    /// mask shows.
    pub fn contexts(
        &self,
        questions: &[Vec<i64>],
        chosen: &[Vec<usize>],
        format: &ContextFormat,
    ) -> Result<Arrays, PreprocessError> {
        let mut texts = Vec::new();
        for (ids, chosen) in questions.iter().zip(chosen) {
            // From the ids, as `RagRetriever.__call__` does: what comes back may lack capitals and
            // spaces of the question.
            let question = self.question.decode(ids, true)?;
            texts.extend(
                chosen
                    .iter()
                    .map(|index| format.text(&self.passages[*index], &question)),
            );
        }
        let inputs: Vec<TextInput<'_>> = texts.iter().map(|text| (text.as_str(), None)).collect();
        let length = Some(format.length);
        let options = TokenizeOptions {
            max_length: length,
            pad_to: length,
            padding_side: None,
        };
        let mut arrays = self.generator.tokenize(&inputs, options)?.arrays;
        // `postprocess_docs` returns ids and mask only.
        arrays.remove("token_type_ids");
        Ok(arrays)
    }
}

impl ContextFormat {
    fn text(&self, passage: &Passage, question: &str) -> String {
        // As `postprocess_docs`, which leaves out one quote at each end.
        let title = passage.title.strip_prefix('"').unwrap_or(&passage.title);
        let title = title.strip_suffix('"').unwrap_or(title);
        let parts = [
            &self.prefix,
            title,
            &self.title_sep,
            &passage.text,
            &self.doc_sep,
            question,
        ];
        parts.concat().replace("  ", " ")
    }
}

/// The tokenizer for the questions of a checkpoint with two tokenizers, or `None` if it has not.
pub(crate) fn question_tokenizer(directory: &Path) -> Result<Option<Tokenizer>, PreprocessError> {
    part(directory, QUESTION)
}

fn required(directory: &Path, names: [&str; 2]) -> Result<Tokenizer, PreprocessError> {
    part(directory, names)?.ok_or_else(|| PreprocessError::Unreadable {
        path: directory.join(names[0]),
        message: "a checkpoint with passages has a tokenizer there, as `RagTokenizer.save_pretrained` writes it"
            .to_owned(),
    })
}

fn part(
    directory: &Path,
    [folder, field]: [&str; 2],
) -> Result<Option<Tokenizer>, PreprocessError> {
    let folder = directory.join(folder);
    if !folder.is_dir() {
        return Ok(None);
    }
    let config = ConfigFile::read_or_empty(directory, "config.json")?;
    // The folder of a tokenizer usually has no `config.json`; its model is described in the file of
    // the whole.
    let model = config
        .nested(field)?
        .map_or_else(|| ConfigFile::read_or_empty(&folder, "config.json"), Ok)?;
    Tokenizer::open_of(&folder, &model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_loses_one_quotation_mark_on_either_side() {
        let format = ContextFormat {
            prefix: " ".to_owned(),
            title_sep: " / ".to_owned(),
            doc_sep: " // ".to_owned(),
            length: 8,
        };
        let passage = Passage {
            title: "\"\"A\"".to_owned(),
            text: " b".to_owned(),
        };
        assert_eq!(format.text(&passage, "c?"), " \"A / b // c?");
    }
}
