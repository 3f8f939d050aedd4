//! Answers as the recorder wrote them: the contents of `answers.json`.
//!
//! Owns the format of the file, not how answers are compared. Requests are in
//! [`crate::recorded_request`].

mod error;

pub(crate) use error::AnswerError;

use crate::{
    golden::{self, Noise},
    recorded_request::{RecordedRequest, RequestFields},
};
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};
use testgen_nn::array::Array;
use testgen_types::{
    Task,
    bounded_file::{limit, read_bytes},
};

/// The file's name in a checkpoint directory.
pub(crate) const FILE: &str = "answers.json";

/// A request of one task, and the answer of transformers to it.
#[derive(Debug)]
pub(crate) struct RecordedAnswer {
    /// The inputs.
    pub(crate) request: RecordedRequest,
    /// The answer in float32.
    pub(crate) answer: AnswerEntries,
    /// The error of the reference itself in the numbers of the answer.
    pub(crate) noise: Noise,
}

/// One entry for each input of the request.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AnswerEntries {
    /// Vectors by name.
    Vectors(Vec<BTreeMap<String, Vector>>),
    /// Every label with its score, best first.
    Labels(Vec<Vec<LabelCandidate>>),
    /// For each mask token more candidates than a handler returns, best first.
    Filled(Vec<Vec<Vec<TokenCandidate>>>),
    /// For each token its place and all labels, best first.
    TokenLabels(Vec<Vec<TokenLabels>>),
    /// For each question several spans of the context, best first.
    Spans(Vec<Vec<RecordedSpan>>),
    /// The detections of each image, best first, also those below the handler's limit.
    Detections(Vec<Vec<RecordedDetection>>),
    /// The label of each pixel of each image.
    Segments(Vec<RecordedSegments>),
    /// Generated texts.
    Generated(Vec<Tokens>),
    /// The words of recordings, written by a decoder.
    Transcripts(Vec<Tokens>),
    /// The words of recordings; the tokens belong to frames and do not depend on each other.
    Frames(Vec<Tokens>),
    /// Generated answers with their passages.
    Retrieved(Vec<Retrieved>),
}

/// An array.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Vector {
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl Vector {
    /// The array, or `None` if the shape has another number of elements.
    pub(crate) fn array(&self) -> Option<Array> {
        // Checked here, because `Array::floats` panics if the sizes do not agree, and the file is
        // read from outside.
        let fits = self.shape.iter().product::<usize>() == self.values.len();
        fits.then(|| Array::floats(self.shape.as_slice(), self.values.clone()))
    }
}

/// A label with its score.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LabelCandidate {
    pub(crate) label: String,
    pub(crate) score: f32,
}

/// A token for a mask token.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TokenCandidate {
    pub(crate) id: i64,
    pub(crate) text: String,
    pub(crate) score: f32,
}

/// A token of a text, by its bytes there.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TokenLabels {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) labels: Vec<LabelCandidate>,
}

/// A span of a context, by its bytes there.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RecordedSpan {
    pub(crate) text: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) score: f32,
}

/// An object in an image.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RecordedDetection {
    pub(crate) label: String,
    pub(crate) score: f32,
    /// Left, top, right, bottom, in pixels.
    pub(crate) corners: [f32; 4],
}

/// The labels of the pixels of an image.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RecordedSegments {
    /// The height and the width of the image.
    pub(crate) size: [usize; 2],
    /// The names of the labels that occur.
    pub(crate) labels: Vec<String>,
    /// For each pixel the place of its label among them.
    pub(crate) map: Vec<usize>,
    /// For each pixel the gap between its two largest scores.
    pub(crate) margins: Vec<f32>,
    /// The largest score of all labels and pixels, without its sign.
    pub(crate) largest: f32,
}

/// Selected tokens and their text.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Tokens {
    pub(crate) text: String,
    pub(crate) ids: Vec<i64>,
    /// For each token the gap between the two largest scores, relative to the largest logit of the
    /// answer.
    pub(crate) margins: Vec<f64>,
}

/// A generated answer with the passages that it was written from, best first.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Retrieved {
    #[serde(flatten)]
    pub(crate) answer: Tokens,
    pub(crate) passages: Vec<RecordedPassage>,
}

/// A passage that was found.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RecordedPassage {
    pub(crate) id: i64,
    pub(crate) score: f32,
    pub(crate) probability: f32,
}

#[derive(Debug, Deserialize)]
struct AnswerEntry {
    request: RequestFields,
    answer: AnswerEntries,
    noise: BTreeMap<String, Value>,
}

impl RecordedAnswer {
    /// The request and the answer of `task` for the checkpoint in `directory`.
    pub(crate) fn read(directory: &Path, task: Task) -> Result<Self, AnswerError> {
        let path = directory.join(FILE);
        // Entries stay JSON until one is asked for, so that an invalid one only fails the checks of
        // the task that it belongs to.
        let entry = entries(&path)?
            .remove(task.as_str())
            .ok_or_else(|| AnswerError::NoTask {
                path: path.clone(),
                task,
            })?;
        let AnswerEntry {
            request,
            answer,
            noise,
        } = serde_json::from_value(entry).map_err(|source| AnswerError::Invalid {
            path: path.clone(),
            source,
        })?;
        let noise = Noise::of_answer(&metadata(&noise)).map_err(|why| AnswerError::Noise {
            path: path.clone(),
            why,
        })?;
        let tensors = golden::read_file(&directory.join(golden::FILE), limit::GOLDEN)?;
        Ok(Self {
            request: RecordedRequest::new(request, tensors),
            answer,
            noise,
        })
    }
}

/// Why `answers.json` has nothing to compare with, or `None` if it has, or if it cannot be read,
/// which a check reports.
pub(crate) fn inapplicable(directory: &Path, task: Task) -> Option<String> {
    let path = directory.join(FILE);
    let recorded = match entries(&path) {
        Ok(entries) => entries.contains_key(task.as_str()),
        Err(AnswerError::Missing { .. }) => false,
        // The check reads the file again, and reports the error.
        Err(_) => return None,
    };
    (!recorded).then(|| {
        format!(
            "no answer of `{task}` is recorded: when it was, the checkpoint had no tokenizer, processor or scheduler for it; \
             `testgen record --answers` records it again"
        )
    })
}

fn entries(path: &Path) -> Result<BTreeMap<String, Value>, AnswerError> {
    let text = read_bytes(path, limit::ANSWERS).map_err(|error| match error.is_missing() {
        true => AnswerError::Missing {
            path: path.to_owned(),
        },
        false => AnswerError::Read(error),
    })?;
    serde_json::from_slice(&text).map_err(|source| AnswerError::Invalid {
        path: path.to_owned(),
        source,
    })
}

/// The noise with the names that it has in the metadata of a golden.
fn metadata(noise: &BTreeMap<String, Value>) -> HashMap<String, String> {
    noise
        .iter()
        .map(|(name, value)| {
            (
                format!("noise.{name}"),
                value
                    .as_str()
                    // The metadata of a golden is text, with JSON for everything else.
                    .map_or_else(|| value.to_string(), str::to_owned),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests;
