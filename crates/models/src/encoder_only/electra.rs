//! ELECTRA (Clark et al. 2020): `transformers.models.electra`.
//!
//! BERT whose embeddings may be narrower than its layers, as generator (masked language model) and
//! as discriminator.

use crate::{
    config::ModelConfig,
    model_def::{LoadedNetwork, ModelDef},
    text::{
        bert_encoder::{BERT, BertEncoder},
        bert_fields::BertFields,
        text_embeddings::{PositionNumbering, TextEmbeddings},
        text_head::{MaskedLmNames, TextHead},
        text_model::TextModel,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    layer::Linear,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct ElectraConfig {
    #[serde(flatten)]
    fields: BertFields,
    embedding_size: usize,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for ElectraConfig {
    /// Of the head for multiple choice.
    const INERT: &'static [&'static str] = &[
        "summary_activation",
        "summary_proj_to_labels",
        "summary_type",
        "summary_use_proj",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        match head {
            Head::MaskedLm => Vec::new(),
            _ => vec![(
                "tie_word_embeddings",
                "only masked language models have a decoder to tie",
            )],
        }
    }
}

impl ElectraConfig {
    fn encoder<B: Ops>(&self, w: &Weights<B>) -> Result<BertEncoder<B>, WeightsError> {
        let (inner, width) = (self.embedding_size, self.fields.hidden_size);
        let tables = self.fields.tables(inner);
        let layer = self.fields.layer();
        let embeddings = TextEmbeddings::load(tables, PositionNumbering::FromZero, w)?;
        let project = (inner != width)
            .then(|| Linear::load(&w.module("embeddings_project"), inner, width))
            .transpose()?;
        Ok(BertEncoder {
            project,
            ..BertEncoder::load(
                embeddings,
                self.fields.num_hidden_layers,
                &layer,
                &BERT,
                &w.module("encoder.layer"),
            )?
        })
    }
}

const GENERATOR: MaskedLmNames = MaskedLmNames {
    dense: "generator_predictions.dense",
    norm: "generator_predictions.LayerNorm",
    decoder: "generator_lm_head",
    // `generator_lm_head` has a bias; only its weight is tied.
    bias: None,
};

/// `model_type` `electra`.
pub(crate) struct Electra;

impl ModelDef for Electra {
    type Config = ElectraConfig;

    fn load<B: Ops>(
        config: &ElectraConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let backbone = config.encoder(&w.strip_prefix("electra"))?;
        let width = config.fields.hidden_size;
        let head = match head {
            Head::PreTraining => {
                let w = w.module("discriminator_predictions");
                TextHead::Discriminator {
                    dense: Linear::load(&w.module("dense"), width, width)?,
                    activation: config.fields.hidden_act,
                    out: Linear::load(&w.module("dense_prediction"), width, 1)?,
                }
            }
            Head::MaskedLm => TextHead::MaskedLm(backbone.masked_lm(
                width,
                // `ElectraGeneratorPredictions` takes GELU whatever `hidden_act` is.
                Activation::Gelu,
                config.fields.tie_word_embeddings,
                &GENERATOR,
                w,
            )?),
            Head::SequenceClassification => {
                // RoBERTa's head with another activation: `ElectraClassificationHead` takes GELU
                // instead of tanh.
                TextHead::first_token(&w.module("classifier"), width, labels, Activation::Gelu)?
            }
            head => TextHead::of_encoder(w, head, width, labels)?,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}
