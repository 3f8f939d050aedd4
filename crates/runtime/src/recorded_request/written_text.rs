//! Requests of texts as `answers.json` has them: written out, without tensors.

use crate::task::{DocumentQuestion, PlacedWord, QuestionContext, TextChoices};
use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedQuestion {
    question: String,
    context: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedDocument {
    question: String,
    words: Vec<RecordedWord>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedWord {
    text: String,
    corners: [i64; 4],
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedChoices {
    prompt: String,
    choices: Vec<String>,
}

impl From<RecordedQuestion> for QuestionContext {
    fn from(RecordedQuestion { question, context }: RecordedQuestion) -> Self {
        Self { question, context }
    }
}

impl From<RecordedDocument> for DocumentQuestion {
    fn from(RecordedDocument { question, words }: RecordedDocument) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self { question, words }
    }
}

impl From<RecordedWord> for PlacedWord {
    fn from(RecordedWord { text, corners }: RecordedWord) -> Self {
        Self { text, corners }
    }
}

impl From<RecordedChoices> for TextChoices {
    fn from(RecordedChoices { prompt, choices }: RecordedChoices) -> Self {
        Self { prompt, choices }
    }
}
