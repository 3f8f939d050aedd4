//! A transformer over the pixels of an image, which reads a condition:
//! `diffusers.models.transformers.transformer_2d`.

use super::blocks::convolution;
use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    layer::{
        AttentionNames, AttentionShape, Conv2d, GroupNorm, LayerNorm, Linear, SelfAttention,
        attend, project_heads,
    },
    weights::{Weights, WeightsError},
};

/// The shape of a transformer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransformerShape {
    pub(crate) channels: usize,
    pub(crate) heads: usize,
    pub(crate) layers: usize,
    /// The width of the condition.
    pub(crate) condition: usize,
    pub(crate) groups: usize,
    /// Whether the maps in and out are linear over pixels in a row, or convolutions of 1 x 1.
    pub(crate) linear: bool,
}

/// The eps of its norms, which no configuration changes.
const GROUP_EPS: f64 = 1e-6;
const LAYER_EPS: f64 = 1e-5;
/// The factor by which its MLP is wider.
// `mult` of diffusers' `FeedForward`.
const WIDER: usize = 4;

/// `Transformer2DModel` with continuous input.
pub(crate) struct SpatialTransformer<B: Ops> {
    norm: GroupNorm<B>,
    proj_in: Projection<B>,
    blocks: Vec<TransformerBlock<B>>,
    proj_out: Projection<B>,
}

enum Projection<B: Ops> {
    Linear(Linear<B>),
    Convolution(Conv2d<B>),
}

impl<B: Ops> SpatialTransformer<B> {
    pub(crate) fn load(shape: &TransformerShape, w: &Weights<B>) -> Result<Self, WeightsError> {
        let width = shape.channels;
        let projection = |name| {
            let w = w.module(name);
            // Both compute the same; only the shapes of their weights differ.
            match shape.linear {
                true => Linear::load(&w, width, width).map(Projection::Linear),
                false => convolution(&w, [width, width], 1).map(Projection::Convolution),
            }
        };
        let block =
            |index| TransformerBlock::load(shape, &w.module("transformer_blocks").module(index));
        Ok(Self {
            norm: GroupNorm::load(&w.module("norm"), shape.groups, width, GROUP_EPS)?,
            proj_in: projection("proj_in")?,
            blocks: (0..shape.layers).map(block).collect::<Result<_, _>>()?,
            proj_out: projection("proj_out")?,
        })
    }

    /// [batch, channels, height, width], reading `condition` [batch, seq, condition].
    pub(crate) fn forward(&self, x: Tensor<B, 4>, condition: &Tensor<B, 3>) -> Tensor<B, 4> {
        let [_, _, height, width] = x.dims();
        let normal = self.norm.forward(x.clone());
        let hidden = match &self.proj_in {
            Projection::Linear(linear) => linear.forward(rows(normal)),
            Projection::Convolution(convolution) => rows(convolution.forward(normal)),
        };
        let hidden = self
            .blocks
            .iter()
            .fold(hidden, |hidden, block| block.forward(hidden, condition));
        let out = match &self.proj_out {
            Projection::Linear(linear) => image(linear.forward(hidden), [height, width]),
            Projection::Convolution(convolution) => {
                convolution.forward(image(hidden, [height, width]))
            }
        };
        out + x
    }
}

/// [batch, channels, height, width] to [batch, height * width, channels].
fn rows<B: Ops>(x: Tensor<B, 4>) -> Tensor<B, 3> {
    let [batch, channels, height, width] = x.dims();
    x.permute([0, 2, 3, 1])
        .reshape([batch, height * width, channels])
}

/// [batch, height * width, channels] to [batch, channels, height, width].
fn image<B: Ops>(x: Tensor<B, 3>, [height, width]: [usize; 2]) -> Tensor<B, 4> {
    let [batch, _, channels] = x.dims();
    x.reshape([batch, height, width, channels])
        .permute([0, 3, 1, 2])
}

const ATTENTION: AttentionNames = AttentionNames {
    query: "to_q",
    key: "to_k",
    value: "to_v",
    output: "to_out.0",
};

/// `BasicTransformerBlock`: attention to the image, to the condition, and a gated MLP.
struct TransformerBlock<B: Ops> {
    norms: [LayerNorm<B>; 3],
    attn1: SelfAttention<B>,
    attn2: CrossAttention<B>,
    gate: Linear<B>,
    down: Linear<B>,
}

impl<B: Ops> TransformerBlock<B> {
    fn load(shape: &TransformerShape, w: &Weights<B>) -> Result<Self, WeightsError> {
        let TransformerShape {
            channels: width,
            heads,
            ..
        } = *shape;
        let attention = AttentionShape {
            width,
            heads,
            bias: false,
        };
        Ok(Self {
            norms: [
                load_norm("norm1", w, width)?,
                load_norm("norm2", w, width)?,
                load_norm("norm3", w, width)?,
            ],
            attn1: SelfAttention::load(&w.module("attn1"), &ATTENTION, &attention)?,
            attn2: CrossAttention::load(shape, &w.module("attn2"))?,
            gate: Linear::load(&w.module("ff.net.0.proj"), width, 2 * WIDER * width)?,
            down: Linear::load(&w.module("ff.net.2"), WIDER * width, width)?,
        })
    }

    fn forward(&self, x: Tensor<B, 3>, condition: &Tensor<B, 3>) -> Tensor<B, 3> {
        let [norm1, norm2, norm3] = &self.norms;
        let x = x.clone() + self.attn1.forward(norm1.forward(x), None);
        let x = x.clone() + self.attn2.forward(norm2.forward(x), condition);
        let both = self.gate.forward(norm3.forward(x.clone()));
        let inner = both.dims()[2] / 2;
        // `GEGLU` has the gate in the second half.
        let gate = activate(both.clone().narrow(2, inner, inner), Activation::Gelu);
        x + self.down.forward(both.narrow(2, 0, inner) * gate)
    }
}

/// Attention of the pixels to the condition.
struct CrossAttention<B: Ops> {
    to_q: Linear<B>,
    to_k: Linear<B>,
    to_v: Linear<B>,
    to_out: Linear<B>,
    heads: usize,
}

impl<B: Ops> CrossAttention<B> {
    fn load(shape: &TransformerShape, w: &Weights<B>) -> Result<Self, WeightsError> {
        let TransformerShape {
            channels: width,
            condition,
            heads,
            ..
        } = *shape;
        // UNets leave `attention_bias` at false; `to_out` has a bias in any case.
        let linear = |name, inner| Linear::load_with_bias(&w.module(name), inner, width, false);
        Ok(Self {
            to_q: linear("to_q", width)?,
            to_k: linear("to_k", condition)?,
            to_v: linear("to_v", condition)?,
            to_out: Linear::load(&w.module("to_out.0"), width, width)?,
            heads,
        })
    }

    fn forward(&self, x: Tensor<B, 3>, condition: &Tensor<B, 3>) -> Tensor<B, 3> {
        // No mask: pipelines of diffusers pass none, so that the padding of a prompt is seen, too.
        let query = project_heads(&self.to_q, x, self.heads);
        let [key, value] = [&self.to_k, &self.to_v]
            .map(|linear| project_heads(linear, condition.clone(), self.heads));
        let scale = (query.dims()[3] as f64).powf(-0.5);
        self.to_out.forward(attend(query, key, value, scale, None))
    }
}

fn load_norm<B: Ops>(
    name: &str,
    w: &Weights<B>,
    width: usize,
) -> Result<LayerNorm<B>, WeightsError> {
    LayerNorm::load(&w.module(name), width, LAYER_EPS)
}
