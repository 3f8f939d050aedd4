//! A layer of Swin: attention within windows, which every other layer shifts by half of one.

use burn_tensor::{DType, Tensor, TensorData};
use testgen_nn::{
    backend::{Activation, Ops},
    forward::ForwardError,
    inputs::Inputs,
    layer::{AttentionNames, AttentionShape, LayerNorm, Mlp, SelfAttention, between_zeros},
    movable::Movable,
    weights::{Weights, WeightsError},
};

/// The positions of an image, [batch, rows * columns, width].
pub(crate) struct FeatureMap<B: Ops> {
    pub(crate) places: Tensor<B, 3>,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl<B: Ops> Movable<B> for FeatureMap<B> {
    fn move_to(&mut self, device: &B::Device) {
        self.places.move_to(device);
    }
}

impl<B: Ops> FeatureMap<B> {
    /// [batch, rows, columns, width].
    pub(crate) fn image(&self) -> Tensor<B, 4> {
        let [batch, _, width] = self.places.dims();
        self.places
            .clone()
            .reshape([batch, self.rows, self.columns, width])
    }
}

/// The sizes of a layer; `shift` is how far its windows are moved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SwinLayerShape {
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) inner: usize,
    pub(crate) activation: Activation,
    pub(crate) eps: f64,
    pub(crate) qkv_bias: bool,
    pub(crate) window: usize,
    pub(crate) shift: usize,
}

pub(crate) struct SwinLayer<B: Ops> {
    layernorm_before: LayerNorm<B>,
    attention: SelfAttention<B>,
    /// The bias of distances that is added to the scores: f32, [1, heads, window², window²].
    distances: Tensor<B, 4>,
    layernorm_after: LayerNorm<B>,
    mlp: Mlp<B>,
    window: usize,
    shift: usize,
}

const NAMES: AttentionNames = AttentionNames {
    query: "attention.self.query",
    key: "attention.self.key",
    value: "attention.self.value",
    output: "attention.output.dense",
};

/// Added to the scores of positions that only the shift made neighbours.
// The number of `SwinLayer.get_attn_mask`: a large score can outweigh it, in transformers as well.
const APART: f32 = -100.0;

impl<B: Ops> SwinLayer<B> {
    pub(crate) fn load(shape: SwinLayerShape, w: &Weights<B>) -> Result<Self, WeightsError> {
        let SwinLayerShape {
            width,
            heads,
            inner,
            eps,
            qkv_bias: bias,
            window,
            shift,
            ..
        } = shape;
        Ok(Self {
            layernorm_before: LayerNorm::load(&w.module("layernorm_before"), width, eps)?,
            attention: SelfAttention::load(w, &NAMES, &AttentionShape { width, heads, bias })?,
            distances: distances(&w.module("attention.self"), window, heads)?,
            layernorm_after: LayerNorm::load(&w.module("layernorm_after"), width, eps)?,
            mlp: Mlp::load(
                w,
                ["intermediate.dense", "output.dense"],
                [width, inner],
                shape.activation,
                true,
            )?,
            window,
            shift,
        })
    }

    /// [batch, rows * columns, width].
    pub(crate) fn forward(
        &self,
        x: &FeatureMap<B>,
        inputs: &Inputs<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        // transformers would take a smaller window, which the table of distances does not fit.
        let shorter = x.rows.min(x.columns);
        if shorter < self.window {
            let found = format!("an image that shrinks to {} x {} places", x.rows, x.columns);
            let expected = format!("at least a window of {} in each direction", self.window);
            return Err(ForwardError::WrongInput {
                name: "pixel_values".to_owned(),
                found,
                expected,
            });
        }
        // A single window has no neighbours to exchange with (`set_shift_and_window_size`).
        let shift = if shorter == self.window {
            0
        } else {
            self.shift
        };
        let y = x.places.clone() + self.attend(x, shift, inputs);
        Ok(y.clone() + self.mlp.forward(self.layernorm_after.forward(y)))
    }

    /// Attention within the windows of an image that is padded to whole ones.
    fn attend(&self, x: &FeatureMap<B>, shift: usize, inputs: &Inputs<'_, B>) -> Tensor<B, 3> {
        let normal = FeatureMap {
            places: self.layernorm_before.forward(x.places.clone()),
            ..*x
        };
        // After the norm, and hidden by no mask: as in `SwinLayer`, the zeros take part in
        // attention.
        let image = padded(padded(normal.image(), 1, self.window), 2, self.window);
        let [batch, height, length, width] = image.dims();
        let windows = self.split(rolled(rolled(image, 1, shift), 2, shift));
        let bias = match shift {
            0 => self.distances.clone(),
            // Windows are counted image by image, and every image has the same borders.
            _ => (self.distances.clone() + self.borders([height, length], shift, inputs))
                .repeat_dim(0, batch),
        };
        let windows = self.attention.forward(windows, Some(bias));
        let image = self.join(windows, [batch, height, length, width]);
        // The rest of a whole turn, which undoes the shift.
        let image = rolled(rolled(image, 1, height - shift), 2, length - shift);
        let image = image.narrow(1, 0, x.rows).narrow(2, 0, x.columns);
        image.reshape([batch, x.rows * x.columns, width])
    }

    /// [batch, height, length, width] to [batch * windows, window², width].
    fn split(&self, image: Tensor<B, 4>) -> Tensor<B, 3> {
        let ([batch, height, length, width], side) = (image.dims(), self.window);
        let (down, across) = (height / side, length / side);
        let windows = image
            .reshape([batch, down, side, across, side, width])
            .permute([0, 1, 3, 2, 4, 5]);
        windows.reshape([batch * down * across, side * side, width])
    }

    /// The inverse of [`SwinLayer::split`].
    fn join(
        &self,
        windows: Tensor<B, 3>,
        [batch, height, length, width]: [usize; 4],
    ) -> Tensor<B, 4> {
        let side = self.window;
        let windows = windows.reshape([batch, height / side, length / side, side, side, width]);
        windows
            .permute([0, 1, 3, 2, 4, 5])
            .reshape([batch, height, length, width])
    }

    /// Hides positions from each other that the shift brought together from both ends: [windows, 1,
    /// window², window²].
    fn borders(&self, size: [usize; 2], shift: usize, inputs: &Inputs<'_, B>) -> Tensor<B, 4> {
        let side = self.window;
        // The slices of `SwinLayer.get_attn_mask`: three parts along each side, and
        // only positions of one part were neighbours before the shift.
        let part = |at: usize, length: usize| {
            usize::from(at + side >= length) + usize::from(at + shift >= length)
        };
        let mut values = Vec::new();
        for (top, left) in
            (0..size[0] / side).flat_map(|row| (0..size[1] / side).map(move |column| (row, column)))
        {
            let places = (0..side * side).map(|place| {
                3 * part(top * side + place / side, size[0])
                    + part(left * side + place % side, size[1])
            });
            let regions: Vec<usize> = places.collect();
            values.extend(regions.iter().flat_map(|one| -> Vec<f32> {
                regions
                    .iter()
                    .map(|other| if one == other { 0.0 } else { APART })
                    .collect()
            }));
        }
        let windows = (size[0] / side) * (size[1] / side);
        let shape = [windows, 1, side * side, side * side];
        Tensor::from_data(
            TensorData::new(values, shape),
            (inputs.device(), DType::F32),
        )
    }
}

/// `relative_position_bias_table` [(2 * window - 1)², heads], laid out for every pair of positions
/// in a window.
fn distances<B: Ops>(
    w: &Weights<B>,
    window: usize,
    heads: usize,
) -> Result<Tensor<B, 4>, WeightsError> {
    let (span, area) = (2 * window - 1, window * window);
    let table = w.tensor("relative_position_bias_table", [span * span, heads])?;
    let indices: Vec<i32> = (0..area * area)
        .map(|pair| index_of_distance(pair / area, pair % area, window))
        .collect();
    let indices = Tensor::from_data(
        TensorData::new(indices, [area * area]),
        (w.device(), DType::I32),
    );
    let pairs: Tensor<B, 2> = table.select(0, indices);
    Ok(pairs
        .reshape([1, area, area, heads])
        .permute([0, 3, 1, 2])
        .cast(DType::F32))
}

/// `x` with zeros after it, up to a multiple of `part` in `dimension`.
pub(crate) fn padded<B: Ops>(x: Tensor<B, 4>, dimension: usize, part: usize) -> Tensor<B, 4> {
    let length = x.dims()[dimension];
    between_zeros(x, dimension, 0, length.next_multiple_of(part) - length)
}

/// `x` with its first `shift` entries after the others.
fn rolled<B: Ops>(x: Tensor<B, 4>, dimension: usize, shift: usize) -> Tensor<B, 4> {
    let length = x.dims()[dimension];
    match shift % length {
        0 => x,
        shift => {
            let (front, back) = (
                x.clone().narrow(dimension, 0, shift),
                x.narrow(dimension, shift, length - shift),
            );
            Tensor::cat(vec![back, front], dimension)
        }
    }
}

fn index_of_distance(one: usize, other: usize, window: usize) -> i32 {
    let down = one / window + window - 1 - other / window;
    let across = one % window + window - 1 - other % window;
    (down * (2 * window - 1) + across) as i32
}
