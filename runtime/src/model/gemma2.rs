//! Gemma 2 (Gemma Team 2024): `transformers.models.gemma2`. A gated decoder with norms before and behind each block, a
//! window in every second layer, and soft caps.

use super::{
    class::Head,
    family::Family,
    forward::ForwardError,
    load::LoadError,
    network::{Inputs, Network, Pass},
    sliding_windows::{LayerType, validate_layer_types},
    text_head::{TextHead, fields_of_other_heads},
    text_model::{Backbone, Hidden, TextModel},
};
use crate::{
    backend::{Activation, Ops},
    config::{Config, divides},
    layer::{
        CausalMasks, Embedding, GatedFeedForward, GroupedAttention, Linear, ProjectionNames, Projections, RmsNorm,
        RopeFields, RopeParameters, Rotary, Rotation, positions,
    },
    weights::{Weights, WeightsError},
};
use burn::tensor::{DType, Tensor};
use half::{bf16, f16};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct Gemma2Config {
    vocab_size: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: usize,
    head_dim: usize,
    hidden_activation: Activation,
    max_position_embeddings: usize,
    rms_norm_eps: f64,
    pad_token_id: Option<i64>,
    tie_word_embeddings: bool,
    attention_bias: bool,
    query_pre_attn_scalar: f64,
    sliding_window: Option<usize>,
    layer_types: Option<Vec<LayerType>>,
    final_logit_softcapping: Option<f64>,
    attn_logit_softcapping: Option<f64>,
    rope_parameters: Option<RopeParameters>,
    rope_scaling: Option<RopeParameters>,
    rope_theta: Option<f64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Default for Gemma2Config {
    fn default() -> Self {
        Self {
            vocab_size: 256_000,
            hidden_size: 2304,
            intermediate_size: 9216,
            num_hidden_layers: 26,
            num_attention_heads: 8,
            num_key_value_heads: 4,
            head_dim: 256,
            hidden_activation: Activation::GeluNew,
            max_position_embeddings: 8192,
            rms_norm_eps: 1e-6,
            pad_token_id: Some(0),
            tie_word_embeddings: true,
            attention_bias: false,
            query_pre_attn_scalar: 256.0,
            sliding_window: Some(4096),
            layer_types: None,
            final_logit_softcapping: Some(30.0),
            attn_logit_softcapping: Some(50.0),
            rope_parameters: None,
            rope_scaling: None,
            rope_theta: None,
            rest: Map::new(),
        }
    }
}

impl Gemma2Config {
    fn rope(&self) -> RopeFields<'_> {
        let parameters = self.rope_scaling.as_ref().or(self.rope_parameters.as_ref());
        RopeFields { parameters, theta: self.rope_theta }
    }

    /// The window of each layer: that of `layer_types`, else of every second layer from the first on.
    fn windows(&self) -> Vec<Option<usize>> {
        let slides = |layer: usize| match &self.layer_types {
            Some(types) => types[layer] == LayerType::SlidingAttention,
            None => layer.is_multiple_of(2),
        };
        (0..self.num_hidden_layers).map(|layer| self.sliding_window.filter(|_| slides(layer))).collect()
    }
}

impl Config for Gemma2Config {
    /// The activation is `hidden_activation`; the window has a second name; how the cache is kept.
    const INERT: &'static [&'static str] = &["cache_implementation", "hidden_act", "sliding_window_size"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        let heads = self.num_attention_heads;
        divides("hidden_size", self.hidden_size, "num_attention_heads", heads)?;
        divides("num_attention_heads", heads, "num_key_value_heads", self.num_key_value_heads)?;
        if let Some(types) = &self.layer_types {
            validate_layer_types(types, self.num_hidden_layers)?;
        }
        self.rope().validate()?;
        self.rope().parameters(self.max_position_embeddings).validate_width(self.head_dim)
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = fields_of_other_heads(head);
        if !self.rope().reads_max_positions() {
            fields.push(("max_position_embeddings", "this rope type does not depend on the trained length"));
        }
        fields.extend(self.rope().parameters(self.max_position_embeddings).without_effect(self.head_dim));
        if self.windows().iter().all(Option::is_none) {
            fields.push(("sliding_window", "no layer has a window"));
            fields.push(("layer_types", "no layer has a window"));
        }
        if head != Head::CausalLm {
            fields.push(("final_logit_softcapping", "only language models cap their logits"));
        }
        fields
    }
}

/// `model_type` `gemma2`.
pub(crate) struct Gemma2;

impl Family for Gemma2 {
    type Config = Gemma2Config;
    const NAME: &'static str = "Gemma2";
    const HEADS: &'static [Head] =
        &[Head::Base, Head::CausalLm, Head::SequenceClassification, Head::TokenClassification];

    fn load<B: Ops>(
        config: &Gemma2Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let backbone = Decoder::load(config, &w.base("model"))?;
        let width = config.hidden_size;
        let head = match head {
            Head::TokenClassification => TextHead::PerToken(Linear::load(&w.module("score"), width, labels)?),
            head => {
                let tied = config.tie_word_embeddings.then(|| backbone.embed_tokens.weight());
                TextHead::of_decoder(w, head, [width, config.vocab_size, labels], tied, config.pad_token_id)?
            }
        };
        let head = match (head, config.final_logit_softcapping) {
            (TextHead::CausalLm(head), Some(cap)) => TextHead::CappedLm(head, cap),
            (head, _) => head,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}

struct Decoder<B: Ops> {
    embed_tokens: Embedding<B>,
    scale: f64,
    layers: Vec<Layer<B>>,
    norm: RmsNorm<B>,
    rotary: Rotary,
    vocab: usize,
}

impl<B: Ops> Decoder<B> {
    fn load(config: &Gemma2Config, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, trained) = (config.hidden_size, config.max_position_embeddings);
        let layer = |(index, window)| Layer::load(config, window, &w.module("layers").module(index));
        Ok(Self {
            embed_tokens: Embedding::load(&w.module("embed_tokens"), config.vocab_size, width)?,
            scale: rounded((width as f64).sqrt(), w.dtype()),
            layers: config.windows().into_iter().enumerate().map(layer).collect::<Result<_, _>>()?,
            norm: RmsNorm::load_around_one(&w.module("norm"), width, config.rms_norm_eps)?,
            rotary: Rotary::new(&config.rope().parameters(trained), config.head_dim, trained),
            vocab: config.vocab_size,
        })
    }
}

/// The embeddings are scaled by a number of their own type.
fn rounded(scale: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f16::from_f64(scale).to_f64(),
        DType::BF16 => bf16::from_f64(scale).to_f64(),
        _ => scale,
    }
}

impl<B: Ops> Backbone<B> for Decoder<B> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let ids = inputs.indices("input_ids", self.vocab)?;
        let shape = ids.dims();
        let (values, position_shape) = positions(inputs, shape, pass.past())?;
        let rotation = self.rotary.at(&values, position_shape, inputs);
        let mut masks = CausalMasks::new(inputs, shape, pass.past());
        let mut x = self.embed_tokens.forward(ids) * self.scale;
        pass.trace_embed(&x)?;
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x, &rotation, masks.bias(layer.window)?, (index, pass));
            if index + 1 < self.layers.len() {
                pass.trace_layer(index, &x)?;
            }
        }
        let last = self.norm.forward(x);
        pass.trace_layer(self.layers.len().saturating_sub(1), &last)?;
        Ok(Hidden { last, pooled: None })
    }

    fn cached_layers(&self) -> Option<usize> {
        Some(self.layers.len())
    }

    fn max_positions(&self) -> Option<usize> {
        None
    }

    fn cacheable_length(&self) -> Option<usize> {
        self.rotary.cacheable()
    }

    fn recomputed_beyond(&self) -> Option<usize> {
        self.rotary.recomputed_beyond()
    }
}

struct Layer<B: Ops> {
    input_layernorm: RmsNorm<B>,
    self_attn: GroupedAttention<B>,
    post_attention_layernorm: RmsNorm<B>,
    pre_feedforward_layernorm: RmsNorm<B>,
    mlp: GatedFeedForward<B>,
    post_feedforward_layernorm: RmsNorm<B>,
    window: Option<usize>,
}

impl<B: Ops> Layer<B> {
    fn load(config: &Gemma2Config, window: Option<usize>, w: &Weights<B>) -> Result<Self, WeightsError> {
        let widths = [config.hidden_size, config.intermediate_size];
        let norm = |name| RmsNorm::load_around_one(&w.module(name), widths[0], config.rms_norm_eps);
        let gate_and_up = ProjectionNames::Apart(["gate_proj", "up_proj"]);
        Ok(Self {
            input_layernorm: norm("input_layernorm")?,
            self_attn: attention(config, &w.module("self_attn"))?,
            post_attention_layernorm: norm("post_attention_layernorm")?,
            pre_feedforward_layernorm: norm("pre_feedforward_layernorm")?,
            mlp: GatedFeedForward::load(&w.module("mlp"), gate_and_up, widths, config.hidden_activation, false)?,
            post_feedforward_layernorm: norm("post_feedforward_layernorm")?,
            window,
        })
    }

    /// [batch, seq, width]; `place` is the layer's index and the pass with its cache.
    fn forward(
        &self,
        x: Tensor<B, 3>,
        rotation: &Rotation<B>,
        bias: Option<Tensor<B, 4>>,
        place: (usize, &mut Pass<'_, B>),
    ) -> Tensor<B, 3> {
        let attended = self.self_attn.forward(self.input_layernorm.forward(x.clone()), Some(rotation), bias, place);
        let x = x + self.post_attention_layernorm.forward(attended);
        let fed = self.mlp.forward(self.pre_feedforward_layernorm.forward(x.clone()));
        x + self.post_feedforward_layernorm.forward(fed)
    }
}

fn attention<B: Ops>(config: &Gemma2Config, w: &Weights<B>) -> Result<GroupedAttention<B>, WeightsError> {
    let (width, bias) = (config.hidden_size, config.attention_bias);
    let heads = [config.num_attention_heads, config.num_key_value_heads];
    let [queries, keys] = heads.map(|heads| heads * config.head_dim);
    let names = ProjectionNames::Apart(["q_proj", "k_proj", "v_proj"]);
    Ok(GroupedAttention {
        projections: Projections::load(w, names, width, [queries, keys, keys], bias)?,
        norms: None,
        output: Linear::load_with_bias(&w.module("o_proj"), queries, width, bias)?,
        heads,
        scale: config.query_pre_attn_scalar.powf(-0.5),
        soft_cap: config.attn_logit_softcapping,
        clip: None,
    })
}
