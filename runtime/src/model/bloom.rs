//! BLOOM (Le Scao et al. 2022): `transformers.models.bloom`.

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
    layer::{Alibi, Embedding, FeedForward, GroupedAttention, LayerNorm, Linear, Projections, causal_bias},
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct BloomConfig {
    vocab_size: usize,
    hidden_size: usize,
    /// The older name, which counts where both stand.
    n_embed: Option<usize>,
    #[serde(alias = "num_hidden_layers")]
    n_layer: usize,
    #[serde(alias = "num_attention_heads")]
    n_head: usize,
    layer_norm_epsilon: f64,
    apply_residual_connection_post_layernorm: bool,
    tie_word_embeddings: bool,
    pad_token_id: Option<i64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Default for BloomConfig {
    fn default() -> Self {
        Self {
            vocab_size: 250_880,
            hidden_size: 64,
            n_embed: None,
            n_layer: 2,
            n_head: 8,
            layer_norm_epsilon: 1e-5,
            apply_residual_connection_post_layernorm: false,
            tie_word_embeddings: true,
            pad_token_id: None,
            rest: Map::new(),
        }
    }
}

impl BloomConfig {
    fn width(&self) -> usize {
        self.n_embed.unwrap_or(self.hidden_size)
    }
}

impl Config for BloomConfig {
    /// How Megatron trained it; transformers reads none of them but `pretraining_tp`, and that only with `slow_but_exact`.
    const INERT: &'static [&'static str] = &[
        "attention_softmax_in_fp32",
        "bias_dropout_fusion",
        "masked_softmax_fusion",
        "offset_alibi",
        "pretraining_tp",
        "seq_length",
        "skip_bias_add",
        "skip_bias_add_qkv",
        "unk_token_id",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides("hidden_size", self.width(), "n_head", self.n_head)
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = fields_of_other_heads(head);
        if self.n_embed.is_some() {
            fields.push(("hidden_size", "`n_embed` counts"));
        }
        fields
    }
}

/// `model_type` `bloom`.
pub(crate) struct Bloom;

impl Family for Bloom {
    type Config = BloomConfig;
    const NAME: &'static str = "Bloom";
    const HEADS: &'static [Head] =
        &[Head::Base, Head::CausalLm, Head::SequenceClassification, Head::TokenClassification, Head::QuestionAnswering];

    fn load<B: Ops>(
        config: &BloomConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let backbone = Decoder::load(config, &w.base("transformer"))?;
        let (width, vocab, tied) = (config.width(), config.vocab_size, config.tie_word_embeddings);
        let tied = tied.then(|| backbone.word_embeddings.weight());
        let head = TextHead::of_decoder(w, head, [width, vocab, labels], tied, config.pad_token_id)?;
        Ok(Box::new(TextModel { backbone, head }))
    }
}

struct Decoder<B: Ops> {
    word_embeddings: Embedding<B>,
    word_embeddings_layernorm: LayerNorm<B>,
    layers: Vec<Layer<B>>,
    ln_f: LayerNorm<B>,
    alibi: Alibi,
    vocab: usize,
}

impl<B: Ops> Decoder<B> {
    fn load(config: &BloomConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let width = config.width();
        let norm = |name| LayerNorm::load(&w.module(name), width, config.layer_norm_epsilon);
        let layer = |index| Layer::load(config, &w.module("h").module(index));
        Ok(Self {
            word_embeddings: Embedding::load(&w.module("word_embeddings"), config.vocab_size, width)?,
            word_embeddings_layernorm: norm("word_embeddings_layernorm")?,
            layers: (0..config.n_layer).map(layer).collect::<Result<_, _>>()?,
            ln_f: norm("ln_f")?,
            alibi: Alibi::new(config.n_head),
            vocab: config.vocab_size,
        })
    }
}

impl<B: Ops> Backbone<B> for Decoder<B> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let ids = inputs.indices("input_ids", self.vocab)?;
        let (shape, past) = (ids.dims(), pass.past());
        let bias = self.alibi.bias(inputs, shape, past, causal_bias(inputs, shape, past, None)?)?;
        let mut x = self.word_embeddings_layernorm.forward(self.word_embeddings.forward(ids));
        pass.trace_embed(&x)?;
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x, bias.clone(), (index, pass));
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
}

struct Layer<B: Ops> {
    input_layernorm: LayerNorm<B>,
    self_attention: GroupedAttention<B>,
    post_attention_layernorm: LayerNorm<B>,
    mlp: FeedForward<B>,
    residual_behind_norm: bool,
}

impl<B: Ops> Layer<B> {
    fn load(config: &BloomConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, heads) = (config.width(), config.n_head);
        let norm = |name| LayerNorm::load(&w.module(name), width, config.layer_norm_epsilon);
        let qkv = w.module("self_attention.query_key_value");
        Ok(Self {
            input_layernorm: norm("input_layernorm")?,
            self_attention: GroupedAttention {
                projections: Projections::load_by_group(&qkv, width, [heads, 1, width / heads], true)?,
                norms: None,
                output: Linear::load(&w.module("self_attention.dense"), width, width)?,
                heads: [heads, heads],
                scale: ((width / heads) as f64).powf(-0.5),
                soft_cap: None,
                clip: None,
            },
            post_attention_layernorm: norm("post_attention_layernorm")?,
            mlp: FeedForward {
                up: Linear::load(&w.module("mlp.dense_h_to_4h"), width, 4 * width)?,
                activation: Activation::GeluNew,
                down: Linear::load(&w.module("mlp.dense_4h_to_h"), 4 * width, width)?,
            },
            residual_behind_norm: config.apply_residual_connection_post_layernorm,
        })
    }

    /// [batch, seq, width]; what is added to a block's result is its input, before or behind the norm.
    fn forward(&self, x: Tensor<B, 3>, bias: Tensor<B, 4>, place: (usize, &mut Pass<'_, B>)) -> Tensor<B, 3> {
        let normal = self.input_layernorm.forward(x.clone());
        let residual = if self.residual_behind_norm { normal.clone() } else { x };
        let x = residual + self.self_attention.forward(normal, None, Some(bias), place);
        let normal = self.post_attention_layernorm.forward(x.clone());
        let residual = if self.residual_behind_norm { normal.clone() } else { x };
        residual + self.mlp.forward(normal)
    }
}
