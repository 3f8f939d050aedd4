//! The layers of DETR: attention whose queries and keys get positions and whose values do not,
//! normalised after each part.

use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops},
    layer::{LayerNorm, Linear, Mlp, attend, project_heads},
    movable::Movable,
    weights::{Weights, WeightsError},
};

/// The sizes of a layer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DetrLayerShape {
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) inner: usize,
    pub(crate) activation: Activation,
}

/// The encoded image, which the decoder attends to.
pub(crate) struct EncodedImage<B: Ops> {
    /// [batch, positions, width].
    pub(crate) places: Tensor<B, 3>,
    /// [batch or 1, positions, width].
    pub(crate) positions: Tensor<B, 3>,
    /// [batch, 1, 1, positions].
    pub(crate) bias: Option<Tensor<B, 4>>,
}

impl<B: Ops> Movable<B> for EncodedImage<B> {
    fn move_to(&mut self, device: &B::Device) {
        self.places.move_to(device);
        self.positions.move_to(device);
        self.bias.move_to(device);
    }
}

/// `nn.LayerNorm`'s own, which DETR keeps.
const EPS: f64 = 1e-5;

/// Self-attention over the positions of the image.
pub(crate) struct DetrEncoderLayer<B: Ops> {
    attention: DetrAttention<B>,
    attention_norm: LayerNorm<B>,
    mlp: Mlp<B>,
    final_norm: LayerNorm<B>,
}

impl<B: Ops> DetrEncoderLayer<B> {
    pub(crate) fn load(shape: &DetrLayerShape, w: &Weights<B>) -> Result<Self, WeightsError> {
        Ok(Self {
            attention: DetrAttention::load(shape, &w.module("self_attn"))?,
            attention_norm: LayerNorm::load(&w.module("self_attn_layer_norm"), shape.width, EPS)?,
            mlp: mlp(shape, w)?,
            final_norm: LayerNorm::load(&w.module("final_layer_norm"), shape.width, EPS)?,
        })
    }

    /// [batch, positions, width].
    pub(crate) fn forward(
        &self,
        x: Tensor<B, 3>,
        positions: &Tensor<B, 3>,
        bias: Option<Tensor<B, 4>>,
    ) -> Tensor<B, 3> {
        // `DetrSelfAttention` adds the positions to queries and keys, not to values.
        let placed = x.clone() + positions.clone();
        let seen = self
            .attention
            .forward(placed.clone(), placed, x.clone(), bias);
        let x = self.attention_norm.forward_sum(seen, x);
        self.final_norm.forward_sum(self.mlp.forward(x.clone()), x)
    }
}

/// Self-attention of the queries, then attention to the positions of the image.
pub(crate) struct DetrDecoderLayer<B: Ops> {
    // The attention, the MLP and their norms have the names of an encoder layer.
    own: DetrEncoderLayer<B>,
    places: DetrAttention<B>,
    places_norm: LayerNorm<B>,
}

impl<B: Ops> DetrDecoderLayer<B> {
    pub(crate) fn load(shape: &DetrLayerShape, w: &Weights<B>) -> Result<Self, WeightsError> {
        Ok(Self {
            own: DetrEncoderLayer::load(shape, w)?,
            places: DetrAttention::load(shape, &w.module("encoder_attn"))?,
            places_norm: LayerNorm::load(&w.module("encoder_attn_layer_norm"), shape.width, EPS)?,
        })
    }

    /// [batch, queries, width].
    pub(crate) fn forward(
        &self,
        x: Tensor<B, 3>,
        queries: &Tensor<B, 3>,
        memory: &EncodedImage<B>,
    ) -> Tensor<B, 3> {
        // Every query sees every other: there is no padding among them, and so no mask.
        let asked = x.clone() + queries.clone();
        let x = self.own.attention_norm.forward_sum(
            self.own
                .attention
                .forward(asked.clone(), asked, x.clone(), None),
            x,
        );
        // `DetrCrossAttention` adds the positions to the keys, not to the values.
        let keys = memory.places.clone() + memory.positions.clone();
        let seen = self.places.forward(
            x.clone() + queries.clone(),
            keys,
            memory.places.clone(),
            memory.bias.clone(),
        );
        let x = self.places_norm.forward_sum(seen, x);
        self.own
            .final_norm
            .forward_sum(self.own.mlp.forward(x.clone()), x)
    }
}

fn mlp<B: Ops>(shape: &DetrLayerShape, w: &Weights<B>) -> Result<Mlp<B>, WeightsError> {
    // transformers 5 has the first names in memory and may save them; the released files have the
    // second.
    let [up, down] = if w.has("mlp.fc1.weight") {
        ["mlp.fc1", "mlp.fc2"]
    } else {
        ["fc1", "fc2"]
    };
    Ok(Mlp {
        up: Linear::load(&w.module(up), shape.width, shape.inner)?,
        activation: shape.activation,
        down: Linear::load(&w.module(down), shape.inner, shape.width)?,
    })
}

/// Attention whose three inputs may differ.
struct DetrAttention<B: Ops> {
    query: Linear<B>,
    key: Linear<B>,
    value: Linear<B>,
    output: Linear<B>,
    heads: usize,
}

impl<B: Ops> DetrAttention<B> {
    fn load(shape: &DetrLayerShape, w: &Weights<B>) -> Result<Self, WeightsError> {
        let square = |name: &str| Linear::load(&w.module(name), shape.width, shape.width);
        Ok(Self {
            query: square("q_proj")?,
            key: square("k_proj")?,
            value: square("v_proj")?,
            // As for the MLP.
            output: square(if w.has("o_proj.weight") {
                "o_proj"
            } else {
                "out_proj"
            })?,
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
        let query = project_heads(&self.query, query, self.heads);
        let scale = (query.dims()[3] as f64).powf(-0.5);
        self.output.forward(attend(
            query,
            project_heads(&self.key, key, self.heads),
            project_heads(&self.value, value, self.heads),
            scale,
            bias,
        ))
    }
}
