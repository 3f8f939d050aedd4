//! DistilBERT (Sanh et al. 2019): `transformers.models.distilbert`. BERT without token types, under
//! other names.

use crate::{
    config::{ModelConfig, divides},
    model_def::{LoadedNetwork, ModelDef},
    text::{
        bert_encoder::{BertEncoder, BertLayerNames, BertLayerShape},
        text_embeddings::{EmbeddingsShape, PositionNumbering, TextEmbeddings},
        text_head::{MaskedLmNames, TextHead},
        text_model::TextModel,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    layer::{AttentionNames, Linear},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct DistilBertConfig {
    vocab_size: usize,
    max_position_embeddings: usize,
    n_layers: usize,
    n_heads: usize,
    dim: usize,
    hidden_dim: usize,
    activation: Activation,
    tie_word_embeddings: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for DistilBertConfig {
    /// The table of sinusoids is in the checkpoint, whatever made it.
    const INERT: &'static [&'static str] = &["sinusoidal_pos_embds", "tie_weights_"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides("dim", self.dim, "n_heads", self.n_heads)
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

/// The type's own constant.
// The configuration has no field for it.
const EPS: f64 = 1e-12;

/// `model_type` `distilbert`.
pub(crate) struct DistilBert;

impl ModelDef for DistilBert {
    type Config = DistilBertConfig;

    fn load<B: Ops>(
        config: &DistilBertConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let backbone = config.encoder(&w.strip_prefix("distilbert"))?;
        let width = config.dim;
        let head = match head {
            Head::MaskedLm => TextHead::MaskedLm(backbone.masked_lm(
                width,
                config.activation,
                config.tie_word_embeddings,
                &VOCABULARY,
                w,
            )?),
            Head::SequenceClassification => TextHead::FirstToken {
                dense: Linear::load(&w.module("pre_classifier"), width, width)?,
                // `DistilBertForSequenceClassification` takes ReLU whatever `activation` is.
                activation: Activation::Relu,
                out: Linear::load(&w.module("classifier"), width, labels)?,
            },
            head => TextHead::of_encoder(w, head, width, labels)?,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}

impl DistilBertConfig {
    fn encoder<B: Ops>(&self, w: &Weights<B>) -> Result<BertEncoder<B>, WeightsError> {
        let tables = EmbeddingsShape {
            width: self.dim,
            vocab: self.vocab_size,
            positions: self.max_position_embeddings,
            // DistilBERT has no table of types.
            token_types: 0,
            eps: EPS,
        };
        let layer = BertLayerShape {
            width: self.dim,
            heads: self.n_heads,
            inner: self.hidden_dim,
            activation: self.activation,
            eps: EPS,
        };
        let embeddings = TextEmbeddings::load(tables, PositionNumbering::FromZero, w)?;
        BertEncoder::load(
            embeddings,
            self.n_layers,
            &layer,
            &NAMES,
            &w.module("transformer.layer"),
        )
    }
}

const NAMES: BertLayerNames = BertLayerNames {
    attention: AttentionNames {
        query: "attention.q_lin",
        key: "attention.k_lin",
        value: "attention.v_lin",
        output: "attention.out_lin",
    },
    attention_norm: "sa_layer_norm",
    up: "ffn.lin1",
    down: "ffn.lin2",
    output_norm: "output_layer_norm",
};

const VOCABULARY: MaskedLmNames = MaskedLmNames {
    dense: "vocab_transform",
    norm: "vocab_layer_norm",
    decoder: "vocab_projector",
    // `vocab_projector` has a bias; only its weight is tied.
    bias: None,
};
