//! GPT-2 (Radford et al. 2019): `transformers.models.gpt2`.

use crate::{
    config::{ModelConfig, divides},
    model_def::{LoadedNetwork, ModelDef},
    text::{
        causal_decoder::{CausalDecoder, DecoderLayer, Embeddings, FinalNorm, States},
        text_head::fields_of_other_heads,
    },
};
use burn_tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    context::LayerSlot,
    inputs::Inputs,
    layer::{
        Embedding, GroupedAttention, HeadCounts, LayerContext, LayerNorm, Linear, Mlp, Positions,
        Projections, positions,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Gpt2Config {
    vocab_size: usize,
    n_positions: usize,
    n_embd: usize,
    n_layer: usize,
    n_head: usize,
    n_inner: Option<usize>,
    activation_function: Activation,
    layer_norm_epsilon: f64,
    scale_attn_weights: bool,
    scale_attn_by_inverse_layer_idx: bool,
    #[expect(
        dead_code,
        reason = "only changes the order of operations in half precision"
    )]
    reorder_and_upcast_attn: bool,
    tie_word_embeddings: bool,
    pad_token_id: Option<i64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for Gpt2Config {
    /// `n_ctx` repeats `n_positions`.
    // The summary is of the double-heads class alone.
    const INERT: &'static [&'static str] = &[
        "n_ctx",
        "summary_activation",
        "summary_proj_to_labels",
        "summary_type",
        "summary_use_proj",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides("n_embd", self.n_embd, "n_head", self.n_head)
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let rounding = (
            "reorder_and_upcast_attn",
            "it says where to round; scores are always computed in f32 here",
        );
        let mut fields = fields_of_other_heads(head);
        fields.push(rounding);
        if self.n_layer == 1 {
            fields.push((
                "scale_attn_by_inverse_layer_idx",
                "the first layer is divided by one, and there is no other",
            ));
        }
        fields
    }
}

/// `model_type` `gpt2`.
pub(crate) struct Gpt2;

impl ModelDef for Gpt2 {
    type Config = Gpt2Config;

    fn load<B: Ops>(
        config: &Gpt2Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        load_decoder(config, &w.strip_prefix("transformer"))?.with_standard_head(
            w,
            head,
            labels,
            config.tie_word_embeddings,
            config.pad_token_id,
        )
    }
}

type Gpt2Decoder<B> = CausalDecoder<B, Gpt2Embeddings<B>, Gpt2Layer<B>>;

fn load_decoder<B: Ops>(
    config: &Gpt2Config,
    w: &Weights<B>,
) -> Result<Gpt2Decoder<B>, WeightsError> {
    let width = config.n_embd;
    let norm = LayerNorm::load(&w.module("ln_f"), width, config.layer_norm_epsilon)?;
    Ok(CausalDecoder {
        embeddings: Gpt2Embeddings {
            wte: Embedding::load(&w.module("wte"), config.vocab_size, width)?,
            wpe: Embedding::load(&w.module("wpe"), config.n_positions, width)?,
        },
        positions: Positions::Embedded,
        layers: LayerStack::load(&w.module("h"), config.n_layer, {
            let config = config.clone();
            move |index, w| Gpt2Layer::load(&config, index, w)
        })?,
        final_norm: FinalNorm::LayerNorm(norm),
    })
}

/// Tokens and positions; token types are tokens, too.
struct Gpt2Embeddings<B: Ops> {
    wte: Embedding<B>,
    wpe: Embedding<B>,
}

impl<B: Ops> Embeddings<B> for Gpt2Embeddings<B> {
    fn embed(&self, inputs: &Inputs<'_, B>, past: usize) -> States<B> {
        let tokens = self.wte.embed(inputs, past)?;
        let [batch, seq, _] = tokens.dims();
        let (values, shape) = positions(inputs, [batch, seq], past)?;
        let positions = inputs.checked_indices("position_ids", values, shape, self.wpe.rows())?;
        let embedded = tokens + self.wpe.forward(positions);
        // `GPT2Model` has no table for types: they are ids of tokens.
        match inputs.optional_indices("token_type_ids", self.wte.rows())? {
            Some(token_types) => Ok(embedded + self.wte.forward(token_types)),
            None => Ok(embedded),
        }
    }

    fn table(&self) -> Tensor<B, 2> {
        self.wte.weight()
    }

    fn max_positions(&self) -> Option<usize> {
        Some(self.wpe.rows())
    }
}

struct Gpt2Layer<B: Ops> {
    ln_1: LayerNorm<B>,
    attn: GroupedAttention<B>,
    ln_2: LayerNorm<B>,
    mlp: Mlp<B>,
}

impl<B: Ops> Gpt2Layer<B> {
    fn load(config: &Gpt2Config, index: usize, w: &Weights<B>) -> Result<Self, WeightsError> {
        let width = config.n_embd;
        // As `GPT2Block` fills in.
        let inner = config.n_inner.unwrap_or(4 * width);
        // `Conv1D` of GPT-2 stores [in, out], the transpose of every other linear layer.
        let linear = |name, inner, out| Linear::load_conv1d(&w.module(name), inner, out);
        // Query, key and value follow each other as wholes, not head by head as in BLOOM.
        let projections = Projections::Joined(linear("attn.c_attn", width, 3 * width)?, [width; 3]);
        let output = linear("attn.c_proj", width, width)?;
        Ok(Self {
            ln_1: LayerNorm::load(&w.module("ln_1"), width, config.layer_norm_epsilon)?,
            attn: GroupedAttention {
                scale: scale(config, index),
                ..GroupedAttention::defaults(
                    projections,
                    output,
                    HeadCounts::equal(config.n_head),
                    width / config.n_head,
                )
            },
            ln_2: LayerNorm::load(&w.module("ln_2"), width, config.layer_norm_epsilon)?,
            mlp: Mlp {
                up: linear("mlp.c_fc", width, inner)?,
                activation: config.activation_function,
                down: linear("mlp.c_proj", inner, width)?,
            },
        })
    }
}

impl<B: Ops> DecoderLayer<B> for Gpt2Layer<B> {
    /// Normalised before attention and before the MLP.
    fn forward(
        &self,
        x: Tensor<B, 3>,
        view: LayerContext<'_, B>,
        slot: LayerSlot<'_, '_, B>,
    ) -> States<B> {
        let x = x.clone() + self.attn.forward(self.ln_1.forward(x), view, slot);
        Ok(x.clone() + self.mlp.forward(self.ln_2.forward(x)))
    }
}

/// The factor of the scores of layer `index`.
fn scale(config: &Gpt2Config, index: usize) -> f64 {
    let head_dim = (config.n_embd / config.n_head) as f64;
    let by_width = if config.scale_attn_weights {
        head_dim.powf(-0.5)
    } else {
        1.0
    };
    if config.scale_attn_by_inverse_layer_idx {
        // Counted from 1, as `layer_idx + 1` of `GPT2Attention`.
        by_width / (index + 1) as f64
    } else {
        by_width
    }
}
