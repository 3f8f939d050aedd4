//! GPT-2 (Radford et al. 2019): `transformers.models.gpt2`.

use super::{
    class::Head,
    family::Family,
    forward::ForwardError,
    load::LoadError,
    network::{Inputs, Network, Pass},
    text_head::{TextHead, fields_of_other_heads},
    text_model::{Backbone, Hidden, TextModel},
};
use crate::{
    backend::{Activation, Ops},
    config::Config,
    layer::{Embedding, FeedForward, LayerNorm, Linear, attend, causal_bias, positions, split_heads},
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct Gpt2Config {
    vocab_size: usize,
    #[serde(alias = "max_position_embeddings")]
    n_positions: usize,
    #[serde(alias = "hidden_size")]
    n_embd: usize,
    #[serde(alias = "num_hidden_layers")]
    n_layer: usize,
    #[serde(alias = "num_attention_heads")]
    n_head: usize,
    n_inner: Option<usize>,
    activation_function: Activation,
    layer_norm_epsilon: f64,
    scale_attn_weights: bool,
    scale_attn_by_inverse_layer_idx: bool,
    reorder_and_upcast_attn: bool,
    tie_word_embeddings: bool,
    pad_token_id: Option<i64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Default for Gpt2Config {
    fn default() -> Self {
        Self {
            vocab_size: 50257,
            n_positions: 1024,
            n_embd: 768,
            n_layer: 12,
            n_head: 12,
            n_inner: None,
            activation_function: Activation::GeluNew,
            layer_norm_epsilon: 1e-5,
            scale_attn_weights: true,
            scale_attn_by_inverse_layer_idx: false,
            reorder_and_upcast_attn: false,
            tie_word_embeddings: true,
            pad_token_id: None,
            rest: Map::new(),
        }
    }
}

impl Config for Gpt2Config {
    /// `n_ctx` repeats `n_positions`; the summary is of the double-heads class alone.
    const INERT: &'static [&'static str] =
        &["n_ctx", "summary_activation", "summary_proj_to_labels", "summary_type", "summary_use_proj"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        crate::config::divides("n_embd", self.n_embd, "n_head", self.n_head)
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let rounding = ("reorder_and_upcast_attn", "it says where to round; scores are always computed in f32 here");
        let mut fields = fields_of_other_heads(head);
        fields.push(rounding);
        if self.n_layer == 1 {
            fields
                .push(("scale_attn_by_inverse_layer_idx", "the first layer is divided by one, and there is no other"));
        }
        fields
    }
}

/// `model_type` `gpt2`.
pub(crate) struct Gpt2;

impl Family for Gpt2 {
    type Config = Gpt2Config;
    const NAME: &'static str = "GPT2";
    const HEADS: &'static [Head] =
        &[Head::Base, Head::CausalLm, Head::SequenceClassification, Head::TokenClassification, Head::QuestionAnswering];

    fn load<B: Ops>(
        config: &Gpt2Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let backbone = Decoder::load(config, &w.base("transformer"))?;
        let width = config.n_embd;
        let head = match head {
            Head::CausalLm => {
                TextHead::causal_lm(w, [width, config.vocab_size], config.tie_word_embeddings, backbone.wte.weight())?
            }
            Head::SequenceClassification => TextHead::last_token(w, width, labels, config.pad_token_id)?,
            Head::TokenClassification => TextHead::per_token(w, width, labels)?,
            Head::QuestionAnswering => TextHead::span(w, width)?,
            _ => TextHead::Base,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}

struct Decoder<B: Ops> {
    wte: Embedding<B>,
    wpe: Embedding<B>,
    layers: Vec<Layer<B>>,
    ln_f: LayerNorm<B>,
    /// Rows of the token and position embeddings.
    limits: [usize; 2],
}

impl<B: Ops> Decoder<B> {
    fn load(config: &Gpt2Config, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, limits) = (config.n_embd, [config.vocab_size, config.n_positions]);
        let layer = |index| Layer::load(config, index, &w.module("h").module(index));
        Ok(Self {
            wte: Embedding::load(&w.module("wte"), limits[0], width)?,
            wpe: Embedding::load(&w.module("wpe"), limits[1], width)?,
            layers: (0..config.n_layer).map(layer).collect::<Result<_, _>>()?,
            ln_f: LayerNorm::load(&w.module("ln_f"), width, config.layer_norm_epsilon)?,
            limits,
        })
    }

    fn embed(&self, inputs: &Inputs<'_, B>, past: usize) -> Result<Tensor<B, 3>, ForwardError> {
        let ids = inputs.indices("input_ids", self.limits[0])?;
        let (values, shape) = positions(inputs, ids.dims(), past)?;
        let positions = inputs.checked_indices("position_ids", values, shape, self.limits[1])?;
        let embedded = self.wte.forward(ids) + self.wpe.forward(positions);
        match inputs.optional_indices("token_type_ids", self.limits[0])? {
            Some(token_types) => Ok(embedded + self.wte.forward(token_types)),
            None => Ok(embedded),
        }
    }
}

impl<B: Ops> Backbone<B> for Decoder<B> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let mut x = self.embed(inputs, pass.past())?;
        pass.trace_embed(&x)?;
        let [batch, seq, _] = x.dims();
        let bias = causal_bias(inputs, [batch, seq], pass.past(), None)?;
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x, bias.clone(), index, pass);
            if index + 1 < self.layers.len() {
                pass.trace_layer(index, &x)?;
            }
        }
        let last = self.ln_f.forward(x);
        pass.trace_layer(self.layers.len().saturating_sub(1), &last)?;
        Ok(Hidden { last, pooled: None })
    }

    fn cached_layers(&self) -> Option<usize> {
        Some(self.layers.len())
    }

    fn max_positions(&self) -> Option<usize> {
        Some(self.limits[1])
    }
}

struct Layer<B: Ops> {
    ln_1: LayerNorm<B>,
    c_attn: Linear<B>,
    c_proj: Linear<B>,
    ln_2: LayerNorm<B>,
    mlp: FeedForward<B>,
    heads: usize,
    scale: f64,
}

impl<B: Ops> Layer<B> {
    fn load(config: &Gpt2Config, index: usize, w: &Weights<B>) -> Result<Self, WeightsError> {
        let width = config.n_embd;
        let inner = config.n_inner.unwrap_or(4 * width);
        let norm = |name| LayerNorm::load(&w.module(name), width, config.layer_norm_epsilon);
        let linear = |name, inner, out| Linear::load_conv1d(&w.module(name), inner, out);
        Ok(Self {
            ln_1: norm("ln_1")?,
            c_attn: linear("attn.c_attn", width, 3 * width)?,
            c_proj: linear("attn.c_proj", width, width)?,
            ln_2: norm("ln_2")?,
            mlp: FeedForward {
                up: linear("mlp.c_fc", width, inner)?,
                activation: config.activation_function,
                down: linear("mlp.c_proj", inner, width)?,
            },
            heads: config.n_head,
            scale: scale(config, index),
        })
    }

    /// [batch, seq, width], normalised before attention and before the perceptron.
    fn forward(
        &self,
        x: Tensor<B, 3>,
        bias: Option<Tensor<B, 4>>,
        index: usize,
        pass: &mut Pass<'_, B>,
    ) -> Tensor<B, 3> {
        let [_, _, width] = x.dims();
        let projected = self.c_attn.forward(self.ln_1.forward(x.clone()));
        let part = |part| split_heads(projected.clone().narrow(2, part * width, width), self.heads);
        let (query, key, value) = (part(0), part(1), part(2));
        let (key, value) = pass.with_past(index, key, value);
        let x = x + self.c_proj.forward(attend(query, key, value, self.scale, bias));
        x.clone() + self.mlp.forward(self.ln_2.forward(x))
    }
}

/// What the scores of layer `index` are multiplied by.
fn scale(config: &Gpt2Config, index: usize) -> f64 {
    let head_dim = (config.n_embd / config.n_head) as f64;
    let by_width = if config.scale_attn_weights { head_dim.powf(-0.5) } else { 1.0 };
    if config.scale_attn_by_inverse_layer_idx { by_width / (index + 1) as f64 } else { by_width }
}
