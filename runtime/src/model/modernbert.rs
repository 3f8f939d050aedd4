//! ModernBERT (Warner et al. 2024): `transformers.models.modernbert`.
//!
//! Rotary positions, norms in front, gated perceptrons, and attention that most layers keep to a window.

use super::{
    class::Head,
    family::Family,
    forward::ForwardError,
    load::LoadError,
    modernbert_layer::{LayerNames, LayerShape, ModernBertLayer},
    network::{Inputs, Network, Pass},
    text_head::{MaskedLm, TextHead, first_token},
    text_model::{Backbone, Hidden, TextModel},
};
use crate::{
    backend::{Activation, Ops, activate},
    config::{Config, divides},
    layer::{
        Embedding, LayerNorm, Linear, RopeFields, RopeParameters, Rotary, masked_mean, padding_bias, positions,
        window_bias,
    },
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct ModernBertConfig {
    vocab_size: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    hidden_activation: Activation,
    max_position_embeddings: usize,
    norm_eps: f64,
    norm_bias: bool,
    attention_bias: bool,
    mlp_bias: bool,
    decoder_bias: bool,
    classifier_bias: bool,
    classifier_activation: Activation,
    classifier_pooling: Pooling,
    local_attention: usize,
    layer_types: Option<Vec<LayerType>>,
    global_attn_every_n_layers: usize,
    rope_parameters: Option<RopeByType>,
    global_rope_theta: f64,
    local_rope_theta: f64,
    tie_word_embeddings: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// What a layer sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LayerType {
    /// All tokens.
    FullAttention,
    /// Those at most half of `local_attention` away.
    SlidingAttention,
}

/// What a text's label is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Pooling {
    /// The first token.
    Cls,
    /// The mean of the tokens that are not padding.
    Mean,
}

/// Rotary parameters for each type of layer.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RopeByType {
    full_attention: Option<RopeParameters>,
    sliding_attention: Option<RopeParameters>,
}

impl Default for ModernBertConfig {
    fn default() -> Self {
        Self {
            vocab_size: 50368,
            hidden_size: 768,
            intermediate_size: 1152,
            num_hidden_layers: 22,
            num_attention_heads: 12,
            hidden_activation: Activation::Gelu,
            max_position_embeddings: 8192,
            norm_eps: 1e-5,
            norm_bias: false,
            attention_bias: false,
            mlp_bias: false,
            decoder_bias: true,
            classifier_bias: false,
            classifier_activation: Activation::Gelu,
            classifier_pooling: Pooling::Cls,
            local_attention: 128,
            layer_types: None,
            global_attn_every_n_layers: 3,
            rope_parameters: None,
            global_rope_theta: 160_000.0,
            local_rope_theta: 10_000.0,
            tie_word_embeddings: true,
            rest: Map::new(),
        }
    }
}

impl Config for ModernBertConfig {
    /// Training, kernels, and fields that transformers saved and does not read.
    const INERT: &'static [&'static str] = &[
        "cls_token_id",
        "deterministic_flash_attn",
        "initializer_cutoff_factor",
        "layer_norm_eps",
        "position_embedding_type",
        "reference_compile",
        "repad_logits_with_grad",
        "sparse_pred_ignore_index",
        "sparse_prediction",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides("hidden_size", self.hidden_size, "num_attention_heads", self.num_attention_heads)?;
        let (layers, kinds) = (self.num_hidden_layers, self.layer_types.as_ref().map_or(0, Vec::len));
        if self.layer_types.is_some() && kinds != layers {
            return Err(format!("`layer_types` has {kinds} entries and `num_hidden_layers` is {layers}"));
        }
        if self.global_attn_every_n_layers == 0 {
            return Err("`global_attn_every_n_layers` is 0".to_owned());
        }
        self.rope(LayerType::FullAttention).validate()?;
        self.rope(LayerType::SlidingAttention).validate()
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = Vec::new();
        let mut absent = |names: &[&'static str], why| fields.extend(names.iter().map(|name| (*name, why)));
        if head != Head::MaskedLm {
            absent(&["decoder_bias", "tie_word_embeddings"], "only masked language models have a decoder");
        }
        if head == Head::Base {
            absent(&["classifier_activation", "classifier_bias"], "the base model has no head");
        }
        if head != Head::SequenceClassification {
            absent(&["classifier_pooling"], "only classifiers of texts pool");
        }
        if self.layer_types.is_some() {
            absent(&["global_attn_every_n_layers"], "`layer_types` decides");
        }
        for (kind, name, theta) in [
            (LayerType::FullAttention, "rope_parameters.full_attention", "global_rope_theta"),
            (LayerType::SlidingAttention, "rope_parameters.sliding_attention", "local_rope_theta"),
        ] {
            if !self.kinds().contains(&kind) {
                absent(&[name, theta], "no layer is of this type");
            } else if self.rope(kind).parameters.is_some_and(|parameters| parameters.rope_theta.is_some()) {
                absent(&[theta], "`rope_parameters` decides");
            }
        }
        if !self.kinds().contains(&LayerType::SlidingAttention) {
            absent(&["local_attention"], "no layer has a window");
        }
        if !self.kinds().iter().any(|kind| self.rope(*kind).reads_max_positions()) {
            absent(&["max_position_embeddings"], "the rotary frequencies do not depend on it");
        }
        fields
    }
}

impl ModernBertConfig {
    /// The type of each layer.
    fn kinds(&self) -> Vec<LayerType> {
        let kind = |layer: usize| match layer.is_multiple_of(self.global_attn_every_n_layers) {
            true => LayerType::FullAttention,
            false => LayerType::SlidingAttention,
        };
        self.layer_types.clone().unwrap_or_else(|| (0..self.num_hidden_layers).map(kind).collect())
    }

    fn rope(&self, kind: LayerType) -> RopeFields<'_> {
        let by_type = self.rope_parameters.as_ref();
        let (parameters, theta) = match kind {
            LayerType::FullAttention => (by_type.map(|by_type| &by_type.full_attention), self.global_rope_theta),
            LayerType::SlidingAttention => (by_type.map(|by_type| &by_type.sliding_attention), self.local_rope_theta),
        };
        RopeFields { parameters: parameters.and_then(Option::as_ref), theta: Some(theta) }
    }

    fn rotary(&self, kind: LayerType) -> Rotary {
        let parameters = self.rope(kind).parameters(self.max_position_embeddings);
        Rotary::new(&parameters, self.hidden_size / self.num_attention_heads, self.max_position_embeddings)
    }

    fn norm<B: Ops>(&self, w: &Weights<B>) -> Result<LayerNorm<B>, WeightsError> {
        LayerNorm::load_with_bias(w, self.hidden_size, self.norm_eps, self.norm_bias)
    }
}

/// `model_type` `modernbert`.
pub(crate) struct ModernBert;

impl Family for ModernBert {
    type Config = ModernBertConfig;
    const NAME: &'static str = "ModernBert";
    const HEADS: &'static [Head] =
        &[Head::Base, Head::MaskedLm, Head::SequenceClassification, Head::TokenClassification, Head::QuestionAnswering];

    fn load<B: Ops>(
        config: &ModernBertConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let mut backbone = Encoder::load(config, &w.base("model"))?;
        if ![Head::Base, Head::MaskedLm].contains(&head) {
            backbone.prediction = Some(Prediction::load(config, &w.module("head"))?);
        }
        let classifier = |out| Linear::load(&w.module("classifier"), config.hidden_size, out);
        let head = match head {
            Head::MaskedLm => TextHead::MaskedLm(masked_lm(config, backbone.words.weight(), w)?),
            Head::SequenceClassification => {
                backbone.pooling = Some(config.classifier_pooling);
                TextHead::Pooled(classifier(labels)?)
            }
            Head::TokenClassification => TextHead::PerToken(classifier(labels)?),
            Head::QuestionAnswering => TextHead::Span(classifier(2)?),
            _ => TextHead::Base,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}

fn masked_lm<B: Ops>(
    config: &ModernBertConfig,
    words: Tensor<B, 2>,
    w: &Weights<B>,
) -> Result<MaskedLm<B>, WeightsError> {
    let Prediction { dense, activation, norm } = Prediction::load(config, &w.module("head"))?;
    let (decoder, vocab) = (w.module("decoder"), config.vocab_size);
    let decoder = if config.tie_word_embeddings {
        decoder.tied("weight");
        Linear::tied(words, config.decoder_bias.then(|| decoder.tensor("bias", [vocab])).transpose()?)
    } else {
        Linear::load_with_bias(&decoder, config.hidden_size, vocab, config.decoder_bias)?
    };
    Ok(MaskedLm { dense, activation, norm, decoder })
}

/// Dense, activation and norm in front of every classifier.
struct Prediction<B: Ops> {
    dense: Linear<B>,
    activation: Activation,
    norm: LayerNorm<B>,
}

impl<B: Ops> Prediction<B> {
    fn load(config: &ModernBertConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let width = config.hidden_size;
        Ok(Self {
            dense: Linear::load_with_bias(&w.module("dense"), width, width, config.classifier_bias)?,
            activation: config.classifier_activation,
            norm: config.norm(&w.module("norm"))?,
        })
    }

    fn forward<const D: usize>(&self, x: Tensor<B, D>) -> Tensor<B, D> {
        self.norm.forward(activate(self.dense.forward(x), self.activation))
    }
}

struct Encoder<B: Ops> {
    words: Embedding<B>,
    norm: LayerNorm<B>,
    layers: Vec<(LayerType, ModernBertLayer<B>)>,
    final_norm: LayerNorm<B>,
    full: Rotary,
    sliding: Rotary,
    window: usize,
    vocab: usize,
    pooling: Option<Pooling>,
    prediction: Option<Prediction<B>>,
}

const NAMES: LayerNames =
    LayerNames { attention_norm: "attn_norm", joined: "attn.Wqkv", output: "attn.Wo", mlp_norm: "mlp_norm" };

impl<B: Ops> Encoder<B> {
    fn load(config: &ModernBertConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let embeddings = w.module("embeddings");
        let shape = LayerShape {
            width: config.hidden_size,
            heads: config.num_attention_heads,
            inner: config.intermediate_size,
            activation: config.hidden_activation,
            attention_bias: config.attention_bias,
            mlp_bias: config.mlp_bias,
        };
        let layer = |(index, kind): (usize, LayerType)| {
            let w = w.module("layers").module(index);
            let attention_norm = (index > 0).then(|| config.norm(&w.module(NAMES.attention_norm))).transpose()?;
            let mlp_norm = config.norm(&w.module(NAMES.mlp_norm))?;
            Ok((kind, ModernBertLayer::load(&shape, &NAMES, attention_norm, mlp_norm, &w)?))
        };
        Ok(Self {
            words: Embedding::load(&embeddings.module("tok_embeddings"), config.vocab_size, config.hidden_size)?,
            norm: config.norm(&embeddings.module("norm"))?,
            layers: config.kinds().into_iter().enumerate().map(layer).collect::<Result<_, WeightsError>>()?,
            final_norm: config.norm(&w.module("final_norm"))?,
            full: config.rotary(LayerType::FullAttention),
            sliding: config.rotary(LayerType::SlidingAttention),
            window: config.local_attention / 2,
            vocab: config.vocab_size,
            pooling: None,
            prediction: None,
        })
    }

    /// The state that a text's label is read from, and the states of the tokens, both as the head wants them.
    fn heads(&self, last: Tensor<B, 3>, inputs: &Inputs<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let Some(prediction) = &self.prediction else { return Ok(Hidden { last, pooled: None }) };
        let pooled = match self.pooling {
            None => return Ok(Hidden { last: prediction.forward(last), pooled: None }),
            Some(Pooling::Cls) => first_token(last.clone()),
            Some(Pooling::Mean) => masked_mean(last.clone(), inputs)?,
        };
        Ok(Hidden { last, pooled: Some(prediction.forward(pooled)) })
    }
}

impl<B: Ops> Backbone<B> for Encoder<B> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let mut x = self.norm.forward(self.words.forward(inputs.indices("input_ids", self.vocab)?));
        pass.trace_embed(&x)?;
        let [batch, seq, _] = x.dims();
        let (values, shape) = positions(inputs, [batch, seq], 0)?;
        let full = (self.full.at(&values, shape, inputs), padding_bias(inputs, [batch, seq])?);
        let sliding = (self.sliding.at(&values, shape, inputs), window_bias(inputs, [batch, seq], self.window)?);
        for (index, (kind, layer)) in self.layers.iter().enumerate() {
            let (rotation, bias) = match kind {
                LayerType::FullAttention => &full,
                LayerType::SlidingAttention => &sliding,
            };
            x = layer.forward(x, rotation, bias.clone());
            if index + 1 < self.layers.len() {
                pass.trace_layer(index, &x)?;
            }
        }
        let last = self.final_norm.forward(x);
        pass.trace_layer(self.layers.len().saturating_sub(1), &last)?;
        self.heads(last, inputs)
    }

    fn max_positions(&self) -> Option<usize> {
        None
    }
}
