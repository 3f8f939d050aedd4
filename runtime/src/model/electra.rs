//! ELECTRA (Clark et al. 2020): `transformers.models.electra`.
//!
//! BERT whose embeddings may be narrower than its layers, as generator (masked language model) and as discriminator.

use super::{
    bert_encoder::{BERT, Encoder, LayerShape},
    class::Head,
    family::Family,
    load::LoadError,
    network::Network,
    text_embeddings::{EmbeddingsShape, Positions, TextEmbeddings},
    text_head::{MaskedLmNames, TextHead},
    text_model::TextModel,
};
use crate::{
    backend::{Activation, Ops},
    config::{Config, absolute_positions, divides},
    layer::Linear,
    weights::{Weights, WeightsError},
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct ElectraConfig {
    vocab_size: usize,
    embedding_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: Activation,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    layer_norm_eps: f64,
    position_embedding_type: String,
    tie_word_embeddings: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Default for ElectraConfig {
    fn default() -> Self {
        Self {
            vocab_size: 30522,
            embedding_size: 128,
            hidden_size: 256,
            num_hidden_layers: 12,
            num_attention_heads: 4,
            intermediate_size: 1024,
            hidden_act: Activation::Gelu,
            max_position_embeddings: 512,
            type_vocab_size: 2,
            layer_norm_eps: 1e-12,
            position_embedding_type: "absolute".to_owned(),
            tie_word_embeddings: true,
            rest: Map::new(),
        }
    }
}

impl Config for ElectraConfig {
    /// Of the head for multiple choice.
    const INERT: &'static [&'static str] =
        &["summary_activation", "summary_proj_to_labels", "summary_type", "summary_use_proj"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides("hidden_size", self.hidden_size, "num_attention_heads", self.num_attention_heads)?;
        absolute_positions(&self.position_embedding_type)
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        match head {
            Head::MaskedLm => Vec::new(),
            _ => vec![("tie_word_embeddings", "only masked language models have a decoder to tie")],
        }
    }
}

impl ElectraConfig {
    fn encoder<B: Ops>(&self, w: &Weights<B>) -> Result<Encoder<B>, WeightsError> {
        let (inner, width, eps) = (self.embedding_size, self.hidden_size, self.layer_norm_eps);
        let tables = EmbeddingsShape {
            width: inner,
            vocab: self.vocab_size,
            positions: self.max_position_embeddings,
            token_types: self.type_vocab_size,
            eps,
        };
        let layer = LayerShape {
            width,
            heads: self.num_attention_heads,
            inner: self.intermediate_size,
            activation: self.hidden_act,
            eps,
        };
        let embeddings = TextEmbeddings::load(tables, Positions::FromZero, w)?;
        let project =
            (inner != width).then(|| Linear::load(&w.module("embeddings_project"), inner, width)).transpose()?;
        Ok(Encoder {
            project,
            ..Encoder::load(embeddings, self.num_hidden_layers, &layer, &BERT, &w.module("encoder.layer"))?
        })
    }
}

const GENERATOR: MaskedLmNames = MaskedLmNames {
    dense: "generator_predictions.dense",
    norm: "generator_predictions.LayerNorm",
    decoder: "generator_lm_head",
    bias: None,
};

/// `model_type` `electra`.
pub(crate) struct Electra;

impl Family for Electra {
    type Config = ElectraConfig;
    const NAME: &'static str = "Electra";
    const HEADS: &'static [Head] = &[
        Head::Base,
        Head::PreTraining,
        Head::MaskedLm,
        Head::SequenceClassification,
        Head::TokenClassification,
        Head::QuestionAnswering,
    ];

    fn load<B: Ops>(
        config: &ElectraConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let backbone = config.encoder(&w.base("electra"))?;
        let width = config.hidden_size;
        let head = match head {
            Head::PreTraining => {
                let w = w.module("discriminator_predictions");
                TextHead::Discriminator {
                    dense: Linear::load(&w.module("dense"), width, width)?,
                    activation: config.hidden_act,
                    out: Linear::load(&w.module("dense_prediction"), width, 1)?,
                }
            }
            Head::MaskedLm => TextHead::MaskedLm(backbone.masked_lm(
                width,
                Activation::Gelu,
                config.tie_word_embeddings,
                &GENERATOR,
                w,
            )?),
            Head::SequenceClassification => {
                TextHead::first_token(&w.module("classifier"), width, labels, Activation::Gelu)?
            }
            head => TextHead::of_encoder(w, head, width, labels)?,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}
