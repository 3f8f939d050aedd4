//! Falcon (Almazrouei et al. 2023): `transformers.models.falcon`.

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
        Alibi, Embedding, FeedForward, GroupedAttention, LayerNorm, Linear, Projections, RopeFields, RopeParameters,
        Rotary, Rotation, causal_bias, positions,
    },
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct FalconConfig {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_kv_heads: Option<usize>,
    num_ln_in_parallel_attn: Option<usize>,
    layer_norm_epsilon: f64,
    alibi: bool,
    new_decoder_architecture: bool,
    multi_query: bool,
    parallel_attn: bool,
    bias: bool,
    max_position_embeddings: usize,
    ffn_hidden_size: Option<usize>,
    activation: Activation,
    tie_word_embeddings: bool,
    pad_token_id: Option<i64>,
    rope_parameters: Option<RopeParameters>,
    rope_scaling: Option<RopeParameters>,
    rope_theta: Option<f64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Default for FalconConfig {
    fn default() -> Self {
        Self {
            vocab_size: 65024,
            hidden_size: 4544,
            num_hidden_layers: 32,
            num_attention_heads: 71,
            num_kv_heads: None,
            num_ln_in_parallel_attn: None,
            layer_norm_epsilon: 1e-5,
            alibi: false,
            new_decoder_architecture: false,
            multi_query: true,
            parallel_attn: true,
            bias: false,
            max_position_embeddings: 2048,
            ffn_hidden_size: None,
            activation: Activation::Gelu,
            tie_word_embeddings: true,
            pad_token_id: None,
            rope_parameters: None,
            rope_scaling: None,
            rope_theta: None,
            rest: Map::new(),
        }
    }
}

impl FalconConfig {
    fn rope(&self) -> RopeFields<'_> {
        let parameters = self.rope_scaling.as_ref().or(self.rope_parameters.as_ref());
        RopeFields { parameters, theta: self.rope_theta }
    }

    fn head_dim(&self) -> usize {
        self.hidden_size / self.num_attention_heads.max(1)
    }

    /// Heads of keys and values.
    fn groups(&self) -> usize {
        match (self.new_decoder_architecture, self.multi_query) {
            (false, true) => 1,
            _ => self.num_kv_heads.unwrap_or(self.num_attention_heads),
        }
    }

    /// Norms before blocks that stand side by side.
    fn parallel_norms(&self) -> usize {
        let usual = if self.new_decoder_architecture { 2 } else { 1 };
        self.num_ln_in_parallel_attn.unwrap_or(usual)
    }
}

impl Config for FalconConfig {
    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        let heads = self.num_attention_heads;
        divides("hidden_size", self.hidden_size, "num_attention_heads", heads)?;
        divides("num_attention_heads", heads, "num_kv_heads", self.groups())?;
        if !self.new_decoder_architecture && !self.multi_query && self.groups() != heads {
            return Err(format!(
                "`num_kv_heads` {} is not `num_attention_heads` {heads} without groups",
                self.groups()
            ));
        }
        if self.new_decoder_architecture && !self.parallel_attn {
            return Err(
                "`new_decoder_architecture` without `parallel_attn` has no norm before its perceptron".to_owned()
            );
        }
        match (self.parallel_norms(), self.new_decoder_architecture) {
            (1, _) | (2, true) => {}
            (count, _) => return Err(format!("`num_ln_in_parallel_attn` {count} is not supported here")),
        }
        if self.alibi {
            return Ok(());
        }
        self.rope().validate()?;
        self.rope().parameters(self.max_position_embeddings).validate_width(self.head_dim())
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = fields_of_other_heads(head);
        if self.alibi {
            let names = ["max_position_embeddings", "rope_parameters", "rope_scaling", "rope_theta"];
            fields.extend(names.map(|name| (name, "positions are linear biases")));
        } else if !self.rope().reads_max_positions() {
            fields.push(("max_position_embeddings", "this rope type does not depend on the trained length"));
        }
        fields.extend(self.rope().parameters(self.max_position_embeddings).without_effect(self.head_dim()));
        if self.num_kv_heads == Some(1) && self.num_ln_in_parallel_attn == Some(1) {
            fields.push(("new_decoder_architecture", "with one key and one norm both architectures are the same"));
        }
        if self.num_attention_heads == 1 {
            fields.push(("multi_query", "a single head has one key in any case"));
        }
        if self.new_decoder_architecture {
            fields.push(("multi_query", "`num_kv_heads` counts"));
        } else if self.multi_query {
            fields.push(("num_kv_heads", "`multi_query` has one"));
        }
        fields
    }
}

/// `model_type` `falcon`.
pub(crate) struct Falcon;

impl Family for Falcon {
    type Config = FalconConfig;
    const NAME: &'static str = "Falcon";
    const HEADS: &'static [Head] =
        &[Head::Base, Head::CausalLm, Head::SequenceClassification, Head::TokenClassification, Head::QuestionAnswering];

    fn load<B: Ops>(
        config: &FalconConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let backbone = Decoder::load(config, &w.base("transformer"))?;
        let (width, vocab, tied) = (config.hidden_size, config.vocab_size, config.tie_word_embeddings);
        let embedding = backbone.word_embeddings.weight();
        let head =
            TextHead::of_decoder(w, head, [width, vocab, labels], tied.then_some(embedding), config.pad_token_id)?;
        Ok(Box::new(TextModel { backbone, head }))
    }
}

struct Decoder<B: Ops> {
    word_embeddings: Embedding<B>,
    layers: Vec<Layer<B>>,
    ln_f: LayerNorm<B>,
    positions: Positions,
    vocab: usize,
}

/// How a key's position counts.
enum Positions {
    Alibi(Alibi),
    Rotary(Rotary),
}

impl<B: Ops> Decoder<B> {
    fn load(config: &FalconConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, trained) = (config.hidden_size, config.max_position_embeddings);
        let layer = |index| Layer::load(config, &w.module("h").module(index));
        Ok(Self {
            word_embeddings: Embedding::load(&w.module("word_embeddings"), config.vocab_size, width)?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_, _>>()?,
            ln_f: LayerNorm::load(&w.module("ln_f"), width, config.layer_norm_epsilon)?,
            positions: if config.alibi {
                Positions::Alibi(Alibi::rounded(config.num_attention_heads, (config.head_dim() as f64).powf(-0.5)))
            } else {
                Positions::Rotary(Rotary::new(&config.rope().parameters(trained), config.head_dim(), trained))
            },
            vocab: config.vocab_size,
        })
    }
}

impl<B: Ops> Backbone<B> for Decoder<B> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let ids = inputs.indices("input_ids", self.vocab)?;
        let (shape, past) = (ids.dims(), pass.past());
        let causal = causal_bias(inputs, shape, past, None)?;
        let (bias, rotation) = match &self.positions {
            Positions::Alibi(alibi) => (Some(alibi.bias(inputs, shape, past, causal)?), None),
            Positions::Rotary(rotary) => {
                let (values, shape) = positions(inputs, shape, past)?;
                (causal, Some(rotary.at(&values, shape, inputs)))
            }
        };
        let mut x = self.word_embeddings.forward(ids);
        pass.trace_embed(&x)?;
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x, rotation.as_ref(), bias.clone(), (index, pass));
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
        None
    }

    fn cacheable_length(&self) -> Option<usize> {
        match &self.positions {
            Positions::Alibi(_) => None,
            Positions::Rotary(rotary) => rotary.cacheable(),
        }
    }

    fn recomputed_beyond(&self) -> Option<usize> {
        match &self.positions {
            Positions::Alibi(_) => None,
            Positions::Rotary(rotary) => rotary.recomputed_beyond(),
        }
    }
}

struct Layer<B: Ops> {
    norms: Norms<B>,
    self_attention: GroupedAttention<B>,
    mlp: FeedForward<B>,
}

/// What the two blocks read.
enum Norms<B: Ops> {
    /// Both the same.
    Shared(LayerNorm<B>),
    /// Attention and perceptron each its own, of the same input.
    Own(LayerNorm<B>, LayerNorm<B>),
    /// The perceptron reads what attention left.
    InARow(LayerNorm<B>, LayerNorm<B>),
}

impl<B: Ops> Layer<B> {
    fn load(config: &FalconConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, heads, groups, bias) =
            (config.hidden_size, config.num_attention_heads, config.groups(), config.bias);
        let inner = config.ffn_hidden_size.unwrap_or(4 * width);
        let norm = |name| LayerNorm::load(&w.module(name), width, config.layer_norm_epsilon);
        let linear = |name, inner, out| Linear::load_with_bias(&w.module(name), inner, out, bias);
        let (qkv, shape) = (w.module("self_attention.query_key_value"), [groups, heads / groups, config.head_dim()]);
        Ok(Self {
            norms: match (config.parallel_attn, config.parallel_norms()) {
                (false, _) => Norms::InARow(norm("input_layernorm")?, norm("post_attention_layernorm")?),
                (true, 1) => Norms::Shared(norm("input_layernorm")?),
                (true, _) => Norms::Own(norm("ln_attn")?, norm("ln_mlp")?),
            },
            self_attention: GroupedAttention {
                projections: Projections::load_by_group(&qkv, width, shape, bias)?,
                norms: None,
                output: linear("self_attention.dense", width, width)?,
                heads: [heads, groups],
                scale: (config.head_dim() as f64).powf(-0.5),
                soft_cap: None,
                clip: None,
            },
            mlp: FeedForward {
                up: linear("mlp.dense_h_to_4h", width, inner)?,
                activation: config.activation,
                down: linear("mlp.dense_4h_to_h", inner, width)?,
            },
        })
    }

    /// [batch, seq, width].
    fn forward(
        &self,
        x: Tensor<B, 3>,
        rotation: Option<&Rotation<B>>,
        bias: Option<Tensor<B, 4>>,
        place: (usize, &mut Pass<'_, B>),
    ) -> Tensor<B, 3> {
        let (Norms::Shared(first) | Norms::Own(first, _) | Norms::InARow(first, _)) = &self.norms;
        let normal = first.forward(x.clone());
        let behind = x.clone() + self.self_attention.forward(normal.clone(), rotation, bias, place);
        let read = match &self.norms {
            Norms::Shared(_) => normal,
            Norms::Own(_, second) => second.forward(x),
            Norms::InARow(_, second) => second.forward(behind.clone()),
        };
        behind + self.mlp.forward(read)
    }
}
