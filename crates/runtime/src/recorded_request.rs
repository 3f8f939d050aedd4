//! A request as the recorder wrote it, from which a harness builds the one of its architecture.
//!
//! Owns the fields of `request` in `answers.json` and the tensors of the golden that they name.
//! Does not own the variants of [`Request`](crate::task::Request): a harness chooses one, so that
//! the request of an architecture is visible there.

mod error;
mod tensors;
mod written_text;

pub use error::RequestError;

use crate::task::{DocumentQuestion, QuestionContext, TextChoices, TimeSeries};
use serde::Deserialize;
use std::collections::BTreeMap;
use tensors::RecordedTensors;
use testgen_nn::array::{Array, Arrays};
use testgen_operators::calls::Call;
use testgen_processing::generation::GenerationControls;
use testgen_processing::{audio::Audio, graph::Graph, image::Image};
use written_text::{RecordedChoices, RecordedDocument, RecordedQuestion};

/// The recorded inputs of one request. Every accessor fails with the name of what was not recorded.
#[derive(Debug)]
pub struct RecordedRequest {
    fields: RequestFields,
    tensors: RecordedTensors,
    calls: Option<Vec<Call>>,
}

/// `request` in `answers.json`. Texts are written out; everything else is the name of a tensor in
/// `golden.safetensors`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RequestFields {
    texts: Option<Vec<String>>,
    questions: Option<Vec<RecordedQuestion>>,
    documents: Option<Vec<RecordedDocument>>,
    choices: Option<Vec<RecordedChoices>>,
    prompts: Option<Vec<String>>,
    controls: Option<Controls>,
    recordings: Option<Recordings>,
    images: Option<Vec<String>>,
    videos: Option<Vec<Vec<String>>>,
    noise: Option<String>,
    condition: Option<BTreeMap<String, String>>,
    steps: Option<usize>,
    latents: Option<String>,
    series: Option<Series>,
    graphs: Option<Vec<String>>,
}

/// The controls that recorded answers use.
// They must not depend on random numbers, which differ between libraries.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Controls {
    max_new_tokens: Option<usize>,
    min_new_tokens: Option<usize>,
    do_sample: Option<bool>,
    repetition_penalty: Option<f32>,
    eos_token_ids: Option<Vec<i64>>,
    num_beams: Option<usize>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recordings {
    tensors: Vec<String>,
    sampling_rate: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Series {
    values: String,
    observed: Option<String>,
}

impl RecordedRequest {
    /// The request of `fields`, whose tensors are the tensors of a golden by their whole names.
    pub(crate) fn new(fields: RequestFields, golden: Arrays) -> Self {
        Self {
            fields,
            tensors: RecordedTensors::new(golden),
            calls: None,
        }
    }

    /// A request of calls, which are made by a check and not recorded: operators have no
    /// checkpoint.
    #[cfg(feature = "operators")]
    pub(crate) fn of_calls(calls: Vec<Call>) -> Self {
        Self {
            fields: RequestFields::default(),
            tensors: RecordedTensors::new(Arrays::new()),
            calls: Some(calls),
        }
    }

    /// Calls of operators.
    ///
    /// # Errors
    ///
    /// When there are none.
    pub fn calls(&self) -> Result<Vec<Call>, RequestError> {
        recorded("calls", &self.calls)
    }

    /// Texts to classify, to embed or to fill.
    ///
    /// # Errors
    ///
    /// When none were recorded.
    pub fn texts(&self) -> Result<Vec<String>, RequestError> {
        recorded("texts", &self.fields.texts)
    }

    /// Questions with the texts that hold their answers.
    ///
    /// # Errors
    ///
    /// When none were recorded.
    pub fn questions(&self) -> Result<Vec<QuestionContext>, RequestError> {
        let pairs = recorded("questions", &self.fields.questions)?;
        Ok(pairs.into_iter().map(Into::into).collect())
    }

    /// Questions with the words of the pages that hold their answers.
    ///
    /// # Errors
    ///
    /// When none were recorded.
    pub fn documents(&self) -> Result<Vec<DocumentQuestion>, RequestError> {
        let pages = recorded("documents", &self.fields.documents)?;
        Ok(pages.into_iter().map(Into::into).collect())
    }

    /// Texts with the texts that may follow them.
    ///
    /// # Errors
    ///
    /// When none were recorded.
    pub fn choices(&self) -> Result<Vec<TextChoices>, RequestError> {
        let texts = recorded("choices", &self.fields.choices)?;
        Ok(texts.into_iter().map(Into::into).collect())
    }

    /// Texts to continue, to rewrite or to answer.
    ///
    /// # Errors
    ///
    /// When none were recorded.
    pub fn prompts(&self) -> Result<Vec<String>, RequestError> {
        recorded("prompts", &self.fields.prompts)
    }

    /// How tokens are generated; the defaults for a model of recordings that generates none.
    ///
    /// # Errors
    ///
    /// When none were recorded.
    pub fn controls(&self) -> Result<GenerationControls, RequestError> {
        let controls: Controls = recorded("controls", &self.fields.controls)?;
        Ok(GenerationControls {
            max_new_tokens: controls.max_new_tokens,
            min_new_tokens: controls.min_new_tokens,
            do_sample: controls.do_sample,
            repetition_penalty: controls.repetition_penalty,
            eos_token_ids: controls.eos_token_ids,
            num_beams: controls.num_beams,
            ..GenerationControls::default()
        })
    }

    /// Audio at the sampling rate of the checkpoint.
    ///
    /// # Errors
    ///
    /// When none was recorded, or a tensor is missing or not floats.
    pub fn recordings(&self) -> Result<Vec<Audio>, RequestError> {
        const PART: &str = "recordings";
        let Recordings {
            tensors,
            sampling_rate,
        } = recorded(PART, &self.fields.recordings)?;
        tensors
            .iter()
            .map(|name| {
                let samples = self.tensors.floats(PART, name)?;
                Ok(Audio {
                    sampling_rate,
                    // `floats` has refused every other type.
                    samples: samples.as_floats().unwrap_or_default().to_vec(),
                })
            })
            .collect()
    }

    /// Images [height, width, 3].
    ///
    /// # Errors
    ///
    /// When none were recorded, or a tensor is missing or not an image.
    pub fn images(&self) -> Result<Vec<Image>, RequestError> {
        const PART: &str = "images";
        self.tensors
            .images(PART, &recorded(PART, &self.fields.images)?)
    }

    /// Videos: the frames [height, width, 3] of each.
    ///
    /// # Errors
    ///
    /// When none were recorded, or a tensor is missing or not an image.
    pub fn videos(&self) -> Result<Vec<Vec<Image>>, RequestError> {
        const PART: &str = "videos";
        recorded(PART, &self.fields.videos)?
            .iter()
            .map(|frames| self.tensors.images(PART, frames))
            .collect()
    }

    /// Floats [batch, channels, height, width] of deviation one.
    ///
    /// # Errors
    ///
    /// When none was recorded, or the tensor is missing or not floats.
    pub fn noise(&self) -> Result<Array, RequestError> {
        self.tensors
            .floats("noise", &recorded("noise", &self.fields.noise)?)
    }

    /// The inputs of a denoising model besides the sample, by their names in diffusers; empty if it
    /// has no others.
    ///
    /// # Errors
    ///
    /// When none was recorded, or a tensor is missing.
    pub fn condition(&self) -> Result<Arrays, RequestError> {
        const PART: &str = "condition";
        recorded(PART, &self.fields.condition)?
            .into_iter()
            .map(|(name, tensor)| Ok((name, self.tensors.get(PART, &tensor)?)))
            .collect()
    }

    /// The number of denoising steps.
    ///
    /// # Errors
    ///
    /// When none was recorded.
    pub fn steps(&self) -> Result<usize, RequestError> {
        recorded("steps", &self.fields.steps)
    }

    /// Floats [batch, channels, height, width] to decode.
    ///
    /// # Errors
    ///
    /// When none were recorded, or the tensor is missing or not floats.
    pub fn latents(&self) -> Result<Array, RequestError> {
        self.tensors
            .floats("latents", &recorded("latents", &self.fields.latents)?)
    }

    /// Series [time, channels].
    ///
    /// # Errors
    ///
    /// When none were recorded, or a tensor is missing or of another shape or type.
    pub fn series(&self) -> Result<Vec<TimeSeries>, RequestError> {
        let Series { values, observed } = recorded("series", &self.fields.series)?;
        self.tensors.series(&values, observed.as_deref())
    }

    /// Graphs of nodes and edges.
    ///
    /// # Errors
    ///
    /// When none were recorded, or a tensor is missing.
    pub fn graphs(&self) -> Result<Vec<Graph>, RequestError> {
        recorded("graphs", &self.fields.graphs)?
            .iter()
            .map(|prefix| self.tensors.graph(prefix))
            .collect()
    }
}

fn recorded<T: Clone>(part: &'static str, field: &Option<T>) -> Result<T, RequestError> {
    field.clone().ok_or(RequestError::NotRecorded { part })
}

#[cfg(test)]
mod tests;
