//! A layer of BART and its relatives, and the sizes that a stack of them has.

use crate::text::encoder_decoder::HiddenStates;
use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops},
    forward::ForwardError,
    layer::{AttentionNames, CachedAttention, CachedAttentionShape, LayerNorm, Mlp},
    stack::LayerStack,
    weights::{Weights, WeightsError},
};

/// The sizes of one of the two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BartShape {
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) layers: usize,
    pub(crate) inner: usize,
    pub(crate) vocab: usize,
    pub(crate) activation: Activation,
    /// The factor of token embeddings.
    pub(crate) scale: f64,
    pub(crate) variant: BartVariant,
}

/// The properties in which the types differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BartVariant {
    /// Whether a layer normalises before each part, and the stack after its last layer; else after
    /// each sum.
    pub(crate) pre_norm: bool,
    /// Whether embeddings are normalised.
    pub(crate) embedding_norm: bool,
    /// Whether the map to keys has a bias.
    pub(crate) key_bias: bool,
    /// Rows of the position table before the row of position 0.
    pub(crate) offset: usize,
}

/// The epsilon, which every type of the family leaves at PyTorch's default.
const EPS: f64 = 1e-5;

/// Self-attention, in a decoder cross-attention, and an MLP, each with a norm.
pub(crate) struct BartLayer<B: Ops> {
    pub(super) attention: CachedAttention<B>,
    attention_norm: LayerNorm<B>,
    cross: Option<(CachedAttention<B>, LayerNorm<B>)>,
    mlp: Mlp<B>,
    final_norm: LayerNorm<B>,
    pre_norm: bool,
}

impl<B: Ops> BartLayer<B> {
    /// The layers below `layers`.
    pub(crate) fn load_all(
        shape: &BartShape,
        decoder: bool,
        w: &Weights<B>,
    ) -> Result<LayerStack<B, Self>, WeightsError> {
        let shape = *shape;
        LayerStack::load(&w.module("layers"), shape.layers, move |_, w| {
            Self::load(&shape, decoder, w)
        })
    }

    fn load(shape: &BartShape, decoder: bool, w: &Weights<B>) -> Result<Self, WeightsError> {
        let BartShape {
            width,
            heads,
            inner,
            activation,
            variant,
            ..
        } = *shape;
        let head_dim = width / heads;
        // In f64 and rounded once, like Python's `head_dim**-0.5`.
        let scale = (head_dim as f64).powf(-0.5);
        let attention = CachedAttentionShape {
            width,
            heads,
            head_dim,
            bias: true,
            key_bias: variant.key_bias,
            scale,
        };
        let load =
            |name| CachedAttention::load(&w.module(name), &AttentionNames::DEFAULT, &attention);
        Ok(Self {
            attention: load("self_attn")?,
            attention_norm: load_norm("self_attn_layer_norm", w, width)?,
            // An encoder has no such weights, so that loading them would fail.
            cross: decoder
                .then(|| {
                    let norm = load_norm("encoder_attn_layer_norm", w, width)?;
                    Ok((load("encoder_attn")?, norm))
                })
                .transpose()?,
            mlp: Mlp::load(w, ["fc1", "fc2"], [width, inner], activation, true)?,
            final_norm: load_norm("final_layer_norm", w, width)?,
            pre_norm: variant.pre_norm,
        })
    }

    /// As a layer of an encoder.
    pub(crate) fn encode(&self, x: Tensor<B, 3>, bias: Option<Tensor<B, 4>>) -> HiddenStates<B> {
        let x = self.attend(x, |x| Ok(self.attention.attend_self(x, bias)))?;
        Ok(self.feed_forward(x))
    }

    pub(super) fn attend(
        &self,
        x: Tensor<B, 3>,
        part: impl FnOnce(Tensor<B, 3>) -> Result<Tensor<B, 3>, ForwardError>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        self.around(x, &self.attention_norm, part)
    }

    pub(super) fn cross(
        &self,
        x: Tensor<B, 3>,
        part: impl FnOnce(&CachedAttention<B>, Tensor<B, 3>) -> Result<Tensor<B, 3>, ForwardError>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        match &self.cross {
            Some((attention, norm)) => self.around(x, norm, |x| part(attention, x)),
            None => Ok(x),
        }
    }

    pub(super) fn feed_forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        match self.pre_norm {
            true => x.clone() + self.mlp.forward(self.final_norm.forward(x)),
            false => self.final_norm.forward_sum(self.mlp.forward(x.clone()), x),
        }
    }

    /// x + part(norm(x)), or norm(x + part(x)).
    fn around(
        &self,
        x: Tensor<B, 3>,
        norm: &LayerNorm<B>,
        part: impl FnOnce(Tensor<B, 3>) -> Result<Tensor<B, 3>, ForwardError>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        match self.pre_norm {
            true => Ok(x.clone() + part(norm.forward(x))?),
            false => Ok(norm.forward_sum(part(x.clone())?, x)),
        }
    }
}

pub(super) fn load_norm<B: Ops>(
    name: &str,
    w: &Weights<B>,
    width: usize,
) -> Result<LayerNorm<B>, WeightsError> {
    LayerNorm::load(&w.module(name), width, EPS)
}
