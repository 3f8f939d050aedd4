//! A block of T5: attention to the same stack, in a decoder also to the encoder, and the feed
//! forward.

use super::config::{FeedForward, T5Config};
use crate::text::encoder_decoder::{EncoderOutput, HiddenStates};
use burn_tensor::{DType, Tensor};
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    layer::{AttentionNames, CachedAttention, CachedAttentionShape, Linear, RmsNorm},
    weights::{Weights, WeightsError},
};

pub(super) struct T5Block<B: Ops> {
    pub(super) attention: CachedAttention<B>,
    attention_norm: RmsNorm<B>,
    cross: Option<(CachedAttention<B>, RmsNorm<B>)>,
    feed_forward: T5FeedForward<B>,
    feed_forward_norm: RmsNorm<B>,
    types: T5Types,
}

/// The type of the products, and the type of the sum which the layers add to.
#[derive(Debug, Clone, Copy)]
pub(super) struct T5Types {
    pub(super) product: DType,
    pub(super) sum: DType,
}

/// The products of the feed forward, with a gate or without.
struct T5FeedForward<B: Ops> {
    gate: Option<Linear<B>>,
    up: Linear<B>,
    down: Linear<B>,
    activation: Activation,
    types: T5Types,
}

const ATTENTION: AttentionNames = AttentionNames {
    query: "q",
    key: "k",
    value: "v",
    output: "o",
};

impl<B: Ops> T5Block<B> {
    pub(super) fn load(
        config: &T5Config,
        feed_forward: FeedForward,
        decoder: bool,
        types: T5Types,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let shape = attention_shape(config);
        let layers = w.module("layer");
        let first = layers.module(0);
        // The feed forward is the last sublayer: a decoder has cross-attention before it.
        let last = layers.module(if decoder { 2 } else { 1 });
        Ok(Self {
            attention: CachedAttention::load(&first.module("SelfAttention"), &ATTENTION, &shape)?,
            attention_norm: norm(config, types, &first)?,
            cross: decoder
                .then(|| -> Result<_, WeightsError> {
                    let w = layers.module(1);
                    let attention = w.module("EncDecAttention");
                    Ok((
                        CachedAttention::load(&attention, &ATTENTION, &shape)?,
                        norm(config, types, &w)?,
                    ))
                })
                .transpose()?,
            feed_forward: T5FeedForward::load(
                config,
                feed_forward,
                types,
                &last.module("DenseReluDense"),
            )?,
            feed_forward_norm: norm(config, types, &last)?,
            types,
        })
    }

    pub(super) fn normal(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.attention_norm.forward(x).cast(self.types.product)
    }

    pub(super) fn cross(
        &self,
        x: Tensor<B, 3>,
        encoded: EncoderOutput<'_, B>,
        bias: Option<Tensor<B, 4>>,
        index: usize,
        context: &mut ForwardContext<'_, B>,
    ) -> HiddenStates<B> {
        let Some((attention, norm)) = &self.cross else {
            return Ok(x);
        };
        let normal = norm.forward(x.clone()).cast(self.types.product);
        Ok(x + attention
            .attend_cross(normal, encoded, bias, index, context)?
            .cast(self.types.sum))
    }

    pub(super) fn feed_forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let normal = self
            .feed_forward_norm
            .forward(x.clone())
            .cast(self.types.product);
        x + self.feed_forward.forward(normal)
    }
}

impl<B: Ops> T5FeedForward<B> {
    fn load(
        config: &T5Config,
        FeedForward { gated, activation }: FeedForward,
        types: T5Types,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let (width, inner) = (config.d_model, config.d_ff);
        // T5 1.1 calls the gate `wi_0` and the map that it multiplies `wi_1`; the first release has
        // one `wi`.
        let up = w.module(if gated { "wi_1" } else { "wi" });
        let down = w.module("wo").in_type(types.sum);
        Ok(Self {
            gate: gated
                .then(|| Linear::load_with_bias(&w.module("wi_0"), width, inner, false))
                .transpose()?,
            up: Linear::load_with_bias(&up, width, inner, false)?,
            down: Linear::load_with_bias(&down, inner, width, false)?,
            activation,
            types,
        })
    }

    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let up = self.up.forward(x.clone());
        let inner = match &self.gate {
            Some(gate) => activate(gate.forward(x), self.activation) * up,
            None => activate(up, self.activation),
        };
        // In f16 the inner values can exceed 65504, which is why transformers keeps `wo` in f32.
        self.down.forward(inner.cast(self.types.sum))
    }
}

fn attention_shape(config: &T5Config) -> CachedAttentionShape {
    CachedAttentionShape {
        width: config.d_model,
        heads: config.num_heads,
        head_dim: config.d_kv,
        bias: false,
        key_bias: false,
        // T5 does not scale scores: its initialisation of the queries contains the factor.
        scale: 1.0,
    }
}

/// The norm before a sublayer, in the type of the sum that it reads.
fn norm<B: Ops>(
    config: &T5Config,
    types: T5Types,
    w: &Weights<B>,
) -> Result<RmsNorm<B>, WeightsError> {
    RmsNorm::load(
        &w.module("layer_norm").in_type(types.sum),
        config.d_model,
        config.layer_norm_epsilon,
    )
}
