//! The layers of DETR: attention whose queries and keys get positions and whose values do not, normalised behind.

use super::detr::Memory;
use crate::{
    backend::{Activation, Ops},
    layer::{FeedForward, LayerNorm, Linear, attend, split_heads},
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;

/// The sizes of a layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct DetrLayerShape {
    pub(super) width: usize,
    pub(super) heads: usize,
    pub(super) inner: usize,
    pub(super) activation: Activation,
}

/// `nn.LayerNorm`'s own, which DETR keeps.
const EPS: f64 = 1e-5;

/// Places of the image look at each other.
pub(super) struct EncoderLayer<B: Ops> {
    attention: Attention<B>,
    attention_norm: LayerNorm<B>,
    mlp: FeedForward<B>,
    final_norm: LayerNorm<B>,
}

impl<B: Ops> EncoderLayer<B> {
    pub(super) fn load(shape: &DetrLayerShape, w: &Weights<B>) -> Result<Self, WeightsError> {
        Ok(Self {
            attention: Attention::load(shape, &w.module("self_attn"))?,
            attention_norm: LayerNorm::load(&w.module("self_attn_layer_norm"), shape.width, EPS)?,
            mlp: perceptron(shape, w)?,
            final_norm: LayerNorm::load(&w.module("final_layer_norm"), shape.width, EPS)?,
        })
    }

    /// [batch, places, width].
    pub(super) fn forward(
        &self,
        x: Tensor<B, 3>,
        positions: &Tensor<B, 3>,
        bias: Option<Tensor<B, 4>>,
    ) -> Tensor<B, 3> {
        let placed = x.clone() + positions.clone();
        let seen = self.attention.forward(placed.clone(), placed, x.clone(), bias);
        let x = self.attention_norm.forward_sum(seen, x);
        self.final_norm.forward_sum(self.mlp.forward(x.clone()), x)
    }
}

/// Queries look at each other, then at the places of the image.
pub(super) struct DecoderLayer<B: Ops> {
    own: EncoderLayer<B>,
    places: Attention<B>,
    places_norm: LayerNorm<B>,
}

impl<B: Ops> DecoderLayer<B> {
    pub(super) fn load(shape: &DetrLayerShape, w: &Weights<B>) -> Result<Self, WeightsError> {
        Ok(Self {
            own: EncoderLayer::load(shape, w)?,
            places: Attention::load(shape, &w.module("encoder_attn"))?,
            places_norm: LayerNorm::load(&w.module("encoder_attn_layer_norm"), shape.width, EPS)?,
        })
    }

    /// [batch, queries, width].
    pub(super) fn forward(&self, x: Tensor<B, 3>, queries: &Tensor<B, 3>, memory: &Memory<B>) -> Tensor<B, 3> {
        let asked = x.clone() + queries.clone();
        let x =
            self.own.attention_norm.forward_sum(self.own.attention.forward(asked.clone(), asked, x.clone(), None), x);
        let keys = memory.places.clone() + memory.positions.clone();
        let seen = self.places.forward(x.clone() + queries.clone(), keys, memory.places.clone(), memory.bias.clone());
        let x = self.places_norm.forward_sum(seen, x);
        self.own.final_norm.forward_sum(self.own.mlp.forward(x.clone()), x)
    }
}

fn perceptron<B: Ops>(shape: &DetrLayerShape, w: &Weights<B>) -> Result<FeedForward<B>, WeightsError> {
    let [up, down] = if w.has("mlp.fc1.weight") { ["mlp.fc1", "mlp.fc2"] } else { ["fc1", "fc2"] };
    Ok(FeedForward {
        up: Linear::load(&w.module(up), shape.width, shape.inner)?,
        activation: shape.activation,
        down: Linear::load(&w.module(down), shape.inner, shape.width)?,
    })
}

/// Attention whose three inputs may differ.
struct Attention<B: Ops> {
    query: Linear<B>,
    key: Linear<B>,
    value: Linear<B>,
    output: Linear<B>,
    heads: usize,
}

impl<B: Ops> Attention<B> {
    fn load(shape: &DetrLayerShape, w: &Weights<B>) -> Result<Self, WeightsError> {
        let square = |name: &str| Linear::load(&w.module(name), shape.width, shape.width);
        Ok(Self {
            query: square("q_proj")?,
            key: square("k_proj")?,
            value: square("v_proj")?,
            output: square(if w.has("o_proj.weight") { "o_proj" } else { "out_proj" })?,
            heads: shape.heads,
        })
    }

    fn forward(
        &self,
        query: Tensor<B, 3>,
        key: Tensor<B, 3>,
        value: Tensor<B, 3>,
        bias: Option<Tensor<B, 4>>,
    ) -> Tensor<B, 3> {
        let heads = |linear: &Linear<B>, x| split_heads(linear.forward(x), self.heads);
        let query = heads(&self.query, query);
        let scale = (query.dims()[3] as f64).powf(-0.5);
        self.output.forward(attend(query, heads(&self.key, key), heads(&self.value, value), scale, bias))
    }
}
