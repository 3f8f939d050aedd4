//! Convolutions of images, as `testgen_nn` computes them.

use crate::{
    elementwise::cat,
    product::{Order, ProjectionMatrix},
    tensor::{AllocatedTensor, ElementType, empty, weight, workspace},
};
use std::thread::available_parallelism;

/// A convolution of images, [batch, in, height, width].
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImageConvolution {
    /// In, out.
    pub(crate) channels: [u64; 2],
    /// Height, width.
    pub(crate) kernel: [u64; 2],
    pub(crate) stride: [u64; 2],
    /// Zeros on each side.
    pub(crate) padding: [u64; 2],
    /// Whether each channel is convolved alone.
    pub(crate) depthwise: bool,
    pub(crate) bias: bool,
}

impl ImageConvolution {
    /// With a bias and a square kernel.
    pub(crate) fn square(channels: [u64; 2], kernel: u64, stride: u64, padding: u64) -> Self {
        Self {
            channels,
            kernel: [kernel; 2],
            stride: [stride; 2],
            padding: [padding; 2],
            depthwise: false,
            bias: true,
        }
    }

    /// Over patches that do not overlap.
    pub(crate) fn patches(channels: [u64; 2], patch: [u64; 2]) -> Self {
        Self {
            kernel: patch,
            stride: patch,
            ..Self::square(channels, 1, 1, 0)
        }
    }

    pub(crate) fn forward(self, x: AllocatedTensor) -> AllocatedTensor {
        let gpu = x.machine().is_gpu();
        if !self.depthwise && self.stride == self.kernel && self.padding == [0, 0] {
            return self.product_of_patches(x);
        }
        // burn's own convolutions on GPUs have faults, which docs/hardware.md lists.
        if gpu && !self.depthwise {
            return self.product_of_windows(x);
        }
        match x.element {
            _ if gpu => self.by_channel(x),
            ElementType::F32 => self.on_host(x),
            ElementType::F16 => self.f16_on_host(x),
            ElementType::Bf16 => self.bf16_on_host(x),
        }
    }

    /// The number of windows along the height or the width.
    fn count(self, side: usize, length: u64) -> u64 {
        let padded = length.saturating_add(2 * self.padding[side]);
        (padded.saturating_sub(self.kernel[side]) / self.stride[side]).saturating_add(1)
    }

    /// [batch, out, height', width'].
    pub(crate) fn result_dims(self, x: &AllocatedTensor) -> [u64; 4] {
        let [batch, height, width] = [0, 2, 3].map(|dimension| x.dims()[dimension]);
        let [rows, columns] = [self.count(0, height), self.count(1, width)];
        [batch, self.channels[1], rows, columns]
    }

    /// Of one window, in the channels that are summed.
    fn window(self) -> u64 {
        let [height, width] = self.kernel;
        let inner = if self.depthwise { 1 } else { self.channels[0] };
        inner.saturating_mul(height).saturating_mul(width)
    }

    fn weight_dims(self) -> [u64; 2] {
        [self.channels[1], self.window()]
    }

    fn product_of_patches(self, x: AllocatedTensor) -> AllocatedTensor {
        let [batch, inner, height, width] = [0, 1, 2, 3].map(|dimension| x.dims()[dimension]);
        let [down, across] = self.kernel;
        let (rows, columns) = (height / down, width / across);
        // Not more than the sides, which these are quotients of.
        let x = x.narrow(2, 0, rows * down).narrow(3, 0, columns * across);
        let patches = x
            .reshape(&[batch, inner, rows, down, columns, across])
            .permute(&[0, 2, 4, 1, 3, 5]);
        let windows = patches.reshape(&[places([batch, rows, columns]), self.window()]);
        let y = self.matrix().forward(windows);
        self.as_image(y, [batch, rows, columns])
    }

    /// Every position of the kernel with its inputs, one after another.
    fn product_of_windows(self, x: AllocatedTensor) -> AllocatedTensor {
        let [batch, _, rows, columns] = self.result_dims(&x);
        let x = self.padded(self.padded(x, 2, rows), 3, columns);
        let [height, width] = self.kernel;
        if height * width == 1 {
            let x = every(x, 2, 0, rows, self.stride[0]);
            let x = every(x, 3, 0, columns, self.stride[1]);
            return Self::patches(self.channels, [1, 1]).forward(x);
        }
        let parts = (0..height * width).map(|place| {
            let x = every(x.clone(), 2, place / width, rows, self.stride[0]);
            every(x, 3, place % width, columns, self.stride[1])
        });
        let parts = parts.collect();
        // The host may hold it longer, but no later kernel reads it.
        drop(x);
        let windows = cat(parts, 1)
            .reshape(&[batch, height * width, self.channels[0], rows, columns])
            .permute(&[0, 3, 4, 2, 1])
            .reshape(&[batch, rows, columns, self.channels[0], height, width])
            .reshape(&[places([batch, rows, columns]), self.window()]);
        let y = self.matrix().forward_uncounted(windows);
        self.as_image(y, [batch, rows, columns])
    }

    /// On a GPU each channel alone, by burn's own kernel, which reads and writes channels last.
    fn by_channel(self, x: AllocatedTensor) -> AllocatedTensor {
        let (machine, element) = (x.machine().clone(), x.element);
        let [batch, out, rows, columns] = self.result_dims(&x);
        let x = channels_last(x);
        let x = if x.strides()[3] == 1 { x } else { x.in_order() };
        let [height, width] = self.kernel;
        let _kernel = workspace(&machine, &[out, height, width, 1], element);
        let y = empty(&machine, &[batch, rows, columns, out], element);
        drop(x);
        channels_first(y)
    }

    fn matrix(self) -> ProjectionMatrix {
        ProjectionMatrix {
            order: Order::View,
            ..ProjectionMatrix::linear(self.window(), self.channels[1], self.bias)
        }
    }

    fn as_image(self, y: AllocatedTensor, [batch, rows, columns]: [u64; 3]) -> AllocatedTensor {
        y.reshape(&[batch, rows, columns, self.channels[1]])
            .permute(&[0, 3, 1, 2])
    }

    fn padded(self, x: AllocatedTensor, dimension: usize, count: u64) -> AllocatedTensor {
        let side = dimension - 2;
        let (before, length) = (self.padding[side], x.dims()[dimension]);
        // So many that every window can be cut out with whole strides.
        let needed = needed(self.kernel[side], count, self.stride[side]);
        let after = needed.saturating_sub(before).saturating_sub(length);
        between_zeros(x, dimension, before, after)
    }

    /// In f32, as burn's Flex computes it: windows are gathered in tiles.
    fn on_host(self, x: AllocatedTensor) -> AllocatedTensor {
        let (machine, dims) = (x.machine().clone(), self.result_dims(&x));
        let input = x.clone().contiguous();
        let small = self.channels[0] <= SMALL_CHANNELS[0] && self.channels[1] <= SMALL_CHANNELS[1];
        if self.depthwise || small {
            return empty(&machine, &dims, ElementType::F32);
        }
        // The kernel and the image with their channels last.
        let ordered = [&self.weight_dims()[..], input.dims()]
            .map(|dims| workspace(&machine, dims, ElementType::F32));
        let y = empty(&machine, &dims, ElementType::F32);
        let places = dims[2].saturating_mul(dims[3]);
        let tiles = dims[0].saturating_mul(places.div_ceil(TILE));
        let threads = available_parallelism().map_or(1, |threads| threads.get() as u64);
        let row = self.window().saturating_add(self.channels[1]);
        let tile = [tiles.min(threads), places.min(TILE), row];
        drop(workspace(&machine, &tile, ElementType::F32));
        drop(ordered);
        y
    }

    /// `testgen_nn` converts both factors.
    fn f16_on_host(self, x: AllocatedTensor) -> AllocatedTensor {
        let (machine, element) = (x.machine().clone(), x.element);
        let x = x.cast(ElementType::F32);
        // Both factors are converted, because Flex rounds partial sums.
        let kernel = weight(&machine, &self.weight_dims(), element).cast(ElementType::F32);
        let y = self.on_host(x);
        drop(kernel);
        y.cast(element)
    }

    /// Flex converts both factors itself.
    fn bf16_on_host(self, x: AllocatedTensor) -> AllocatedTensor {
        let (machine, element) = (x.machine().clone(), x.element);
        let ordered = x.clone().contiguous();
        let single = empty(&machine, ordered.dims(), ElementType::F32);
        drop(ordered);
        let kernel = workspace(&machine, &self.weight_dims(), ElementType::F32);
        let y = self.on_host(single);
        drop(kernel);
        // Not through 64 bits.
        y.like(element)
    }
}

/// The channels in and out up to which Flex sums one channel after another, without a copy.
const SMALL_CHANNELS: [u64; 2] = [4, 16];

/// The places of a result whose windows Flex gathers at once.
const TILE: u64 = 512;

/// The positions from which `count` windows can be cut out with whole strides.
pub(crate) fn needed(kernel: u64, count: u64, stride: u64) -> u64 {
    (kernel - 1).saturating_add(count.saturating_mul(stride))
}

/// The product of lengths.
fn places(lengths: [u64; 3]) -> u64 {
    lengths.into_iter().fold(1, u64::saturating_mul)
}

/// `x` with zeros before and after it in `dimension`.
pub(crate) fn between_zeros(
    x: AllocatedTensor,
    dimension: usize,
    before: u64,
    after: u64,
) -> AllocatedTensor {
    if [before, after] == [0, 0] {
        return x;
    }
    let zeros = |count: u64| {
        let mut dims = x.dims().to_vec();
        dims[dimension] = count;
        (count > 0).then(|| empty(x.machine(), &dims, x.element))
    };
    let parts = [zeros(before), Some(x.clone()), zeros(after)];
    // `x` is freed after they are joined.
    cat(parts.into_iter().flatten().collect(), dimension)
}

/// [batch, channels, height, width] as a view [batch, height, width, channels].
pub(crate) fn channels_last(x: AllocatedTensor) -> AllocatedTensor {
    x.permute(&[0, 2, 3, 1])
}

/// [batch, height, width, channels] as a view [batch, channels, height, width].
pub(crate) fn channels_first(x: AllocatedTensor) -> AllocatedTensor {
    x.permute(&[0, 3, 1, 2])
}

/// `count` positions of `dimension`, every `stride`th from `first` on.
fn every(
    x: AllocatedTensor,
    dimension: usize,
    first: u64,
    count: u64,
    stride: u64,
) -> AllocatedTensor {
    let mut dims = x.dims().to_vec();
    let x = x.narrow(dimension, first, count.saturating_mul(stride));
    if stride == 1 {
        return x;
    }
    let [outer, inner] = [&dims[..dimension], &dims[dimension + 1..]].map(|dims| {
        dims.iter()
            .fold(1_u64, |product, length| product.saturating_mul(*length))
    });
    let strided = x.reshape(&[outer, count, stride, inner]).narrow(2, 0, 1);
    dims[dimension] = count;
    strided.reshape(&dims)
}
