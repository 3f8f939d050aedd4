//! A short causal convolution along the sequence, for each channel by itself (Mamba).

use crate::{
    backend::Ops,
    weights::{Weights, WeightsError},
};
use burn_tensor::{DType, Tensor, TensorData};

/// `nn.Conv1d` with as many groups as channels, padded on the left alone.
pub struct CausalConvolution<B: Ops> {
    /// One [1, 1, channels] for each position of the kernel, the oldest token's first; f32, of
    /// values in the model's type.
    taps: Vec<Tensor<B, 3>>,
    bias: Option<Tensor<B, 3>>,
}

/// The result of one call of a [`CausalConvolution`].
pub struct Convolved<B: Ops> {
    /// [batch, seq, channels].
    pub values: Tensor<B, 3>,
    /// The inputs that the next call needs: [batch, kernel - 1, channels].
    pub past: Tensor<B, 3>,
}

impl<B: Ops> CausalConvolution<B> {
    /// `weight` [channels, 1, kernel], and `bias` `[channels]` where `bias` says so.
    pub fn load(
        w: &Weights<B>,
        channels: usize,
        kernel: usize,
        bias: bool,
    ) -> Result<Self, WeightsError> {
        let weight = w.values("weight", &[channels, 1, kernel])?;
        let put = |values: Vec<f32>| {
            // The sum is in f32, but the taps are rounded to the model's type, as the weights of
            // transformers are.
            let rounded: Tensor<B, 3> = Tensor::from_data(
                TensorData::new(values, [1, 1, channels]).convert_dtype(w.dtype()),
                (w.device(), w.dtype()),
            );
            rounded.cast(DType::F32)
        };
        let bias = if bias {
            Some(put(w.values("bias", &[channels])?))
        } else {
            None
        };
        Ok(Self {
            taps: (0..kernel)
                .map(|place| {
                    put((0..channels)
                        .map(|channel| weight[channel * kernel + place])
                        .collect())
                })
                .collect(),
            bias,
        })
    }

    /// [batch, seq, channels] after `past` [batch, kernel - 1, channels], zeros at the beginning.
    /// Summed in f32, rounded once.
    pub fn forward(&self, x: Tensor<B, 3>, past: Option<Tensor<B, 3>>) -> Convolved<B> {
        let ([batch, seq, channels], dtype, before) = (x.dims(), x.dtype(), self.taps.len() - 1);
        let past =
            past.unwrap_or_else(|| Tensor::zeros([batch, before, channels], (&x.device(), dtype)));
        let x = Tensor::cat(vec![past, x], 1);
        // In the model's type, as the cache of transformers keeps it.
        let next = x.clone().narrow(1, seq, before);
        let x = x.cast(DType::F32);
        let part =
            |(place, tap): (usize, &Tensor<B, 3>)| x.clone().narrow(1, place, seq) * tap.clone();
        let sum = self
            .taps
            .iter()
            .enumerate()
            .map(part)
            .reduce(|sum, part| sum + part);
        let sum = sum.expect("a kernel has a place");
        let y = match &self.bias {
            Some(bias) => sum + bias.clone(),
            None => sum,
        };
        Convolved {
            values: y.cast(dtype),
            past: next,
        }
    }
}
