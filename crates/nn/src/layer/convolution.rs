//! Convolutions of images.
//!
//! On GPUs they are computed by the vendor's library, or they are matrix products, of patches or of
//! windows that overlap: on an H100, burn 0.21's own was off by 19 % on 8 x 8 patches in bf16, and
//! by 5 to 100 % or NaN on kernels of 3 in f16 and bf16 (docs/hardware.md).
//!
//! On the CPU burn 0.21 sums convolutions of few input channels in f16 itself (3 channels and a
//! kernel of 7: 1.8e-3 off, where rounding the result costs 2e-4; one channel to each output:
//! 1e-3), so f16 is computed in f32 there and rounded once.

use super::between_zeros;
use crate::{
    backend::{Ops, linear, timed_call},
    weights::{Weights, WeightsError},
};
use burn_tensor::{DType, Tensor, module, ops::ConvOptions};
use testgen_types::DeviceKind;

/// `nn.Conv2d`.
pub struct Conv2d<B: Ops> {
    weight: Tensor<B, 4>,
    bias: Option<Tensor<B, 1>>,
    stride: [usize; 2],
    padding: [usize; 2],
    groups: usize,
}

/// Channels [in, out], and kernel, stride and padding [height, width] of a [`Conv2d`].
#[derive(Debug, Clone, Copy)]
pub struct Conv2dShape {
    /// In, out.
    pub channels: [usize; 2],
    /// Height, width.
    pub kernel: [usize; 2],
    /// Height, width.
    pub stride: [usize; 2],
    /// Zeros on each side: height, width.
    pub padding: [usize; 2],
}

impl<B: Ops> Conv2d<B> {
    /// `weight` [out, in, height, width], and `bias` `[out]` where `bias` says so.
    pub fn load(w: &Weights<B>, shape: Conv2dShape, bias: bool) -> Result<Self, WeightsError> {
        let ([inner, out], [height, width]) = (shape.channels, shape.kernel);
        let weight = w.tensor("weight", [out, inner, height, width])?;
        let bias = bias.then(|| w.tensor("bias", [out])).transpose()?;
        Ok(Self {
            weight,
            bias,
            stride: shape.stride,
            padding: shape.padding,
            groups: 1,
        })
    }

    /// One odd square `kernel` for each channel, padded to keep the size; `weight` [channels, 1,
    /// kernel, kernel] and `bias`.
    pub fn load_depthwise(
        w: &Weights<B>,
        channels: usize,
        kernel: usize,
    ) -> Result<Self, WeightsError> {
        let weight = w.tensor("weight", [channels, 1, kernel, kernel])?;
        let bias = Some(w.tensor("bias", [channels])?);
        Ok(Self {
            weight,
            bias,
            stride: [1, 1],
            padding: [kernel / 2; 2],
            groups: channels,
        })
    }

    /// [batch, in, height, width] to [batch, out, height', width'].
    pub fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let (shape, device) = (x.dims(), x.device());
        timed_call::<B, _>(
            &device,
            || {
                let (weight, stride, padding) = (self.weight.dims(), self.stride, self.padding);
                format!("conv2d {shape:?} x {weight:?} stride {stride:?} padding {padding:?}")
            },
            || self.convolved(x),
        )
    }

    fn convolved(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let [_, _, height, width] = self.weight.dims();
        let options = ConvOptions::new(self.stride, self.padding, [1, 1], self.groups);
        if B::has_convolutions(&x.device()) {
            return module::conv2d(x, self.weight.clone(), self.bias.clone(), options);
        }
        // On every other device: a single product without a copy of overlapping windows.
        if self.groups == 1 && self.stride == [height, width] && self.padding == [0, 0] {
            return self.product_of_patches(x);
        }
        if self.groups == 1 && B::kind(&x.device()) != DeviceKind::Cpu {
            return self.product_of_windows(x);
        }
        let dtype = x.dtype();
        // Flex convolves f16 by products in f16, which round partial sums; bf16 it converts itself.
        if dtype == DType::F16 && B::kind(&x.device()) == DeviceKind::Cpu {
            let bias = self.bias.clone().map(|bias| bias.cast(DType::F32));
            return module::conv2d(
                x.cast(DType::F32),
                self.weight.clone().cast(DType::F32),
                bias,
                options,
            )
            .cast(dtype);
        }
        module::conv2d(x, self.weight.clone(), self.bias.clone(), options)
    }

    /// Patches that do not overlap only need a reordering of x.
    fn product_of_patches(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let ([batch, inner, ..], [_, _, height, width]) = (x.dims(), self.weight.dims());
        let [rows, columns] = [x.dims()[2] / height, x.dims()[3] / width];
        // A convolution ignores pixels that do not fill a whole patch.
        let x = x.narrow(2, 0, rows * height).narrow(3, 0, columns * width);
        let patches = x
            .reshape([batch, inner, rows, height, columns, width])
            .permute([0, 2, 4, 1, 3, 5]);
        self.product(patches)
    }

    /// Overlapping windows are copied, for every position of the kernel its inputs.
    fn product_of_windows(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let [_, _, height, width] = self.weight.dims();
        let (x, rows) = self.padded(x, 2);
        let (x, columns) = self.padded(x, 3);
        // With a single position the dimension of positions would have size 1 and end last, where
        // burn 0.21 loses the strides of what is reshaped on GPUs (docs/hardware.md).
        if height * width == 1 {
            // A kernel of one pixel is a product over channels; only the stride leaves pixels out.
            let x = every(x, 2, 0, rows, self.stride[0]);
            return self.product_of_patches(every(x, 3, 0, columns, self.stride[1]));
        }
        let [batch, inner, ..] = x.dims();
        let windows: Tensor<B, 4> = Tensor::cat(
            (0..height * width)
                .map(|place| {
                    let x = every(x.clone(), 2, place / width, rows, self.stride[0]);
                    every(x, 3, place % width, columns, self.stride[1])
                })
                .collect(),
            1,
        );
        let windows = windows
            .reshape([batch, height * width, inner, rows, columns])
            .permute([0, 3, 4, 2, 1]);
        let windows = windows.reshape([batch, rows, columns, inner, height, width]);
        self.product(windows)
    }

    /// `windows` [batch, rows, columns, in, height, width] times the weight, as [batch, out, rows,
    /// columns].
    fn product(&self, windows: Tensor<B, 6>) -> Tensor<B, 4> {
        let [batch, rows, columns, inner, height, width] = windows.dims();
        let out = self.weight.dims()[0];
        let windows = windows.reshape([batch * rows * columns, inner * height * width]);
        let weight = self
            .weight
            .clone()
            .reshape([out, inner * height * width])
            .transpose();
        let y = linear(windows, weight, self.bias.clone());
        y.reshape([batch, rows, columns, out]).permute([0, 3, 1, 2])
    }

    /// `x` with zeros at both ends of `dimension`, so many that every window can be cut out with
    /// whole strides; and the number of windows.
    fn padded(&self, x: Tensor<B, 4>, dimension: usize) -> (Tensor<B, 4>, usize) {
        let (kernel, stride) = (self.weight.dims()[dimension], self.stride[dimension - 2]);
        let (before, length) = (self.padding[dimension - 2], x.dims()[dimension]);
        // As `nn.Conv2d` counts them, rounded down.
        let count = (length + 2 * before - kernel) / stride + 1;
        // Nothing if the last elements are in no window.
        let after = (kernel - 1 + count * stride).saturating_sub(before + length);
        (between_zeros(x, dimension, before, after), count)
    }
}

/// `count` elements of `dimension`, every `stride`th from `first` on.
fn every<B: Ops>(
    x: Tensor<B, 4>,
    dimension: usize,
    first: usize,
    count: usize,
    stride: usize,
) -> Tensor<B, 4> {
    let mut shape = x.dims();
    // Whole strides, so that the reshape below finds the first element of each.
    let x = x.narrow(dimension, first, count * stride);
    if stride == 1 {
        return x;
    }
    let [outer, inner] = [
        shape[..dimension].iter().product(),
        shape[dimension + 1..].iter().product(),
    ];
    let strided = x.reshape([outer, count, stride, inner]).narrow(2, 0, 1);
    shape[dimension] = count;
    strided.reshape(shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Cpu;
    use burn_tensor::TensorData;

    fn tensor(shape: [usize; 4]) -> Tensor<Cpu, 4> {
        let values = (0..shape.iter().product::<usize>())
            .map(|index| (index * 37 % 101) as f32 / 50.0 - 1.0);
        let data = TensorData::new(values.collect::<Vec<f32>>(), shape).convert_dtype(DType::F16);
        Tensor::from_data(data, (&Default::default(), DType::F16))
    }

    /// |f16 - f32| / |f32| of a convolution of the same inputs.
    fn error(channels: usize, groups: usize) -> f32 {
        let (x, weight) = (
            tensor([1, channels, 24, 20]),
            tensor([8, channels / groups, 7, 7]),
        );
        let layer = |weight| Conv2d::<Cpu> {
            weight,
            bias: None,
            stride: [2, 2],
            padding: [3, 3],
            groups,
        };
        let full = layer(weight.clone().cast(DType::F32)).forward(x.clone().cast(DType::F32));
        let half = layer(weight).forward(x);
        assert_eq!(half.dtype(), DType::F16);
        let square = |x: Tensor<Cpu, 4>| (x.clone() * x).sum().into_scalar();
        (square(half.cast(DType::F32) - full.clone()) / square(full)).sqrt()
    }

    #[test]
    fn half_precision_is_rounded_once() {
        for (channels, groups) in [(3, 1), (8, 8), (32, 1)] {
            assert!(
                error(channels, groups) < 4e-4,
                "{channels} channels in {groups} groups"
            );
        }
    }

    #[test]
    fn windows_are_what_the_convolution_sums() {
        for (kernel, stride, padding) in [
            ([3, 3], [1, 1], [1, 1]),
            ([7, 5], [2, 3], [3, 0]),
            ([1, 1], [2, 2], [0, 0]),
        ] {
            let x = tensor([2, 3, 13, 11]).cast(DType::F32);
            let weight = tensor([4, 3, kernel[0], kernel[1]]).cast(DType::F32);
            let bias = Some(tensor([1, 1, 1, 4]).cast(DType::F32).reshape([4]));
            let layer = Conv2d::<Cpu> {
                weight,
                bias,
                stride,
                padding,
                groups: 1,
            };
            let (expected, got) = (layer.forward(x.clone()), layer.product_of_windows(x));
            assert_eq!(expected.dims(), got.dims());
            let error = (expected - got).abs().max().into_scalar();
            assert!(
                error < 1e-5,
                "{error} off with kernel {kernel:?}, stride {stride:?}, padding {padding:?}"
            );
        }
    }
}
