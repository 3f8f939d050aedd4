//! The common part of all handlers: a model with its task, splitting requests, running the model,
//! finding its outputs.

mod error;
mod output;
mod request_parts;

pub use error::HandlerError;
pub(super) use output::{FloatOutput, rows};
pub(super) use request_parts::{Denoising, ImagePrompts};

use super::{DocumentQuestion, QuestionContext, Request, TextChoices, TimeSeries};
use crate::subject::LoadedSubject;
use serde_json::Value;
use testgen_models::Model;
use testgen_nn::{
    array::Array,
    forward::{Forward, ForwardError, Unsupported},
};
use testgen_processing::{
    audio::Audio,
    feature_extractor::FeatureExtractor,
    generation::GenerationControls,
    graph::Graph,
    graph_collator::GraphCollator,
    image::Image,
    image_processor::ImageProcessor,
    schedule::Scheduler,
    tokenizer::{TextInput, TokenBatch, TokenizeOptions, Tokenizer},
};
use testgen_types::Task;

/// Defines the functions that take the list out of a request of one kind.
macro_rules! lists {
    ($($name:ident: $kind:ident($item:ty), $expected:literal;)+) => {$(
        pub(super) fn $name(&self, request: Request) -> Result<Vec<$item>, HandlerError> {
            match request {
                Request::$kind(items) => self.filled(items, $expected),
                other => Err(self.wrong($expected, &other)),
            }
        }
    )+};
}

/// A model that answers for a task.
pub(super) struct TaskCall<'a> {
    pub(super) model: &'a Model,
    task: Task,
}

impl<'a> TaskCall<'a> {
    pub(super) fn new(model: &'a Model, task: Task) -> Self {
        Self { model, task }
    }

    /// The model of an endpoint, for the task.
    pub(super) fn for_task(loaded: &'a LoadedSubject, task: Task) -> Result<Self, HandlerError> {
        let model = loaded.model().ok_or(HandlerError::WrongSubject {
            task,
            expected: "a model",
        })?;
        Ok(Self::new(model, task))
    }

    lists! {
        texts: Texts(String), "texts";
        questions: Questions(QuestionContext), "questions with contexts";
        documents: Documents(DocumentQuestion), "questions about documents";
        choices: Choices(TextChoices), "texts with choices";
        images: Images(Image), "images";
        videos: Videos(Vec<Image>), "videos";
        series: Series(TimeSeries), "series";
        graphs: Graphs(Graph), "graphs";
    }

    pub(super) fn prompts(
        &self,
        request: Request,
    ) -> Result<(Vec<String>, GenerationControls), HandlerError> {
        const EXPECTED: &str = "prompts";
        match request {
            Request::Prompts { prompts, controls } => {
                Ok((self.filled(prompts, EXPECTED)?, controls))
            }
            other => Err(self.wrong(EXPECTED, &other)),
        }
    }

    pub(super) fn image_prompts(&self, request: Request) -> Result<ImagePrompts, HandlerError> {
        const EXPECTED: &str = "prompts with images";
        match request {
            Request::ImagePrompts {
                images,
                prompts,
                controls,
            } => Ok(ImagePrompts {
                images,
                prompts: self.filled(prompts, EXPECTED)?,
                controls,
            }),
            other => Err(self.wrong(EXPECTED, &other)),
        }
    }

    /// The error that the model's class is not one for the task.
    pub(super) fn unsuitable(&self, output: &'static str, hint: &'static str) -> HandlerError {
        HandlerError::WrongModel {
            task: self.task,
            class: self.model.class().to_owned(),
            output,
            hint,
        }
    }

    /// The content of a request for denoising.
    pub(super) fn noise(&self, request: Request) -> Result<Denoising, HandlerError> {
        const EXPECTED: &str = "noise";
        match request {
            Request::Noise {
                noise,
                condition,
                steps,
            } => Ok(Denoising {
                noise: self.image_like(noise, EXPECTED)?,
                condition,
                steps,
            }),
            other => Err(self.wrong(EXPECTED, &other)),
        }
    }

    pub(super) fn latents(&self, request: Request) -> Result<Array, HandlerError> {
        const EXPECTED: &str = "latents";
        match request {
            Request::Latents(latents) => self.image_like(latents, EXPECTED),
            other => Err(self.wrong(EXPECTED, &other)),
        }
    }

    /// Floats of four dimensions, at least one row.
    fn image_like(&self, array: Array, expected: &'static str) -> Result<Array, HandlerError> {
        match (array.shape(), array.as_floats()) {
            ([0, ..], _) => Err(HandlerError::EmptyRequest {
                task: self.task,
                expected,
            }),
            ([_, _, _, _], Some(_)) => Ok(array),
            (shape, _) => {
                let problem = format!(
                    "has the shape {shape:?}, expected are floats [batch, channels, height, width]"
                );
                Err(HandlerError::BadInput { index: 0, problem })
            }
        }
    }

    pub(super) fn scheduler(&self) -> Result<&'a Scheduler, HandlerError> {
        let needed = "a scheduler (`scheduler_config.json`)";
        self.model
            .processor()
            .scheduler()
            .ok_or_else(|| self.lacks(needed))
    }

    pub(super) fn images_with_texts(
        &self,
        request: Request,
    ) -> Result<(Vec<Image>, Vec<String>), HandlerError> {
        const EXPECTED: &str = "images with texts";
        match request {
            Request::ImagesWithTexts { images, texts } => Ok((
                self.filled(images, EXPECTED)?,
                self.filled(texts, EXPECTED)?,
            )),
            other => Err(self.wrong(EXPECTED, &other)),
        }
    }

    pub(super) fn speech(
        &self,
        request: Request,
    ) -> Result<(Vec<Audio>, GenerationControls), HandlerError> {
        const EXPECTED: &str = "recordings";
        match request {
            Request::Speech {
                recordings,
                controls,
            } => Ok((self.filled(recordings, EXPECTED)?, controls)),
            other => Err(self.wrong(EXPECTED, &other)),
        }
    }

    fn filled<T>(&self, inputs: Vec<T>, expected: &'static str) -> Result<Vec<T>, HandlerError> {
        if inputs.is_empty() {
            Err(HandlerError::EmptyRequest {
                task: self.task,
                expected,
            })
        } else {
            Ok(inputs)
        }
    }

    fn wrong(&self, expected: &'static str, request: &Request) -> HandlerError {
        HandlerError::WrongRequest {
            task: self.task,
            expected,
            found: request.kind(),
        }
    }

    /// The error that the checkpoint does not say what the task needs.
    pub(super) fn lacks(&self, needed: &'static str) -> HandlerError {
        match self.model.processor().problem() {
            Some(problem) => ForwardError::from(Unsupported(format!(
                "the checkpoint's processors: {problem}"
            )))
            .into(),
            None => HandlerError::NoProcessor {
                task: self.task,
                needed,
            },
        }
    }

    pub(super) fn tokenizer(&self) -> Result<&'a Tokenizer, HandlerError> {
        self.model
            .processor()
            .tokenizer()
            .ok_or_else(|| self.lacks("a tokenizer (`tokenizer.json`)"))
    }

    pub(super) fn image_processor(&self) -> Result<&'a ImageProcessor, HandlerError> {
        let needed = "an image processor (`preprocessor_config.json`)";
        self.model
            .processor()
            .images()
            .ok_or_else(|| self.lacks(needed))
    }

    pub(super) fn feature_extractor(&self) -> Result<&'a FeatureExtractor, HandlerError> {
        let found = self.model.processor().audio();
        found.ok_or_else(|| self.lacks("a feature extractor (`preprocessor_config.json`)"))
    }

    pub(super) fn graph_collator(&self) -> Result<&'a GraphCollator, HandlerError> {
        self.model
            .processor()
            .graphs()
            .ok_or_else(|| self.lacks("a model that reads graphs (`graphormer`)"))
    }

    /// The tokens of `inputs`; more than the checkpoint takes are an error, nothing is cut.
    pub(super) fn tokenize(
        &self,
        inputs: &[TextInput<'_>],
        options: TokenizeOptions,
    ) -> Result<TokenBatch, HandlerError> {
        self.within_limit(self.tokenizer()?.tokenize(inputs, options)?)
    }

    /// The batch, unless a row has more tokens than the checkpoint takes.
    pub(super) fn within_limit(&self, batch: TokenBatch) -> Result<TokenBatch, HandlerError> {
        let limit = self.tokenizer()?.max_length().unwrap_or(usize::MAX);
        for (index, mask) in rows(&batch.arrays["attention_mask"]).enumerate() {
            let tokens = mask.iter().filter(|bit| **bit == 1).count();
            if tokens > limit {
                let problem =
                    format!("has {tokens} tokens, the checkpoint takes {limit}; shorten it");
                return Err(HandlerError::BadInput { index, problem });
            }
        }
        Ok(batch)
    }

    /// The tokens of single texts in the checkpoint's own layout, filled up to `length` where there
    /// is one.
    pub(super) fn tokenize_texts(
        &self,
        texts: &[String],
        length: Option<usize>,
    ) -> Result<TokenBatch, HandlerError> {
        let inputs: Vec<TextInput<'_>> = texts.iter().map(|text| (text.as_str(), None)).collect();
        self.tokenize(
            &inputs,
            TokenizeOptions {
                pad_to: length,
                ..TokenizeOptions::default()
            },
        )
    }

    /// The tokens of single texts in the checkpoint's own layout, and the model's outputs for them.
    pub(super) fn read_texts(
        &self,
        texts: &[String],
    ) -> Result<(TokenBatch, Forward), HandlerError> {
        let batch = self.tokenize_texts(texts, None)?;
        let forward = self.model.forward(&batch.arrays)?;
        Ok((batch, forward))
    }

    /// The images of a request, and the model's outputs for them.
    pub(super) fn read_images(
        &self,
        request: Request,
    ) -> Result<(Vec<Image>, Forward), HandlerError> {
        let images = self.images(request)?;
        let inputs = self.image_processor()?.process(&images)?;
        let forward = self.model.forward(&inputs)?;
        Ok((images, forward))
    }

    /// A float output of `rank` dimensions whose first ones are `leading`.
    pub(super) fn output<'f>(
        &self,
        forward: &'f Forward,
        (output, rank): (&'static str, usize),
        leading: &[usize],
        hint: &'static str,
    ) -> Result<FloatOutput<'f>, HandlerError> {
        let found = forward
            .outputs
            .get(output)
            .filter(|array| array.shape().len() == rank);
        let found = found.filter(|array| array.shape().starts_with(leading));
        let found = found.and_then(|array| {
            Some(FloatOutput {
                values: array.as_floats()?,
                shape: array.shape(),
            })
        });
        found.ok_or_else(|| HandlerError::WrongModel {
            task: self.task,
            class: self.model.class().to_owned(),
            output,
            hint,
        })
    }

    /// The name of label `index`, as `id2label` of `config.json` has it.
    pub(super) fn label(&self, index: usize) -> String {
        let names = self.model.config().get("id2label");
        let name = names
            .and_then(|names| names.get(index.to_string()))
            .and_then(Value::as_str);
        // As the configuration classes of transformers name labels without a name.
        name.map_or_else(|| format!("LABEL_{index}"), str::to_owned)
    }
}
