//! ALBERT (Lan et al. 2019): `transformers.models.albert`.
//!
//! BERT with narrower embeddings and layers that are taken several times.

use super::{
    bert_encoder::{Encoder, Layer, LayerNames, LayerShape},
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
    layer::{AttentionNames, Linear},
    weights::{Weights, WeightsError},
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct AlbertConfig {
    vocab_size: usize,
    embedding_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_hidden_groups: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    inner_group_num: usize,
    hidden_act: Activation,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    layer_norm_eps: f64,
    position_embedding_type: String,
    tie_word_embeddings: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Default for AlbertConfig {
    fn default() -> Self {
        Self {
            vocab_size: 30000,
            embedding_size: 128,
            hidden_size: 4096,
            num_hidden_layers: 12,
            num_hidden_groups: 1,
            num_attention_heads: 64,
            intermediate_size: 16384,
            inner_group_num: 1,
            hidden_act: Activation::GeluNew,
            max_position_embeddings: 512,
            type_vocab_size: 2,
            layer_norm_eps: 1e-12,
            position_embedding_type: "absolute".to_owned(),
            tie_word_embeddings: true,
            rest: Map::new(),
        }
    }
}

impl Config for AlbertConfig {
    /// Fields of the TensorFlow releases, which transformers does not read.
    const INERT: &'static [&'static str] =
        &["down_scale_factor", "gap_size", "layers_to_keep", "net_structure_type", "num_memory_blocks"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides("hidden_size", self.hidden_size, "num_attention_heads", self.num_attention_heads)?;
        if self.num_hidden_groups == 0 {
            return Err("`num_hidden_groups` is 0".to_owned());
        }
        absolute_positions(&self.position_embedding_type)
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        match head {
            Head::MaskedLm | Head::PreTraining => Vec::new(),
            _ => vec![("tie_word_embeddings", "only masked language models have a decoder to tie")],
        }
    }
}

const NAMES: LayerNames = LayerNames {
    attention: AttentionNames {
        query: "attention.query",
        key: "attention.key",
        value: "attention.value",
        output: "attention.dense",
    },
    attention_norm: "attention.LayerNorm",
    up: "ffn",
    down: "ffn_output",
    output_norm: "full_layer_layer_norm",
};

impl AlbertConfig {
    fn encoder<B: Ops>(&self, pooled: bool, w: &Weights<B>) -> Result<Encoder<B>, WeightsError> {
        let (inner, width, eps) = (self.embedding_size, self.hidden_size, self.layer_norm_eps);
        let tables = EmbeddingsShape {
            width: inner,
            vocab: self.vocab_size,
            positions: self.max_position_embeddings,
            token_types: self.type_vocab_size,
            eps,
        };
        let mapping = w.module("encoder.embedding_hidden_mapping_in");
        Ok(Encoder {
            embeddings: TextEmbeddings::load(tables, Positions::FromZero, w)?,
            project: Some(Linear::load(&mapping, inner, width)?),
            layers: self.layers(&w.module("encoder.albert_layer_groups"))?,
            order: self.order(),
            relative: None,
            pooler: pooled.then(|| Linear::load(&w.module("pooler"), width, width)).transpose()?,
        })
    }

    /// The layers of all groups, group by group.
    fn layers<B: Ops>(&self, w: &Weights<B>) -> Result<Vec<Layer<B>>, WeightsError> {
        let shape = LayerShape {
            width: self.hidden_size,
            heads: self.num_attention_heads,
            inner: self.intermediate_size,
            activation: self.hidden_act,
            eps: self.layer_norm_eps,
        };
        let places =
            (0..self.num_hidden_groups).flat_map(|group| (0..self.inner_group_num).map(move |layer| (group, layer)));
        places
            .map(|(group, layer)| Layer::load(&shape, &NAMES, &w.module(group).module("albert_layers").module(layer)))
            .collect()
    }

    /// Every depth takes all layers of its group; the division is transformers'.
    fn order(&self) -> Vec<usize> {
        let per_group = self.num_hidden_layers as f64 / self.num_hidden_groups as f64;
        let group = |depth: usize| (depth as f64 / per_group) as usize;
        let layers = |depth| (0..self.inner_group_num).map(move |layer| group(depth) * self.inner_group_num + layer);
        (0..self.num_hidden_layers).flat_map(layers).collect()
    }
}

const PREDICTIONS: MaskedLmNames = MaskedLmNames {
    dense: "predictions.dense",
    norm: "predictions.LayerNorm",
    decoder: "predictions.decoder",
    bias: Some("predictions.bias"),
};

/// `model_type` `albert`.
pub(crate) struct Albert;

impl Family for Albert {
    type Config = AlbertConfig;
    const NAME: &'static str = "Albert";
    const HEADS: &'static [Head] = &[
        Head::Base,
        Head::PreTraining,
        Head::MaskedLm,
        Head::SequenceClassification,
        Head::TokenClassification,
        Head::QuestionAnswering,
    ];

    fn load<B: Ops>(
        config: &AlbertConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let pooled = [Head::Base, Head::PreTraining, Head::SequenceClassification].contains(&head);
        let backbone = config.encoder(pooled, &w.base("albert"))?;
        let masked_lm =
            || backbone.masked_lm(config.hidden_size, config.hidden_act, config.tie_word_embeddings, &PREDICTIONS, w);
        let linear = |name| Linear::load(&w.module(name), config.hidden_size, labels);
        let head = match head {
            Head::PreTraining => TextHead::PreTraining {
                masked_lm: masked_lm()?,
                pooled: linear("sop_classifier.classifier")?,
                output: "sop_logits",
            },
            Head::MaskedLm => TextHead::MaskedLm(masked_lm()?),
            Head::SequenceClassification => TextHead::Pooled(linear("classifier")?),
            head => TextHead::of_encoder(w, head, config.hidden_size, labels)?,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}
