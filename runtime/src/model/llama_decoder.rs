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
    backend::{Activation, Ops},
    config::divides,
    layer::{
        CausalMasks, Embedding, GatedFeedForward, GroupedAttention, Linear, ProjectionNames, Projections, RmsNorm,
        RopeFields, RopeParameters, Rotary, Rotation, positions,
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
        if self.head_dim.is_none() {
            divides("hidden_size", self.hidden_size, "num_attention_heads", self.num_attention_heads)?;
        }
        self.validate_for(self.head_dim())
    }

    /// For types whose heads have another default width.
    pub(crate) fn validate_for(&self, head_dim: usize) -> Result<(), String> {
        let groups = self.num_key_value_heads.unwrap_or(1);
        divides("num_attention_heads", self.num_attention_heads, "num_key_value_heads", groups)?;
        self.rope().validate()?;
        self.rope_parameters().validate_width(head_dim)
    }

    /// The rotary parameters in force.
    pub(crate) fn rope_parameters(&self) -> RopeParameters {
        self.rope().parameters(self.max_position_embeddings)
    }

    /// See [`Config::without_effect`](crate::config::Config::without_effect).
    pub(crate) fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = fields_of_other_heads(head);
        if !self.rope().reads_max_positions() {
            fields.push(("max_position_embeddings", "this rope type does not depend on the trained length"));
        }
        fields.extend(self.rope_parameters().without_effect(self.head_dim()));
        fields
    }

    fn rope(&self) -> RopeFields<'_> {
        let parameters = self.rope_parameters.as_ref().or(self.rope_scaling.as_ref());
        RopeFields { parameters, theta: self.rope_theta }
    }

    /// The width of a head; that of the model shared among the heads where no field says it.
    pub(crate) fn head_dim(&self) -> usize {
        self.head_dim.unwrap_or(self.hidden_size / self.num_attention_heads.max(1))
    }
}

/// What the types decide differently.
pub(crate) struct LlamaShape {
    pub(crate) head_dim: usize,
    pub(crate) key_value_heads: usize,
    pub(crate) query_bias: bool,
    pub(crate) output_bias: bool,
    pub(crate) mlp_bias: bool,
    pub(crate) projections: ProjectionNames<3>,
    pub(crate) gate_and_up: ProjectionNames<2>,
    pub(crate) rope: RopeParameters,
    /// Whether query and key are normalised head by head.
    pub(crate) head_norms: bool,
    /// One for each layer; none sees every earlier token.
    pub(crate) windows: Vec<Option<usize>>,
}

impl LlamaShape {
    /// Llama's own, without biases and windows.
    pub(crate) fn plain(fields: &LlamaFields) -> Self {
        Self {
            head_dim: fields.head_dim(),
            key_value_heads: fields.num_key_value_heads.unwrap_or(fields.num_attention_heads),
            query_bias: false,
            output_bias: false,
            mlp_bias: false,
            projections: ProjectionNames::Apart(["q_proj", "k_proj", "v_proj"]),
            gate_and_up: ProjectionNames::Apart(["gate_proj", "up_proj"]),
            rope: fields.rope_parameters(),
            head_norms: false,
            windows: vec![None; fields.num_hidden_layers],
        }
    }

    pub(crate) fn load<B: Ops>(
        &self,
        fields: &LlamaFields,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        // transformers keeps the base model of question answering under another name.
        let backbone = LlamaDecoder::load(fields, self, &w.base("model").base("transformer"))?;
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

    fn attention<B: Ops>(&self, fields: &LlamaFields, w: &Weights<B>) -> Result<GroupedAttention<B>, WeightsError> {
        let (width, head_dim) = (fields.hidden_size, self.head_dim);
        let heads = [fields.num_attention_heads, self.key_value_heads];
        let [queries, keys] = heads.map(|heads| heads * head_dim);
        let norm = |name| RmsNorm::load(&w.module(name), head_dim, fields.rms_norm_eps);
        Ok(GroupedAttention {
            projections: Projections::load(w, self.projections, width, [queries, keys, keys], self.query_bias)?,
            norms: if self.head_norms { Some([norm("q_norm")?, norm("k_norm")?]) } else { None },
            output: Linear::load_with_bias(&w.module("o_proj"), queries, width, self.output_bias)?,
            heads,
            scale: (head_dim as f64).powf(-0.5),
        })
    }
}

/// The layers between the embedding and a head.
pub(crate) struct LlamaDecoder<B: Ops> {
    embed_tokens: Embedding<B>,
    layers: Vec<Layer<B>>,
    norm: RmsNorm<B>,
    rotary: Rotary,
    vocab: usize,
}

impl<B: Ops> LlamaDecoder<B> {
    pub(crate) fn load(fields: &LlamaFields, shape: &LlamaShape, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, trained) = (fields.hidden_size, fields.max_position_embeddings);
        let layer = |(index, window): (usize, &Option<usize>)| {
            Layer::load(fields, shape, *window, &w.module("layers").module(index))
        };
        Ok(Self {
            embed_tokens: Embedding::load(&w.module("embed_tokens"), fields.vocab_size, width)?,
            layers: shape.windows.iter().enumerate().map(layer).collect::<Result<_, _>>()?,
            norm: RmsNorm::load(&w.module("norm"), width, fields.rms_norm_eps)?,
            rotary: Rotary::new(&shape.rope, shape.head_dim, trained),
            vocab: fields.vocab_size,
        })
    }

    /// [batch, seq, width] of `input_ids`.
    pub(crate) fn embed(&self, inputs: &Inputs<'_, B>) -> Result<Tensor<B, 3>, ForwardError> {
        Ok(self.embed_tokens.forward(inputs.indices("input_ids", self.vocab)?))
    }

    /// The table [vocab, width], for a tied head.
    pub(crate) fn embedding(&self) -> Tensor<B, 2> {
        self.embed_tokens.weight()
    }

    /// The number of layers.
    pub(crate) fn depth(&self) -> usize {
        self.layers.len()
    }

    /// `x` [batch, seq, width] through the layers and the final norm.
    pub(crate) fn forward(
        &self,
        mut x: Tensor<B, 3>,
        inputs: &Inputs<'_, B>,
        pass: &mut Pass<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let ([batch, seq, _], past) = (x.dims(), pass.past());
        let shape = [batch, seq];
        let (values, position_shape) = positions(inputs, shape, past)?;
        let rotation = self.rotary.at(&values, position_shape, inputs);
        let mut masks = CausalMasks::new(inputs, shape, past);
        pass.trace_embed(&x)?;
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x, &rotation, masks.bias(layer.window)?, (index, pass));
            if index + 1 < self.layers.len() {
                pass.trace_layer(index, &x)?;
            }
        }
        let last = self.norm.forward(x);
        pass.trace_layer(self.layers.len().saturating_sub(1), &last)?;
        Ok(last)
    }
}

impl<B: Ops> Backbone<B> for LlamaDecoder<B> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let last = self.forward(self.embed(inputs)?, inputs, pass)?;
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
    mlp: GatedFeedForward<B>,
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
        let norm = |name| RmsNorm::load(&w.module(name), width, eps);
        let mlp = w.module("mlp");
        Ok(Self {
            input_layernorm: norm("input_layernorm")?,
            self_attn: shape.attention(fields, &w.module("self_attn"))?,
            post_attention_layernorm: norm("post_attention_layernorm")?,
            mlp: GatedFeedForward::load(&mlp, shape.gate_and_up, [width, inner], fields.hidden_act, shape.mlp_bias)?,
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
        let normal = self.input_layernorm.forward(x.clone());
        let x = x + self.self_attn.forward(normal, Some(rotation), bias, place);
        let normal = self.post_attention_layernorm.forward(x.clone());
        x + self.mlp.forward(normal)
    }
}
