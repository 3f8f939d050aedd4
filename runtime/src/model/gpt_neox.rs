//! GPT-NeoX (Black et al. 2022) and Pythia: `transformers.models.gpt_neox`.

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
    config::{Config, divides},
    layer::{
        Embedding, FeedForward, GroupedAttention, LayerNorm, Linear, Projections, RopeFields, RopeParameters, Rotary,
        Rotation, causal_bias, positions,
    },
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct GptNeoXConfig {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: Activation,
    max_position_embeddings: usize,
    layer_norm_eps: f64,
    use_parallel_residual: bool,
    attention_bias: bool,
    tie_word_embeddings: bool,
    pad_token_id: Option<i64>,
    rope_parameters: Option<RopeParameters>,
    rope_scaling: Option<RopeParameters>,
    rotary_emb_base: Option<f64>,
    rotary_pct: Option<f64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Default for GptNeoXConfig {
    fn default() -> Self {
        Self {
            vocab_size: 50432,
            hidden_size: 6144,
            num_hidden_layers: 44,
            num_attention_heads: 64,
            intermediate_size: 24576,
            hidden_act: Activation::Gelu,
            max_position_embeddings: 2048,
            layer_norm_eps: 1e-5,
            use_parallel_residual: true,
            attention_bias: true,
            tie_word_embeddings: false,
            pad_token_id: None,
            rope_parameters: None,
            rope_scaling: None,
            rotary_emb_base: None,
            rotary_pct: None,
            rest: Map::new(),
        }
    }
}

impl GptNeoXConfig {
    fn fields(&self) -> RopeFields<'_> {
        let parameters = self.rope_scaling.as_ref().or(self.rope_parameters.as_ref());
        RopeFields { parameters, theta: self.rotary_emb_base }
    }

    /// A quarter of each head rotates where no field says it.
    fn rope(&self) -> RopeParameters {
        let mut rope = self.fields().parameters(self.max_position_embeddings);
        rope.partial_rotary_factor = rope.partial_rotary_factor.or(self.rotary_pct).or(Some(0.25));
        rope
    }

    fn head_dim(&self) -> usize {
        self.hidden_size / self.num_attention_heads.max(1)
    }
}

impl Config for GptNeoXConfig {
    /// Whether the model is part of another one.
    const INERT: &'static [&'static str] = &["is_decoder"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides("hidden_size", self.hidden_size, "num_attention_heads", self.num_attention_heads)?;
        self.rope().validate()?;
        self.rope().validate_width(self.head_dim())
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = fields_of_other_heads(head);
        if !self.fields().reads_max_positions() {
            fields.push(("max_position_embeddings", "this rope type does not depend on the trained length"));
        }
        fields.extend(self.rope().without_effect(self.head_dim()));
        fields
    }
}

/// `model_type` `gpt_neox`.
pub(crate) struct GptNeoX;

impl Family for GptNeoX {
    type Config = GptNeoXConfig;
    const NAME: &'static str = "GPTNeoX";
    const HEADS: &'static [Head] =
        &[Head::Base, Head::CausalLm, Head::SequenceClassification, Head::TokenClassification, Head::QuestionAnswering];

    fn load<B: Ops>(
        config: &GptNeoXConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let backbone = Decoder::load(config, &w.base("gpt_neox"))?;
        let (width, vocab) = (config.hidden_size, config.vocab_size);
        let tied = config.tie_word_embeddings.then(|| backbone.embed_in.weight());
        let head = match head {
            // Older checkpoints keep the head under another name.
            Head::CausalLm if tied.is_none() => {
                let w = w.module_named(&["lm_head", "embed_out"]);
                TextHead::CausalLm(Linear::load_with_bias(&w, width, vocab, false)?)
            }
            head => TextHead::of_decoder(w, head, [width, vocab, labels], tied, config.pad_token_id)?,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}

struct Decoder<B: Ops> {
    embed_in: Embedding<B>,
    layers: Vec<Layer<B>>,
    final_layer_norm: LayerNorm<B>,
    rotary: Rotary,
    vocab: usize,
}

impl<B: Ops> Decoder<B> {
    fn load(config: &GptNeoXConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let width = config.hidden_size;
        let layer = |index| Layer::load(config, &w.module("layers").module(index));
        Ok(Self {
            embed_in: Embedding::load(&w.module("embed_in"), config.vocab_size, width)?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_, _>>()?,
            final_layer_norm: LayerNorm::load(&w.module("final_layer_norm"), width, config.layer_norm_eps)?,
            rotary: Rotary::new(&config.rope(), config.head_dim(), config.max_position_embeddings),
            vocab: config.vocab_size,
        })
    }
}

impl<B: Ops> Backbone<B> for Decoder<B> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let ids = inputs.indices("input_ids", self.vocab)?;
        let shape = ids.dims();
        let (values, position_shape) = positions(inputs, shape, pass.past())?;
        let rotation = self.rotary.at(&values, position_shape, inputs);
        let bias = causal_bias(inputs, shape, pass.past(), None)?;
        let mut x = self.embed_in.forward(ids);
        pass.trace_embed(&x)?;
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x, &rotation, bias.clone(), (index, pass));
            if index + 1 < self.layers.len() {
                pass.trace_layer(index, &x)?;
            }
        }
        let last = self.final_layer_norm.forward(x);
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
    input_layernorm: LayerNorm<B>,
    attention: GroupedAttention<B>,
    post_attention_layernorm: LayerNorm<B>,
    mlp: FeedForward<B>,
    parallel: bool,
}

impl<B: Ops> Layer<B> {
    fn load(config: &GptNeoXConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, inner, heads) = (config.hidden_size, config.intermediate_size, config.num_attention_heads);
        let norm = |name| LayerNorm::load(&w.module(name), width, config.layer_norm_eps);
        let (head_dim, bias) = (config.head_dim(), config.attention_bias);
        let qkv = w.module("attention.query_key_value");
        Ok(Self {
            input_layernorm: norm("input_layernorm")?,
            attention: GroupedAttention {
                projections: Projections::load_by_group(&qkv, width, [heads, 1, head_dim], bias)?,
                norms: None,
                output: Linear::load_with_bias(&w.module("attention.dense"), width, width, bias)?,
                heads: [heads, heads],
                scale: (head_dim as f64).powf(-0.5),
                soft_cap: None,
                clip: None,
            },
            post_attention_layernorm: norm("post_attention_layernorm")?,
            mlp: FeedForward {
                up: Linear::load(&w.module("mlp.dense_h_to_4h"), width, inner)?,
                activation: config.hidden_act,
                down: Linear::load(&w.module("mlp.dense_4h_to_h"), inner, width)?,
            },
            parallel: config.use_parallel_residual,
        })
    }

    /// [batch, seq, width]; side by side both blocks read the same input, else the second reads what the first left.
    fn forward(
        &self,
        x: Tensor<B, 3>,
        rotation: &Rotation<B>,
        bias: Option<Tensor<B, 4>>,
        place: (usize, &mut Pass<'_, B>),
    ) -> Tensor<B, 3> {
        let attended = self.attention.forward(self.input_layernorm.forward(x.clone()), Some(rotation), bias, place);
        let behind = x.clone() + attended;
        let read = if self.parallel { x } else { behind.clone() };
        behind + self.mlp.forward(self.post_attention_layernorm.forward(read))
    }
}
