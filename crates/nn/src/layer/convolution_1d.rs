//! Convolutions of sequences.

use super::between_zeros;
use crate::{
    backend::{Ops, linear},
    weights::{Weights, WeightsError},
};
use burn_tensor::Tensor;

/// `nn.Conv1d`, over [batch, seq, channels] with channels last, as one matrix product for each
/// group of channels.
pub struct Conv1d<B: Ops> {
    /// Of each group, [kernel * in, out].
    weights: Vec<Tensor<B, 2>>,
    bias: Option<Tensor<B, 1>>,
    shape: Conv1dShape,
}

/// Channels [in, out], kernel, stride, zeros before and after the sequence, and groups of a
/// [`Conv1d`].
#[derive(Debug, Clone, Copy)]
pub struct Conv1dShape {
    /// In, out.
    pub channels: [usize; 2],
    /// The number of positions.
    pub kernel: usize,
    /// Positions between two outputs.
    pub stride: usize,
    /// Zeros on each side.
    pub padding: usize,
    /// How many parts the channels are divided into, each convolved alone.
    pub groups: usize,
}

impl Conv1dShape {
    /// The length of what comes of `seq`.
    pub fn length(&self, seq: usize) -> usize {
        (seq + 2 * self.padding)
            .checked_sub(self.kernel)
            // A sequence shorter than the kernel has no output.
            .map_or(0, |rest| rest / self.stride + 1)
    }
}

impl<B: Ops> Conv1d<B> {
    /// `weight` [out, in / groups, kernel], and `bias` `[out]` where `bias` says so.
    pub fn load(w: &Weights<B>, shape: Conv1dShape, bias: bool) -> Result<Self, WeightsError> {
        let ([inner, out], kernel) = (shape.channels, shape.kernel);
        let weight = w.tensor("weight", [out, inner / shape.groups, kernel])?;
        let bias = bias.then(|| w.tensor("bias", [out])).transpose()?;
        Ok(Self::new(weight, bias, shape))
    }

    /// Of a weight [out, in / groups, kernel] that was computed.
    pub fn new(weight: Tensor<B, 3>, bias: Option<Tensor<B, 1>>, shape: Conv1dShape) -> Self {
        let [out, inner, kernel] = weight.dims();
        let part = out / shape.groups;
        Self {
            weights: (0..shape.groups)
                .map(|index| {
                    // Positions outermost, as `windows` lays out its inputs.
                    weight
                        .clone()
                        .narrow(0, index * part, part)
                        .permute([2, 1, 0])
                        .reshape([kernel * inner, part])
                })
                .collect(),
            bias,
            shape,
        }
    }

    /// [batch, seq, in] to [batch, seq', out]; the sequence must be as long as the kernel.
    pub fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let Conv1dShape {
            channels: [inner, out],
            groups,
            ..
        } = self.shape;
        let [batch, seq, _] = x.dims();
        let (length, width) = (self.shape.length(seq), inner / groups);
        let x = self.padded(x, length);
        let parts: Vec<Tensor<B, 3>> = self
            .weights
            .iter()
            .enumerate()
            .map(|(index, weight)| {
                let x = if groups == 1 {
                    x.clone()
                } else {
                    x.clone().narrow(2, index * width, width)
                };
                let windows = self
                    .windows(x, length)
                    .reshape([batch * length, self.shape.kernel * width]);
                linear(windows, weight.clone(), None).reshape([batch, length, out / groups])
            })
            .collect();
        // The outputs of the groups are side by side, as `nn.Conv1d` orders channels.
        let y = Tensor::cat(parts, 2);
        match &self.bias {
            Some(bias) => y + bias.clone().reshape([1, 1, out]),
            None => y,
        }
    }

    /// Zeros at both ends, so many that every window of `length` can be cut out with whole strides.
    fn padded(&self, x: Tensor<B, 3>, length: usize) -> Tensor<B, 3> {
        let Conv1dShape {
            kernel,
            stride,
            padding,
            ..
        } = self.shape;
        let needed = kernel - 1 + length * stride;
        let after = needed.saturating_sub(padding + x.dims()[1]);
        between_zeros(x, 1, padding, after)
    }

    /// [batch, length, kernel * channels]: of each window its positions one after another.
    fn windows(&self, x: Tensor<B, 3>, length: usize) -> Tensor<B, 3> {
        let Conv1dShape { kernel, stride, .. } = self.shape;
        let [batch, _, channels] = x.dims();
        Tensor::cat(
            (0..kernel)
                .map(|offset| {
                    let strided = x.clone().narrow(1, offset, length * stride);
                    match stride {
                        1 => strided,
                        // The first of every `stride` positions, without a list of indices on the
                        // device.
                        _ => strided
                            .reshape([batch, length, stride * channels])
                            .narrow(2, 0, channels),
                    }
                })
                .collect(),
            2,
        )
    }
}
