//! A layer of ModernBERT: query, key and value from one matrix, rotated; norms in front.

use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops},
    layer::{
        GatedMlp, LayerNorm, Linear, ProjectionNames, Projections, Rotation, attend, split_heads,
    },
    weights::{Weights, WeightsError},
};

/// The sizes of a layer, and which of its maps have a bias.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayerShape {
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) inner: usize,
    pub(crate) activation: Activation,
    pub(crate) attention_bias: bool,
    pub(crate) mlp_bias: bool,
}

/// The names of a layer's parts.
pub(crate) struct LayerNames {
    pub(crate) attention_norm: &'static str,
    /// Query, key and value side by side.
    pub(crate) joined: &'static str,
    pub(crate) output: &'static str,
    pub(crate) mlp_norm: &'static str,
    /// Gate and up side by side, and down.
    pub(crate) mlp: (ProjectionNames<2>, &'static str),
}

pub(crate) struct ModernBertLayer<B: Ops> {
    /// The first layer has none: its input comes from a norm.
    attention_norm: Option<LayerNorm<B>>,
    joined: Projections<B, 3>,
    output: Linear<B>,
    mlp_norm: LayerNorm<B>,
    mlp: GatedMlp<B>,
    heads: usize,
}

impl<B: Ops> ModernBertLayer<B> {
    pub(crate) fn load(
        shape: &LayerShape,
        names: &LayerNames,
        attention_norm: Option<LayerNorm<B>>,
        mlp_norm: LayerNorm<B>,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let LayerShape {
            width,
            inner,
            activation,
            attention_bias,
            mlp_bias,
            ..
        } = *shape;
        Ok(Self {
            attention_norm,
            joined: Projections::load(
                w,
                ProjectionNames::Joined(names.joined),
                width,
                [width; 3],
                attention_bias,
            )?,
            output: Linear::load_with_bias(&w.module(names.output), width, width, attention_bias)?,
            mlp_norm,
            // The first half of `Wi` is activated, as in `ModernBertMLP`.
            mlp: GatedMlp::load(w, names.mlp, [width, inner], activation, mlp_bias)?,
            heads: shape.heads,
        })
    }

    /// [batch, seq, width].
    pub(crate) fn forward(
        &self,
        x: Tensor<B, 3>,
        rotation: &Rotation<B>,
        bias: Option<Tensor<B, 4>>,
    ) -> Tensor<B, 3> {
        let normal = match &self.attention_norm {
            Some(norm) => norm.forward(x.clone()),
            None => x.clone(),
        };
        let x = x + self.attention(normal, rotation, bias);
        x.clone() + self.mlp.forward(self.mlp_norm.forward(x))
    }

    fn attention(
        &self,
        x: Tensor<B, 3>,
        rotation: &Rotation<B>,
        bias: Option<Tensor<B, 4>>,
    ) -> Tensor<B, 3> {
        let width = x.dims()[2];
        // `ModernBertAttention` views the product as [3, heads, head_dim]: query, key and value
        // follow each other as wholes, not head by head.
        let [query, key, value] = self
            .joined
            .forward(x)
            .map(|part| split_heads(part, self.heads));
        let (query, key) = (rotation.apply(query), rotation.apply(key));
        let scale = ((width / self.heads) as f64).powf(-0.5);
        self.output.forward(attend(query, key, value, scale, bias))
    }
}
