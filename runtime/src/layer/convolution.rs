//! Convolutions of images.
//!
//! On the CPU burn 0.21 sums convolutions of few input channels in f16 itself (3 channels and a kernel of 7: 1.8e-3 off, where
//! rounding the result costs 2e-4; one channel to each output: 1e-3), so f16 is computed in f32 there and rounded once.

use crate::{
    backend::{Ops, affine},
    weights::{Weights, WeightsError},
};
use burn::tensor::{DType, Tensor, module, ops::ConvOptions};
use testgen_contract::DeviceKind;

/// `nn.Conv2d`.
pub(crate) struct Conv2d<B: Ops> {
    weight: Tensor<B, 4>,
    bias: Option<Tensor<B, 1>>,
    stride: [usize; 2],
    padding: [usize; 2],
    groups: usize,
}

/// Channels [in, out], and kernel, stride and padding [height, width] of a [`Conv2d`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conv2dShape {
    pub(crate) channels: [usize; 2],
    pub(crate) kernel: [usize; 2],
    pub(crate) stride: [usize; 2],
    pub(crate) padding: [usize; 2],
}

impl<B: Ops> Conv2d<B> {
    /// `weight` [out, in, height, width], and `bias` [out] where `bias` says so.
    pub(crate) fn load(w: &Weights<B>, shape: Conv2dShape, bias: bool) -> Result<Self, WeightsError> {
        let ([inner, out], [height, width]) = (shape.channels, shape.kernel);
        let weight = w.tensor("weight", [out, inner, height, width])?;
        let bias = bias.then(|| w.tensor("bias", [out])).transpose()?;
        Ok(Self { weight, bias, stride: shape.stride, padding: shape.padding, groups: 1 })
    }

    /// One odd square `kernel` for each channel, padded to keep the size; `weight` [channels, 1, kernel, kernel] and `bias`.
    pub(crate) fn load_depthwise(w: &Weights<B>, channels: usize, kernel: usize) -> Result<Self, WeightsError> {
        let weight = w.tensor("weight", [channels, 1, kernel, kernel])?;
        let bias = Some(w.tensor("bias", [channels])?);
        Ok(Self { weight, bias, stride: [1, 1], padding: [kernel / 2; 2], groups: channels })
    }

    /// [batch, in, height, width] to [batch, out, height', width'].
    pub(crate) fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let [_, _, height, width] = self.weight.dims();
        if self.stride == [height, width] && self.padding == [0, 0] && self.groups == 1 {
            return self.forward_patches(x);
        }
        let options = ConvOptions::new(self.stride, self.padding, [1, 1], self.groups);
        let dtype = x.dtype();
        if dtype == DType::F16 && B::kind(&x.device()) == DeviceKind::Cpu {
            let bias = self.bias.clone().map(|bias| bias.cast(DType::F32));
            return module::conv2d(x.cast(DType::F32), self.weight.clone().cast(DType::F32), bias, options).cast(dtype);
        }
        module::conv2d(x, self.weight.clone(), self.bias.clone(), options)
    }

    /// Patches that do not overlap are one matrix product, which is also what keeps bf16 right: on an H100 burn 0.21's
    /// convolution was off by 19 % on 8 x 8 patches in bf16 (docs/hardware.md).
    fn forward_patches(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let ([batch, inner, ..], [out, _, height, width]) = (x.dims(), self.weight.dims());
        let [rows, columns] = [x.dims()[2] / height, x.dims()[3] / width];
        let x = x.narrow(2, 0, rows * height).narrow(3, 0, columns * width);
        let patches = x
            .reshape([batch, inner, rows, height, columns, width])
            .permute([0, 2, 4, 1, 3, 5])
            .reshape([batch * rows * columns, inner * height * width]);
        let weight = self.weight.clone().reshape([out, inner * height * width]).transpose();
        let y = affine(patches, weight, self.bias.clone());
        y.reshape([batch, rows, columns, out]).permute([0, 3, 1, 2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Cpu;
    use burn::tensor::TensorData;

    fn tensor(shape: [usize; 4]) -> Tensor<Cpu, 4> {
        let values = (0..shape.iter().product::<usize>()).map(|index| (index * 37 % 101) as f32 / 50.0 - 1.0);
        let data = TensorData::new(values.collect::<Vec<f32>>(), shape).convert_dtype(DType::F16);
        Tensor::from_data(data, (&Default::default(), DType::F16))
    }

    /// |f16 - f32| / |f32| of a convolution of the same inputs.
    fn error(channels: usize, groups: usize) -> f32 {
        let (x, weight) = (tensor([1, channels, 24, 20]), tensor([8, channels / groups, 7, 7]));
        let layer = |weight| Conv2d::<Cpu> { weight, bias: None, stride: [2, 2], padding: [3, 3], groups };
        let full = layer(weight.clone().cast(DType::F32)).forward(x.clone().cast(DType::F32));
        let half = layer(weight).forward(x);
        assert_eq!(half.dtype(), DType::F16);
        let square = |x: Tensor<Cpu, 4>| (x.clone() * x).sum().into_scalar();
        (square(half.cast(DType::F32) - full.clone()) / square(full)).sqrt()
    }

    #[test]
    fn half_precision_is_rounded_once() {
        for (channels, groups) in [(3, 1), (8, 8), (32, 1)] {
            assert!(error(channels, groups) < 4e-4, "{channels} channels in {groups} groups");
        }
    }
}
