//! The decoder that Llama made common: root-mean-square norms before each block, rotary positions, grouped heads and a
//! gated perceptron. Types that differ from it by configuration give it their [`LlamaShape`].

use super::{
    class::Head,
    forward::ForwardError,
    load::LoadError,
    network::{Inputs, Network, Pass},
    text_head::{TextHead, fields_of_other_heads},
    text_model::{Backbone, Hidden, TextModel},
};
use crate::{
    backend::{Activation, Ops, activate},
    config::divides,
    layer::{
        Embedding, Linear, RmsNorm, RopeFields, RopeParameters, Rotary, Rotation, attend, causal_bias, positions,
        split_heads,
    },
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;
use serde::Deserialize;

/// The heads of every type with this decoder.
pub(crate) const DECODER_HEADS: &[Head] =
    &[Head::Base, Head::CausalLm, Head::SequenceClassification, Head::TokenClassification, Head::QuestionAnswering];

/// The fields of `config.json` that every such type has.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct LlamaFields {
    pub(crate) vocab_size: usize,
    pub(crate) hidden_size: usize,
    pub(crate) intermediate_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) num_key_value_heads: Option<usize>,
    pub(crate) head_dim: Option<usize>,
    pub(crate) hidden_act: Activation,
    pub(crate) max_position_embeddings: usize,
    pub(crate) rms_norm_eps: f64,
    pub(crate) tie_word_embeddings: bool,
    pub(crate) pad_token_id: Option<i64>,
    rope_parameters: Option<RopeParameters>,
    rope_theta: Option<f64>,
    rope_scaling: Option<RopeParameters>,
}

impl Default for LlamaFields {
    fn default() -> Self {
        Self {
            vocab_size: 32000,
            hidden_size: 4096,
            intermediate_size: 11008,
            num_hidden_layers: 32,
            num_attention_heads: 32,
            num_key_value_heads: None,
            head_dim: None,
            hidden_act: Activation::Silu,
            max_position_embeddings: 2048,
            rms_norm_eps: 1e-6,
            tie_word_embeddings: false,
            pad_token_id: None,
            rope_parameters: None,
            rope_theta: None,
            rope_scaling: None,
        }
    }
}

impl LlamaFields {
    pub(crate) fn validate(&self) -> Result<(), String> {
        let heads = self.num_attention_heads;
        divides("num_attention_heads", heads, "num_key_value_heads", self.num_key_value_heads.unwrap_or(1))?;
        if self.head_dim.is_none() {
            divides("hidden_size", self.hidden_size, "num_attention_heads", heads)?;
        }
        if !self.head_dim().is_multiple_of(2) {
            return Err(format!("the head dimension {} is odd; rotary positions need pairs", self.head_dim()));
        }
        self.rope().validate()
    }

    /// See [`Config::without_effect`](crate::config::Config::without_effect).
    pub(crate) fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = fields_of_other_heads(head);
        if !self.rope().reads_max_positions() {
            fields.push(("max_position_embeddings", "this rope type does not depend on the trained length"));
        }
        fields
    }

    fn rope(&self) -> RopeFields<'_> {
        let parameters = self.rope_parameters.as_ref().or(self.rope_scaling.as_ref());
        RopeFields { parameters, theta: self.rope_theta }
    }

    fn head_dim(&self) -> usize {
        self.head_dim.unwrap_or(self.hidden_size / self.num_attention_heads.max(1))
    }
}

/// What the types decide differently.
pub(crate) struct LlamaShape {
    pub(crate) key_value_heads: usize,
    pub(crate) query_bias: bool,
    pub(crate) output_bias: bool,
    pub(crate) mlp_bias: bool,
    /// One for each layer; none sees every earlier token.
    pub(crate) windows: Vec<Option<usize>>,
}

impl LlamaShape {
    pub(crate) fn load<B: Ops>(
        &self,
        fields: &LlamaFields,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        // transformers keeps the base model of question answering under another name.
        let backbone = Decoder::load(fields, self, &w.base("model").base("transformer"))?;
        let width = fields.hidden_size;
        let head = match head {
            Head::CausalLm => {
                let shape = [width, fields.vocab_size];
                TextHead::causal_lm(w, shape, fields.tie_word_embeddings, backbone.embed_tokens.weight())?
            }
            Head::SequenceClassification => TextHead::last_token(w, width, labels, fields.pad_token_id)?,
            Head::TokenClassification => TextHead::PerToken(Linear::load(&w.module("score"), width, labels)?),
            Head::QuestionAnswering => TextHead::span(w, width)?,
            _ => TextHead::Base,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}

struct Decoder<B: Ops> {
    embed_tokens: Embedding<B>,
    layers: Vec<Layer<B>>,
    norm: RmsNorm<B>,
    rotary: Rotary,
    vocab: usize,
}

impl<B: Ops> Decoder<B> {
    fn load(fields: &LlamaFields, shape: &LlamaShape, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, trained) = (fields.hidden_size, fields.max_position_embeddings);
        let layer = |(index, window): (usize, &Option<usize>)| {
            Layer::load(fields, shape, *window, &w.module("layers").module(index))
        };
        Ok(Self {
            embed_tokens: Embedding::load(&w.module("embed_tokens"), fields.vocab_size, width)?,
            layers: shape.windows.iter().enumerate().map(layer).collect::<Result<_, _>>()?,
            norm: RmsNorm::load(&w.module("norm"), width, fields.rms_norm_eps)?,
            rotary: Rotary::new(&fields.rope().parameters(trained), fields.head_dim(), trained),
            vocab: fields.vocab_size,
        })
    }
}

impl<B: Ops> Backbone<B> for Decoder<B> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let ids = inputs.indices("input_ids", self.vocab)?;
        let (shape, past) = (ids.dims(), pass.past());
        let (values, position_shape) = positions(inputs, shape, past)?;
        let rotation = self.rotary.at(&values, position_shape, inputs);
        let mut masks = Masks { inputs, shape, past, made: Vec::new() };
        let mut x = self.embed_tokens.forward(ids);
        pass.trace_embed(&x)?;
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x, &rotation, masks.bias(layer.window)?, index, pass);
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
}

/// The bias of each window of one call, made once.
struct Masks<'a, 'b, B: Ops> {
    inputs: &'a Inputs<'b, B>,
    shape: [usize; 2],
    past: usize,
    made: Vec<(Option<usize>, Option<Tensor<B, 4>>)>,
}

impl<B: Ops> Masks<'_, '_, B> {
    fn bias(&mut self, window: Option<usize>) -> Result<Option<Tensor<B, 4>>, ForwardError> {
        if let Some((_, bias)) = self.made.iter().find(|(made, _)| *made == window) {
            return Ok(bias.clone());
        }
        let bias = causal_bias(self.inputs, self.shape, self.past, window)?;
        self.made.push((window, bias.clone()));
        Ok(bias)
    }
}

struct Layer<B: Ops> {
    input_layernorm: RmsNorm<B>,
    q_proj: Linear<B>,
    k_proj: Linear<B>,
    v_proj: Linear<B>,
    o_proj: Linear<B>,
    post_attention_layernorm: RmsNorm<B>,
    gate_proj: Linear<B>,
    up_proj: Linear<B>,
    down_proj: Linear<B>,
    activation: Activation,
    heads: [usize; 2],
    window: Option<usize>,
}

impl<B: Ops> Layer<B> {
    fn load(
        fields: &LlamaFields,
        shape: &LlamaShape,
        window: Option<usize>,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let (width, inner, eps) = (fields.hidden_size, fields.intermediate_size, fields.rms_norm_eps);
        let heads = [fields.num_attention_heads, shape.key_value_heads];
        let [queries, keys] = heads.map(|heads| heads * fields.head_dim());
        let linear = |name, inner, out, bias| Linear::load_with_bias(&w.module(name), inner, out, bias);
        Ok(Self {
            input_layernorm: RmsNorm::load(&w.module("input_layernorm"), width, eps)?,
            q_proj: linear("self_attn.q_proj", width, queries, shape.query_bias)?,
            k_proj: linear("self_attn.k_proj", width, keys, shape.query_bias)?,
            v_proj: linear("self_attn.v_proj", width, keys, shape.query_bias)?,
            o_proj: linear("self_attn.o_proj", queries, width, shape.output_bias)?,
            post_attention_layernorm: RmsNorm::load(&w.module("post_attention_layernorm"), width, eps)?,
            gate_proj: linear("mlp.gate_proj", width, inner, shape.mlp_bias)?,
            up_proj: linear("mlp.up_proj", width, inner, shape.mlp_bias)?,
            down_proj: linear("mlp.down_proj", inner, width, shape.mlp_bias)?,
            activation: fields.hidden_act,
            heads,
            window,
        })
    }

    /// [batch, seq, width].
    fn forward(
        &self,
        x: Tensor<B, 3>,
        rotation: &Rotation<B>,
        bias: Option<Tensor<B, 4>>,
        index: usize,
        pass: &mut Pass<'_, B>,
    ) -> Tensor<B, 3> {
        let normal = self.input_layernorm.forward(x.clone());
        let [heads, key_value_heads] = self.heads;
        let query = rotation.apply(split_heads(self.q_proj.forward(normal.clone()), heads));
        let key = rotation.apply(split_heads(self.k_proj.forward(normal.clone()), key_value_heads));
        let value = split_heads(self.v_proj.forward(normal), key_value_heads);
        let (key, value) = pass.with_past(index, key, value);
        let scale = (query.dims()[3] as f64).powf(-0.5);
        let x = x + self.o_proj.forward(attend(query, key, value, scale, bias));
        let normal = self.post_attention_layernorm.forward(x.clone());
        let gate = activate(self.gate_proj.forward(normal.clone()), self.activation);
        x + self.down_proj.forward(gate * self.up_proj.forward(normal))
    }
}
