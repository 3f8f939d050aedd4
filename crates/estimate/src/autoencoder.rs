//! The autoencoder of latent diffusion: images to latents and back.

use crate::{
    attention::{KeyValueTensors, attend, split_heads},
    call::NetworkCall,
    diffusion::{ResidualSizes, doubled, halved, same_size},
    elementwise::ActivationMemory,
    error::EstimateError,
    product::ProjectionMatrix,
    tensor::AllocatedTensor,
};

/// Encodes images of the size in the configuration, and decodes what they become.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let model = AutoencoderSizes::read(call)?;
    let (latent, inner) = (config.size("latent_channels")?, config.size("in_channels")?);
    let [height, breadth] = call.latents()?;
    let pixels = call.floats(&[call.batch, inner, height, breadth]);
    let mut moments = model.encode(pixels, [inner, 2 * latent]);
    if config.flag("use_quant_conv") {
        moments = same_size([2 * latent; 2], 1).forward(moments);
    }
    let mean = moments.clone().narrow(1, 0, latent);
    // `DiagonalGaussianDistribution` clamps the logarithm of the variance, and not the mean.
    call.output(moments.narrow(1, latent, latent).map());
    call.output(mean.clone());
    let latents = match config.flag("use_post_quant_conv") {
        true => same_size([latent; 2], 1).forward(mean),
        false => mean,
    };
    let image = model.decode(latents, [latent, config.size("out_channels")?]);
    call.output(image);
    Ok(())
}

struct AutoencoderSizes {
    residual: ResidualSizes,
    /// The channels of each resolution.
    widths: Vec<u64>,
    layers: u64,
    attends: bool,
}

impl AutoencoderSizes {
    fn read(call: &NetworkCall<'_>) -> Result<Self, EstimateError> {
        let config = call.config;
        Ok(Self {
            residual: ResidualSizes {
                groups: config.size("norm_num_groups")?,
                activation: ActivationMemory::named(config.text("act_fn")),
                time: None,
            },
            widths: config.sizes("block_out_channels")?,
            layers: call.layers("layers_per_block")?,
            attends: config.flag("mid_block_add_attention"),
        })
    }

    fn encode(&self, x: AllocatedTensor, [inner, out]: [u64; 2]) -> AllocatedTensor {
        let first = self.widths[0];
        let mut x = same_size([inner, first], 3).forward(x);
        let (mut channels, last) = (first, self.widths.len() - 1);
        for (index, width) in self.widths.iter().enumerate() {
            x = self.block(x, [channels, *width], self.layers);
            channels = *width;
            if index < last {
                // `Encoder` of diffusers builds its blocks with `downsample_padding=0`.
                x = halved(channels, 0, x);
            }
        }
        let x = self.middle(x, channels);
        self.residual.end([channels, out], 3, x)
    }

    fn decode(&self, x: AllocatedTensor, [inner, out]: [u64; 2]) -> AllocatedTensor {
        let last = self.widths.len() - 1;
        let mut channels = self.widths[last];
        let x = same_size([inner, channels], 3).forward(x);
        let mut x = self.middle(x, channels);
        for (index, width) in self.widths.iter().enumerate().rev() {
            // One layer more than on the way down.
            x = self.block(x, [channels, *width], self.layers + 1);
            channels = *width;
            if index > 0 {
                x = doubled(channels, None, x);
            }
        }
        self.residual.end([channels, out], 3, x)
    }

    fn block(&self, mut x: AllocatedTensor, [inner, out]: [u64; 2], count: u64) -> AllocatedTensor {
        for layer in 0..count {
            let inner = if layer == 0 { inner } else { out };
            x = self.residual.forward([inner, out], x, None);
        }
        x
    }

    fn middle(&self, x: AllocatedTensor, channels: u64) -> AllocatedTensor {
        let mut x = self.residual.forward([channels; 2], x, None);
        if self.attends {
            x = self.attend(x, channels);
        }
        self.residual.forward([channels; 2], x, None)
    }

    /// Every pixel attends to every other, with one head.
    fn attend(&self, x: AllocatedTensor, channels: u64) -> AllocatedTensor {
        let [batch, _, height, breadth] = [0, 1, 2, 3].map(|index| x.dims()[index]);
        let places = [batch, height.saturating_mul(breadth), channels];
        let normal = x.clone().group_norm(self.residual.groups);
        let rows = normal.permute(&[0, 2, 3, 1]).reshape(&places);
        let square = ProjectionMatrix::linear(channels, channels, true);
        let [query, key, value] = [(); 3].map(|()| split_heads(square.forward(rows.clone()), 1));
        let _held = rows.held_on_host();
        let seen = attend(query, KeyValueTensors { key, value }, false, None);
        let seen = square
            .forward(seen)
            .reshape(&[batch, height, breadth, channels]);
        x.combine(seen.permute(&[0, 3, 1, 2]))
    }
}
