//! OPT (Zhang et al. 2022): `transformers.models.opt`.

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
        Embedding, FeedForward, GroupedAttention, LayerNorm, Linear, ProjectionNames, Projections, causal_bias,
        positions_without_padding,
    },
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct OptConfig {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    ffn_dim: usize,
    max_position_embeddings: usize,
    do_layer_norm_before: bool,
    #[serde(rename = "_remove_final_layer_norm")]
    remove_final_layer_norm: bool,
    word_embed_proj_dim: Option<usize>,
    num_attention_heads: usize,
    activation_function: Activation,
    enable_bias: bool,
    layer_norm_elementwise_affine: bool,
    tie_word_embeddings: bool,
    pad_token_id: Option<i64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Default for OptConfig {
    fn default() -> Self {
        Self {
            vocab_size: 50272,
            hidden_size: 768,
            num_hidden_layers: 12,
            ffn_dim: 3072,
            max_position_embeddings: 2048,
            do_layer_norm_before: true,
            remove_final_layer_norm: false,
            word_embed_proj_dim: None,
            num_attention_heads: 12,
            activation_function: Activation::Relu,
            enable_bias: true,
            layer_norm_elementwise_affine: true,
            tie_word_embeddings: true,
            pad_token_id: Some(1),
            rest: Map::new(),
        }
    }
}

impl OptConfig {
    /// The width of the token embeddings and of what the head reads.
    fn outer(&self) -> usize {
        self.word_embed_proj_dim.unwrap_or(self.hidden_size)
    }

    fn norm<B: Ops>(&self, w: &Weights<B>) -> Result<LayerNorm<B>, WeightsError> {
        const EPS: f64 = 1e-5;
        if self.layer_norm_elementwise_affine {
            LayerNorm::load(w, self.hidden_size, EPS)
        } else {
            Ok(LayerNorm::plain(w, self.hidden_size, EPS))
        }
    }
}

impl Config for OptConfig {
    /// Training, and a name that Galactica checkpoints repeat.
    const INERT: &'static [&'static str] = &["init_std", "layerdrop", "learned_embeddings"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides("hidden_size", self.hidden_size, "num_attention_heads", self.num_attention_heads)
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = fields_of_other_heads(head);
        if !self.do_layer_norm_before {
            fields.push(("_remove_final_layer_norm", "there is no final norm where norms stand behind the blocks"));
        }
        fields
    }
}

/// `model_type` `opt`.
pub(crate) struct Opt;

impl Family for Opt {
    type Config = OptConfig;
    const NAME: &'static str = "OPT";
    const HEADS: &'static [Head] = &[Head::Base, Head::CausalLm, Head::SequenceClassification, Head::QuestionAnswering];

    fn load<B: Ops>(
        config: &OptConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let backbone = Decoder::load(config, &w.base("model").module("decoder"))?;
        let (width, vocab) = (config.outer(), config.vocab_size);
        let tied = config.tie_word_embeddings.then(|| backbone.embed_tokens.weight());
        let head = TextHead::of_decoder(w, head, [width, vocab, labels], tied, config.pad_token_id)?;
        Ok(Box::new(TextModel { backbone, head }))
    }
}

struct Decoder<B: Ops> {
    embed_tokens: Embedding<B>,
    embed_positions: Embedding<B>,
    project_in: Option<Linear<B>>,
    layers: Vec<Layer<B>>,
    final_layer_norm: Option<LayerNorm<B>>,
    project_out: Option<Linear<B>>,
    /// Rows of the token embeddings, and positions.
    limits: [usize; 2],
}

/// The rows of the position table before that of position 0.
const OFFSET: usize = 2;

impl<B: Ops> Decoder<B> {
    fn load(config: &OptConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, outer) = (config.hidden_size, config.outer());
        let limits = [config.vocab_size, config.max_position_embeddings];
        let project = |name, inner, out| match outer == width {
            true => Ok(None),
            false => Linear::load_with_bias(&w.module(name), inner, out, false).map(Some),
        };
        let layer = |index| Layer::load(config, &w.module("layers").module(index));
        let last_norm = config.do_layer_norm_before && !config.remove_final_layer_norm;
        Ok(Self {
            embed_tokens: Embedding::load(&w.module("embed_tokens"), limits[0], outer)?,
            embed_positions: Embedding::load(&w.module("embed_positions"), limits[1] + OFFSET, width)?,
            project_in: project("project_in", outer, width)?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_, _>>()?,
            final_layer_norm: if last_norm { Some(config.norm(&w.module("final_layer_norm"))?) } else { None },
            project_out: project("project_out", width, outer)?,
            limits,
        })
    }

    /// Tokens and positions; a padding token stands at position -1 unless `position_ids` say otherwise.
    fn embed(&self, inputs: &Inputs<'_, B>, past: usize) -> Result<Tensor<B, 3>, ForwardError> {
        let ids = inputs.indices("input_ids", self.limits[0])?;
        let (values, shape) = positions_without_padding(inputs, ids.dims(), past)?;
        let rows = values.into_iter().map(|position| position + OFFSET as i64).collect();
        let rows = inputs.checked_indices("position_ids", rows, shape, self.limits[1] + OFFSET)?;
        let tokens = self.embed_tokens.forward(ids);
        let tokens = match &self.project_in {
            Some(project_in) => project_in.forward(tokens),
            None => tokens,
        };
        Ok(tokens + self.embed_positions.forward(rows))
    }
}

impl<B: Ops> Backbone<B> for Decoder<B> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let mut x = self.embed(inputs, pass.past())?;
        pass.trace_embed(&x)?;
        let [batch, seq, _] = x.dims();
        let bias = causal_bias(inputs, [batch, seq], pass.past(), None)?;
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x, bias.clone(), (index, pass));
            if index + 1 < self.layers.len() {
                pass.trace_layer(index, &x)?;
            }
        }
        if let Some(norm) = &self.final_layer_norm {
            x = norm.forward(x);
        }
        if let Some(project_out) = &self.project_out {
            x = project_out.forward(x);
        }
        pass.trace_layer(self.layers.len().saturating_sub(1), &x)?;
        Ok(Hidden { last: x, pooled: None })
    }

    fn cached_layers(&self) -> Option<usize> {
        Some(self.layers.len())
    }

    fn max_positions(&self) -> Option<usize> {
        Some(self.limits[1])
    }
}

struct Layer<B: Ops> {
    self_attn: GroupedAttention<B>,
    self_attn_layer_norm: LayerNorm<B>,
    mlp: FeedForward<B>,
    final_layer_norm: LayerNorm<B>,
    norm_before: bool,
}

impl<B: Ops> Layer<B> {
    fn load(config: &OptConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, inner, heads) = (config.hidden_size, config.ffn_dim, config.num_attention_heads);
        let linear = |name, inner, out| Linear::load_with_bias(&w.module(name), inner, out, config.enable_bias);
        let names = ProjectionNames::Apart(["q_proj", "k_proj", "v_proj"]);
        let attention = w.module("self_attn");
        Ok(Self {
            self_attn: GroupedAttention {
                projections: Projections::load(&attention, names, width, [width; 3], config.enable_bias)?,
                norms: None,
                output: linear("self_attn.out_proj", width, width)?,
                heads: [heads, heads],
                scale: ((width / heads) as f64).powf(-0.5),
                soft_cap: None,
                clip: None,
            },
            self_attn_layer_norm: config.norm(&w.module("self_attn_layer_norm"))?,
            mlp: FeedForward {
                up: linear("fc1", width, inner)?,
                activation: config.activation_function,
                down: linear("fc2", inner, width)?,
            },
            final_layer_norm: config.norm(&w.module("final_layer_norm"))?,
            norm_before: config.do_layer_norm_before,
        })
    }

    /// [batch, seq, width]; norms stand before the blocks, or behind them.
    fn forward(&self, x: Tensor<B, 3>, bias: Option<Tensor<B, 4>>, place: (usize, &mut Pass<'_, B>)) -> Tensor<B, 3> {
        if self.norm_before {
            let x = x.clone() + self.self_attn.forward(self.self_attn_layer_norm.forward(x), None, bias, place);
            return x.clone() + self.mlp.forward(self.final_layer_norm.forward(x));
        }
        let attended = self.self_attn.forward(x.clone(), None, bias, place);
        let x = self.self_attn_layer_norm.forward_sum(attended, x);
        self.final_layer_norm.forward_sum(self.mlp.forward(x.clone()), x)
    }
}
