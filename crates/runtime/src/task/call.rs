//! The common part of all handlers: a model with its task and its processors, running the model,
//! finding its outputs.

mod error;
mod output;

pub use error::HandlerError;
pub(super) use output::{FloatOutput, rows};

use crate::subject::LoadedSubject;
use serde_json::Value;
use testgen_models::Model;
use testgen_nn::forward::{Forward, ForwardError, Unsupported};
use testgen_processing::{
    feature_extractor::FeatureExtractor,
    graph_collator::GraphCollator,
    image_processor::ImageProcessor,
    schedule::Scheduler,
    tokenizer::{TextInput, TokenBatch, TokenizeOptions, Tokenizer},
};
use testgen_types::Task;

/// A model that answers for a task.
pub(super) struct TaskCall<'a> {
    pub(super) model: &'a Model,
    pub(super) task: Task,
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

    /// The error that the model's class is not one for the task.
    pub(super) fn unsuitable(&self, output: &'static str, hint: &'static str) -> HandlerError {
        HandlerError::WrongModel {
            task: self.task,
            class: self.model.class().to_owned(),
            output,
            hint,
        }
    }

    pub(super) fn scheduler(&self) -> Result<&'a Scheduler, HandlerError> {
        let needed = "a scheduler (`scheduler_config.json`)";
        self.model
            .processor()
            .scheduler()
            .ok_or_else(|| self.lacks(needed))
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
