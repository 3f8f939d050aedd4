//! The elements of windows as slices: for each position of a kernel the elements that it meets in
//! all windows.
//!
//! On GPUs convolutions and pools are composed of them, as the convolutions of models are: burn
//! 0.21 has no 3-D pools and no transposed convolutions there, and its convolutions are wrong in 16
//! bits (docs/hardware.md).

use crate::operators::float::{dims, narrow, pad};
use burn_tensor::ops::FloatTensor;
use testgen_nn::backend::Ops;
use testgen_operators::calls::Attributes;

/// Windows over the last dimensions of a tensor.
pub(crate) struct TensorWindows {
    pub(crate) kernel: Vec<usize>,
    stride: Vec<usize>,
    padding: Vec<usize>,
    dilation: Vec<usize>,
}

impl TensorWindows {
    pub(crate) fn new(kernel: &[usize], attributes: &Attributes) -> Self {
        Self {
            kernel: kernel.to_vec(),
            stride: given_or(&attributes.stride, 1, kernel.len()),
            padding: given_or(&attributes.padding, 0, kernel.len()),
            dilation: given_or(&attributes.dilation, 1, kernel.len()),
        }
    }

    /// The number of positions of the kernel.
    pub(crate) fn taps(&self) -> usize {
        self.kernel.iter().product()
    }

    /// The number of windows along each of the `lengths`.
    pub(crate) fn output(&self, lengths: &[usize]) -> Vec<usize> {
        lengths
            .iter()
            .enumerate()
            .map(|(dimension, length)| {
                let extent = self.dilation[dimension] * (self.kernel[dimension] - 1) + 1;
                let room = (length + 2 * self.padding[dimension]).checked_sub(extent);
                room.map_or(0, |rest| rest / self.stride[dimension] + 1)
            })
            .collect()
    }

    /// `x` [batch, channels, ...] with `number` around it, cut for each position of the kernel:
    /// [batch, channels, windows...] each.
    pub(crate) fn slices<B: Ops>(&self, x: FloatTensor<B>, number: f64) -> Vec<FloatTensor<B>> {
        let output = self.output(&dims::<B>(&x)[2..]);
        let padded = (0..self.kernel.len()).fold(x, |x, dimension| {
            let padding = self.padding[dimension];
            pad::<B>(x, dimension + 2, [padding, padding], number)
        });
        let strides = testgen_operators::calls::row_major_strides(&self.kernel);
        (0..self.taps())
            .map(|tap| {
                (0..self.kernel.len()).fold(padded.clone(), |x, dimension| {
                    let start = tap / strides[dimension] % self.kernel[dimension]
                        * self.dilation[dimension];
                    let step = self.stride[dimension];
                    // Up to the last window: a stride may leave elements after it that no window
                    // covers.
                    let whole = output[dimension]
                        .checked_sub(1)
                        .map_or(start, |last| start + last * step + 1);
                    narrow::<B>(x, dimension + 2, [start, whole, step])
                })
            })
            .collect()
    }
}

fn given_or(given: &[usize], default: usize, rank: usize) -> Vec<usize> {
    if given.is_empty() {
        vec![default; rank]
    } else {
        given.to_vec()
    }
}
