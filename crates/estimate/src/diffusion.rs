//! Latent diffusion: the blocks that the denoiser and the autoencoder share.

use crate::{
    convolution::{ImageConvolution, between_zeros},
    elementwise::{ActivationMemory, cat},
    product::ProjectionMatrix,
    tensor::AllocatedTensor,
};

/// The sizes that all blocks of a model have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResidualSizes {
    pub(crate) groups: u64,
    pub(crate) activation: ActivationMemory,
    /// The width of the time's embedding, in models with time.
    pub(crate) time: Option<u64>,
}

impl ResidualSizes {
    /// Two convolutions with a shortcut; `time` is [batch, time].
    pub(crate) fn forward(
        self,
        [inner, out]: [u64; 2],
        x: AllocatedTensor,
        time: Option<&AllocatedTensor>,
    ) -> AllocatedTensor {
        let normal = x.clone().group_norm(self.groups).activate(self.activation);
        let mut hidden = same_size([inner, out], 3).forward(normal);
        if let Some((width, time)) = self.time.zip(time) {
            let batch = time.dims()[0];
            let projection = ProjectionMatrix::linear(width, out, true);
            let time = projection.forward(time.clone().activate(self.activation));
            hidden = hidden.combine(time.reshape(&[batch, out, 1, 1]));
        }
        let normal = hidden.group_norm(self.groups).activate(self.activation);
        let hidden = same_size([out; 2], 3).forward(normal);
        let shortcut = if inner == out {
            x
        } else {
            same_size([inner, out], 1).forward(x)
        };
        // `ResnetBlock2D` divides the sum by `output_scale_factor`.
        shortcut.combine(hidden).map()
    }

    /// The output of a model: a norm and a convolution.
    pub(crate) fn end(
        self,
        channels: [u64; 2],
        kernel: u64,
        x: AllocatedTensor,
    ) -> AllocatedTensor {
        let normal = x.group_norm(self.groups).activate(self.activation);
        same_size(channels, kernel).forward(normal)
    }
}

/// A convolution that keeps the size.
pub(crate) fn same_size(channels: [u64; 2], kernel: u64) -> ImageConvolution {
    ImageConvolution::square(channels, kernel, 1, (kernel - 1) / 2)
}

/// Half the resolution; without padding, a row and a column of zeros are added after the image.
pub(crate) fn halved(channels: u64, padding: u64, x: AllocatedTensor) -> AllocatedTensor {
    let convolution = ImageConvolution::square([channels; 2], 3, 2, padding);
    if padding > 0 {
        return convolution.forward(x);
    }
    let below = between_zeros(x, 2, 0, 1);
    convolution.forward(between_zeros(below, 3, 0, 1))
}

/// Twice the resolution, or `size`.
pub(crate) fn doubled(
    channels: u64,
    size: Option<[u64; 2]>,
    x: AllocatedTensor,
) -> AllocatedTensor {
    let [height, width] = [x.dims()[2], x.dims()[3]];
    let [rows, columns] = size.unwrap_or([2 * height, 2 * width]);
    let x = nearest(nearest(x, 2, rows), 3, columns);
    same_size([channels; 2], 3).forward(x)
}

/// `length` places along a dimension, each a copy of the nearest one.
fn nearest(x: AllocatedTensor, dimension: usize, length: u64) -> AllocatedTensor {
    let last = x.dims()[dimension].saturating_sub(1);
    // Places after the first have an offset, which decides whether a view is copied.
    let places = (0..length).map(|index| x.clone().narrow(dimension, index.min(last), 1));
    let joined = cat(places.collect(), dimension);
    drop(x);
    joined
}
