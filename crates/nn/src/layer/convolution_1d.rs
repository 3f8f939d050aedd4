//! Convolutions of sequences.

use super::between_zeros;
use crate::{
    backend::{Ops, convolve_sequences, linear, timed_call},
    weights::{Weights, WeightsError},
};
use burn_tensor::{Tensor, ops::ConvOptions};

/// `nn.Conv1d`, over [batch, seq, channels] with channels last.
pub struct Conv1d<B: Ops> {
    weight: Conv1dWeight<B>,
    bias: Option<Tensor<B, 1>>,
    shape: Conv1dShape,
}

/// The weight, as what computes the convolution reads it.
enum Conv1dWeight<B: Ops> {
    /// [out, in / groups, kernel]: for the library of the device's vendor.
    Whole(Tensor<B, 3>),
    /// Of each group, [kernel * in, out]: for one matrix product for each group of channels.
    Products(Vec<Tensor<B, 2>>),
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

    /// The name of a call with an input of `dims`.
    fn call(&self, dims: [usize; 3]) -> String {
        let Self {
            channels: [_, out],
            kernel,
            stride,
            padding,
            groups,
        } = self;
        format!(
            "conv1d {dims:?} x [{out}, {kernel}] stride {stride} padding {padding} groups {groups}"
        )
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
        // Once, because products need the weight in another order.
        let weight = if B::has_convolutions(&weight.device()) {
            Conv1dWeight::Whole(weight)
        } else {
            Conv1dWeight::Products(weights_of_groups(&weight, shape.groups))
        };
        Self {
            weight,
            bias,
            shape,
        }
    }

    /// [batch, seq, in] to [batch, seq', out]; the sequence must be as long as the kernel.
    pub fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let (dims, device) = (x.dims(), x.device());
        timed_call::<B, _>(&device, || self.shape.call(dims), || self.convolved(x))
    }

    fn convolved(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        // The bias is added after both, because the library that computes convolutions adds none.
        let y = match &self.weight {
            Conv1dWeight::Whole(weight) => {
                let Conv1dShape {
                    stride,
                    padding,
                    groups,
                    ..
                } = self.shape;
                let options = ConvOptions::new([stride], [padding], [1], groups);
                convolve_sequences(x, weight.clone(), options)
            }
            Conv1dWeight::Products(weights) => self.products(x, weights),
        };
        let out = self.shape.channels[1];
        match &self.bias {
            Some(bias) => y + bias.clone().reshape([1, 1, out]),
            None => y,
        }
    }

    /// The product of each group's windows with its weight.
    fn products(&self, x: Tensor<B, 3>, weights: &[Tensor<B, 2>]) -> Tensor<B, 3> {
        let Conv1dShape {
            channels: [inner, out],
            kernel,
            groups,
            ..
        } = self.shape;
        let [batch, seq, _] = x.dims();
        let (length, width) = (self.shape.length(seq), inner / groups);
        let x = self.padded(x, length);
        let parts: Vec<Tensor<B, 3>> = weights
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
                    .reshape([batch * length, kernel * width]);
                linear(windows, weight.clone(), None).reshape([batch, length, out / groups])
            })
            .collect();
        // The outputs of the groups are side by side, as `nn.Conv1d` orders channels.
        Tensor::cat(parts, 2)
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

/// `weight` [out, in / groups, kernel] as a matrix [kernel * in, out] of each group.
fn weights_of_groups<B: Ops>(weight: &Tensor<B, 3>, groups: usize) -> Vec<Tensor<B, 2>> {
    let [out, inner, kernel] = weight.dims();
    let part = out / groups;
    (0..groups)
        .map(|index| {
            // Positions outermost, as `windows` lays out its inputs.
            let weight = weight.clone().narrow(0, index * part, part);
            weight.permute([2, 1, 0]).reshape([kernel * inner, part])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Cpu;
    use burn_tensor::TensorData;

    fn tensor<const D: usize>(shape: [usize; D]) -> Tensor<Cpu, D> {
        let values = (0..shape.iter().product::<usize>())
            .map(|index| (index * 37 % 101) as f32 / 50.0 - 1.0);
        let data = TensorData::new(values.collect::<Vec<f32>>(), shape);
        Tensor::from_data(data, &Default::default())
    }

    #[test]
    fn products_are_what_the_convolution_sums() {
        for (kernel, stride, padding, groups) in
            [(3, 1, 1, 1), (4, 2, 0, 1), (5, 3, 2, 2), (1, 1, 0, 4)]
        {
            let shape = Conv1dShape {
                channels: [8, 12],
                kernel,
                stride,
                padding,
                groups,
            };
            let weight = tensor([12, 8 / groups, kernel]);
            let products = Conv1d::new(weight.clone(), Some(tensor([12])), shape);
            let whole = Conv1d {
                weight: Conv1dWeight::Whole(weight),
                bias: products.bias.clone(),
                shape,
            };
            let x = tensor([2, 13, 8]);
            let (expected, got) = (whole.forward(x.clone()), products.forward(x));
            assert_eq!(expected.dims(), got.dims());
            let error = (expected - got).abs().max().into_scalar();
            assert!(error < 1e-5, "{error} off: {shape:?}");
        }
    }
}
