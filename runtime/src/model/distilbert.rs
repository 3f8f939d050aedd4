//! DistilBERT (Sanh et al. 2019): `transformers.models.distilbert`.

use super::{
    class::Head,
    family::Family,
    forward::ForwardError,
    load::LoadError,
    network::{Inputs, Network, Pass},
    text_head::{MaskedLm, MaskedLmNames, MaskedLmShape, TextHead},
    text_model::{Backbone, Hidden, TextModel},
};
use crate::{
    backend::{Activation, Ops},
    config::Config,
    layer::{
        AttentionNames, AttentionShape, Embedding, FeedForward, LayerNorm, Linear, SelfAttention, padding_bias,
        positions,
    },
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct DistilBertConfig {
    vocab_size: usize,
    max_position_embeddings: usize,
    #[serde(alias = "num_hidden_layers")]
    n_layers: usize,
    #[serde(alias = "num_attention_heads")]
    n_heads: usize,
    #[serde(alias = "hidden_size")]
    dim: usize,
    hidden_dim: usize,
    activation: Activation,
    tie_word_embeddings: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Default for DistilBertConfig {
    fn default() -> Self {
        Self {
            vocab_size: 30522,
            max_position_embeddings: 512,
            n_layers: 6,
            n_heads: 12,
            dim: 768,
            hidden_dim: 3072,
            activation: Activation::Gelu,
            tie_word_embeddings: true,
            rest: Map::new(),
        }
    }
}

impl Config for DistilBertConfig {
    /// The table of sinusoids is in the checkpoint, whatever made it.
    const INERT: &'static [&'static str] = &["sinusoidal_pos_embds", "tie_weights_"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        crate::config::divides("dim", self.dim, "n_heads", self.n_heads)
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        match head {
            Head::MaskedLm => Vec::new(),
            _ => vec![("tie_word_embeddings", "only masked language models have a decoder to tie")],
        }
    }
}

/// The type's own constant; the configuration has no field for it.
const EPS: f64 = 1e-12;

/// `model_type` `distilbert`.
pub(crate) struct DistilBert;

impl Family for DistilBert {
    type Config = DistilBertConfig;
    const NAME: &'static str = "DistilBert";
    const HEADS: &'static [Head] =
        &[Head::Base, Head::MaskedLm, Head::SequenceClassification, Head::TokenClassification, Head::QuestionAnswering];

    fn load<B: Ops>(
        config: &DistilBertConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let backbone = Encoder::load(config, &w.base("distilbert"))?;
        let width = config.dim;
        let head = match head {
            Head::MaskedLm => TextHead::MaskedLm(masked_lm(config, w, backbone.word_embeddings.weight())?),
            Head::SequenceClassification => TextHead::FirstToken {
                dense: Linear::load(&w.module("pre_classifier"), width, width)?,
                activation: Activation::Relu,
                out: Linear::load(&w.module("classifier"), width, labels)?,
            },
            Head::TokenClassification => TextHead::per_token(w, width, labels)?,
            Head::QuestionAnswering => TextHead::span(w, width)?,
            _ => TextHead::Base,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}

fn masked_lm<B: Ops>(
    config: &DistilBertConfig,
    w: &Weights<B>,
    embedding: Tensor<B, 2>,
) -> Result<MaskedLm<B>, WeightsError> {
    let names =
        MaskedLmNames { dense: "vocab_transform", norm: "vocab_layer_norm", decoder: "vocab_projector", bias: None };
    let shape = MaskedLmShape {
        width: config.dim,
        inner: config.dim,
        vocab: config.vocab_size,
        activation: config.activation,
        eps: EPS,
        tied: config.tie_word_embeddings,
    };
    MaskedLm::load(w, &names, &shape, embedding)
}

struct Encoder<B: Ops> {
    word_embeddings: Embedding<B>,
    position_embeddings: Embedding<B>,
    norm: LayerNorm<B>,
    layers: Vec<Layer<B>>,
    /// Rows of the word and position embeddings.
    limits: [usize; 2],
}

impl<B: Ops> Encoder<B> {
    fn load(config: &DistilBertConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let embeddings = w.module("embeddings");
        let limits = [config.vocab_size, config.max_position_embeddings];
        let layer = |index| Layer::load(config, &w.module("transformer.layer").module(index));
        Ok(Self {
            word_embeddings: Embedding::load(&embeddings.module("word_embeddings"), limits[0], config.dim)?,
            position_embeddings: Embedding::load(&embeddings.module("position_embeddings"), limits[1], config.dim)?,
            norm: LayerNorm::load(&embeddings.module("LayerNorm"), config.dim, EPS)?,
            layers: (0..config.n_layers).map(layer).collect::<Result<_, _>>()?,
            limits,
        })
    }
}

impl<B: Ops> Backbone<B> for Encoder<B> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let ids = inputs.indices("input_ids", self.limits[0])?;
        let shape = ids.dims();
        let (values, position_shape) = positions(inputs, shape, 0)?;
        let positions = inputs.checked_indices("position_ids", values, position_shape, self.limits[1])?;
        let embedded = self.word_embeddings.forward(ids) + self.position_embeddings.forward(positions);
        let mut x = self.norm.forward(embedded);
        pass.trace_embed(&x)?;
        let bias = padding_bias(inputs, shape)?;
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x, bias.clone());
            pass.trace_layer(index, &x)?;
        }
        Ok(Hidden { last: x, pooled: None })
    }

    fn max_positions(&self) -> Option<usize> {
        Some(self.limits[1])
    }
}

struct Layer<B: Ops> {
    attention: SelfAttention<B>,
    sa_layer_norm: LayerNorm<B>,
    ffn: FeedForward<B>,
    output_layer_norm: LayerNorm<B>,
}

const ATTENTION: AttentionNames = AttentionNames {
    query: "attention.q_lin",
    key: "attention.k_lin",
    value: "attention.v_lin",
    output: "attention.out_lin",
};

impl<B: Ops> Layer<B> {
    fn load(config: &DistilBertConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, inner) = (config.dim, config.hidden_dim);
        let shape = AttentionShape { width, heads: config.n_heads, bias: true };
        Ok(Self {
            attention: SelfAttention::load(w, &ATTENTION, &shape)?,
            sa_layer_norm: LayerNorm::load(&w.module("sa_layer_norm"), width, EPS)?,
            ffn: FeedForward {
                up: Linear::load(&w.module("ffn.lin1"), width, inner)?,
                activation: config.activation,
                down: Linear::load(&w.module("ffn.lin2"), inner, width)?,
            },
            output_layer_norm: LayerNorm::load(&w.module("output_layer_norm"), width, EPS)?,
        })
    }

    /// [batch, seq, width], normalised after each residual sum.
    fn forward(&self, x: Tensor<B, 3>, bias: Option<Tensor<B, 4>>) -> Tensor<B, 3> {
        let x = self.sa_layer_norm.forward_sum(self.attention.forward(x.clone(), bias), x);
        self.output_layer_norm.forward_sum(self.ffn.forward(x.clone()), x)
    }
}
