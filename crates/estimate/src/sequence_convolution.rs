//! Convolutions of sequences, as `testgen_nn` computes them.

use crate::{
    convolution::{between_zeros, needed},
    elementwise::cat,
    product::{Order, ProjectionMatrix},
    tensor::{AllocatedTensor, weight},
};

/// A convolution of sequences, [batch, seq, in], with channels last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SequenceConvolution {
    /// In, out.
    pub(crate) channels: [u64; 2],
    pub(crate) kernel: u64,
    pub(crate) stride: u64,
    /// Zeros on each side.
    pub(crate) padding: u64,
    /// The parts of the channels, each of which is convolved alone.
    pub(crate) groups: u64,
    pub(crate) bias: bool,
}

impl SequenceConvolution {
    /// The length of the result of `seq` positions.
    pub(crate) fn length(self, seq: u64) -> u64 {
        let padded = seq.saturating_add(2 * self.padding);
        match padded.checked_sub(self.kernel) {
            Some(rest) => (rest / self.stride).saturating_add(1),
            None => 0,
        }
    }

    /// The fewest positions that have a result of `length`.
    pub(crate) fn needed(self, length: u64) -> u64 {
        let last = length.saturating_sub(1).saturating_mul(self.stride);
        last.saturating_add(self.kernel)
            .saturating_sub(2 * self.padding)
    }

    pub(crate) fn forward(self, x: AllocatedTensor) -> AllocatedTensor {
        let (machine, element) = (x.machine().clone(), x.element);
        let seq = x.dims()[1];
        let needed = needed(self.kernel, self.length(seq), self.stride);
        let after = needed.saturating_sub(self.padding).saturating_sub(seq);
        let x = between_zeros(x, 1, self.padding, after);
        let y = self.products(x, self.length(seq));
        if self.bias {
            y.combine(weight(&machine, &[1, 1, self.channels[1]], element))
        } else {
            y
        }
    }

    /// The product of each group's windows, side by side.
    fn products(self, x: AllocatedTensor, length: u64) -> AllocatedTensor {
        let (batch, [inner, out]) = (x.dims()[0], self.channels);
        let (width, part) = (inner / self.groups, out / self.groups);
        let matrix = ProjectionMatrix {
            order: Order::Turned,
            ..ProjectionMatrix::linear(self.kernel.saturating_mul(width), part, false)
        };
        let _held = x.clone().held_on_host();
        // The last group takes it.
        let mut whole = Some(x);
        let product = |index: u64| {
            let is_last = index + 1 == self.groups;
            let x = if is_last { whole.take() } else { whole.clone() }?;
            let x = match self.groups {
                1 => x,
                _ => x.narrow(2, index * width, width),
            };
            let rows = batch.saturating_mul(length);
            let windows = self
                .windows(x, length)
                .reshape(&[rows, self.kernel.saturating_mul(width)]);
            let y = matrix.forward_uncounted(windows);
            Some(y.reshape(&[batch, length, part]))
        };
        cat((0..self.groups).filter_map(product).collect(), 2)
    }

    /// Of each window its positions, one after another.
    fn windows(self, x: AllocatedTensor, length: u64) -> AllocatedTensor {
        let (batch, channels) = (x.dims()[0], x.dims()[2]);
        let part = |offset| {
            let strided = x
                .clone()
                .narrow(1, offset, length.saturating_mul(self.stride));
            match self.stride {
                1 => strided,
                stride => strided
                    .reshape(&[batch, length, stride.saturating_mul(channels)])
                    .narrow(2, 0, channels),
            }
        };
        let parts = (0..self.kernel).map(part).collect();
        let _held = x.held_on_host();
        cat(parts, 2)
    }
}
