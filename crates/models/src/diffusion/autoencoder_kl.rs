//! The autoencoder of latent diffusion (Kingma and Welling 2013, Rombach et al. 2022):
//! `diffusers.AutoencoderKL`.

mod config;

use super::{Downsample, ResnetBlock, Upsample, convolution, doubled, halved};
use crate::{
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
};
use burn_tensor::Tensor;
use config::AutoencoderConfig;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{Conv2d, GroupNorm, Linear, attend, project_heads},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// `_class_name` `AutoencoderKL`.
pub(crate) struct AutoencoderKl;

impl ModelDef for AutoencoderKl {
    type Config = AutoencoderConfig;

    fn load<B: Ops>(
        config: &AutoencoderConfig,
        _: Head,
        _: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let (latent, both) = (config.latent_channels, 2 * config.latent_channels);
        Ok(Box::new(Autoencoder {
            encoder: VaeEncoder::load(config, &w.module("encoder"))?,
            quant_conv: config
                .use_quant_conv
                .then(|| convolution(&w.module("quant_conv"), [both, both], 1))
                .transpose()?,
            post_quant_conv: config
                .use_post_quant_conv
                .then(|| convolution(&w.module("post_quant_conv"), [latent, latent], 1))
                .transpose()?,
            decoder: VaeDecoder::load(config, &w.module("decoder"))?,
            channels: [config.in_channels, latent],
        }))
    }
}

struct Autoencoder<B: Ops> {
    encoder: VaeEncoder<B>,
    quant_conv: Option<Conv2d<B>>,
    post_quant_conv: Option<Conv2d<B>>,
    decoder: VaeDecoder<B>,
    /// Of an image, and of what it becomes.
    channels: [usize; 2],
}

/// The limits of the logarithm of a variance.
// As `DiagonalGaussianDistribution` clamps it.
const LOGARITHM: [f64; 2] = [-30.0, 20.0];

impl<B: Ops> Network<B> for Autoencoder<B> {
    /// Of `sample` [batch, channels, height, width] the distribution's `mean` and `logvar`, and as
    /// `sample` what the mean becomes again. Of `z` [batch, latent, height, width] the image alone.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        if inputs.host("z").is_some() {
            let z = inputs.image_of_channels("z", self.channels[1])?;
            return context.output("sample", self.decode(z));
        }
        let moments = self
            .encoder
            .forward(inputs.image_of_channels("sample", self.channels[0])?);
        let moments = match &self.quant_conv {
            Some(quant_conv) => quant_conv.forward(moments),
            None => moments,
        };
        let latent = self.channels[1];
        let mean = moments.clone().narrow(1, 0, latent);
        let [low, high] = LOGARITHM;
        // `DiagonalGaussianDistribution` keeps the exponential of it finite.
        context.output("logvar", moments.narrow(1, latent, latent).clamp(low, high))?;
        context.output("mean", mean.clone())?;
        // Not a sample: neither does `AutoencoderKL` draw one unless it is asked to.
        context.output("sample", self.decode(mean))
    }
}

impl<B: Ops> Autoencoder<B> {
    fn decode(&self, z: Tensor<B, 4>) -> Tensor<B, 4> {
        self.decoder.forward(match &self.post_quant_conv {
            Some(post_quant_conv) => post_quant_conv.forward(z),
            None => z,
        })
    }
}

/// The layers of one resolution, and the way to the next.
type Blocks<B, Next> = (Vec<ResnetBlock<B>>, Option<Next>);

struct VaeEncoder<B: Ops> {
    conv_in: Conv2d<B>,
    blocks: Vec<Blocks<B, Downsample<B>>>,
    end: AutoencoderEnd<B>,
}

impl<B: Ops> VaeEncoder<B> {
    fn load(config: &AutoencoderConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let widths = &config.block_out_channels;
        // `validate` has refused a configuration without blocks.
        let last = widths.len() - 1;
        Ok(Self {
            conv_in: convolution(&w.module("conv_in"), [config.in_channels, widths[0]], 3)?,
            blocks: (0..widths.len())
                .map(|index| {
                    let (w, out) = (w.module("down_blocks").module(index), widths[index]);
                    let layers = config.layers(
                        // The first block keeps the channels of `conv_in`.
                        widths[index.saturating_sub(1)],
                        out,
                        config.layers_per_block,
                        &w,
                    )?;
                    Ok((
                        layers,
                        // `Encoder` of diffusers sets `downsample_padding` to 0; no field says so.
                        (index < last).then(|| halved(&w, out, 0)).transpose()?,
                    ))
                })
                .collect::<Result<_, WeightsError>>()?,
            // Twice, for the means and the logarithms of the variances.
            end: AutoencoderEnd::load(
                config,
                [widths[last], widths[last], 2 * config.latent_channels],
                w,
            )?,
        })
    }

    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let mut x = self.conv_in.forward(x);
        for (layers, downsample) in &self.blocks {
            x = layers.iter().fold(x, |x, layer| layer.forward(x, None));
            if let Some(downsample) = downsample {
                x = downsample.forward(x);
            }
        }
        self.end.out(self.end.middle(x))
    }
}

struct VaeDecoder<B: Ops> {
    conv_in: Conv2d<B>,
    blocks: Vec<Blocks<B, Upsample<B>>>,
    end: AutoencoderEnd<B>,
}

impl<B: Ops> VaeDecoder<B> {
    fn load(config: &AutoencoderConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let widths: Vec<usize> = config.block_out_channels.iter().rev().copied().collect();
        let last = widths.len() - 1;
        Ok(Self {
            conv_in: convolution(&w.module("conv_in"), [config.latent_channels, widths[0]], 3)?,
            blocks: (0..widths.len())
                .map(|index| {
                    let (w, out) = (w.module("up_blocks").module(index), widths[index]);
                    // `Decoder` of diffusers has one layer more in each block than `Encoder`.
                    let layers = config.layers(
                        widths[index.saturating_sub(1)],
                        out,
                        config.layers_per_block + 1,
                        &w,
                    )?;
                    Ok((
                        layers,
                        (index < last).then(|| doubled(&w, out)).transpose()?,
                    ))
                })
                .collect::<Result<_, WeightsError>>()?,
            end: AutoencoderEnd::load(config, [widths[0], widths[last], config.out_channels], w)?,
        })
    }

    fn forward(&self, z: Tensor<B, 4>) -> Tensor<B, 4> {
        let mut x = self.end.middle(self.conv_in.forward(z));
        for (layers, upsample) in &self.blocks {
            x = layers.iter().fold(x, |x, layer| layer.forward(x, None));
            if let Some(upsample) = upsample {
                x = upsample.forward(x, None);
            }
        }
        self.end.out(x)
    }
}

/// The common part of encoder and decoder: the layers of the lowest resolution, and the output.
struct AutoencoderEnd<B: Ops> {
    first: ResnetBlock<B>,
    attention: Option<PixelAttention<B>>,
    second: ResnetBlock<B>,
    conv_norm_out: GroupNorm<B>,
    activation: Activation,
    conv_out: Conv2d<B>,
}

impl<B: Ops> AutoencoderEnd<B> {
    /// Channels of the middle, before the output, and after it.
    fn load(
        config: &AutoencoderConfig,
        [middle, inner, out]: [usize; 3],
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let mid = w.module("mid_block");
        Ok(Self {
            first: config.resnet(middle, middle, &mid.module("resnets").module(0))?,
            attention: config
                .mid_block_add_attention
                .then(|| PixelAttention::load(config, middle, &mid.module("attentions.0")))
                .transpose()?,
            second: config.resnet(middle, middle, &mid.module("resnets").module(1))?,
            conv_norm_out: config.norm(inner, &w.module("conv_norm_out"))?,
            activation: config.act_fn,
            conv_out: convolution(&w.module("conv_out"), [inner, out], 3)?,
        })
    }

    fn middle(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let x = self.first.forward(x, None);
        let x = match &self.attention {
            Some(attention) => attention.forward(x),
            None => x,
        };
        self.second.forward(x, None)
    }

    fn out(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        self.conv_out
            .forward(activate(self.conv_norm_out.forward(x), self.activation))
    }
}

/// Every pixel sees every other, with one head.
struct PixelAttention<B: Ops> {
    group_norm: GroupNorm<B>,
    to_q: Linear<B>,
    to_k: Linear<B>,
    to_v: Linear<B>,
    to_out: Linear<B>,
}

impl<B: Ops> PixelAttention<B> {
    /// Older checkpoints have other names for the maps.
    fn load(
        config: &AutoencoderConfig,
        channels: usize,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let linear = |names: &[&str]| Linear::load(&w.module_named(names), channels, channels);
        Ok(Self {
            group_norm: config.norm(channels, &w.module("group_norm"))?,
            to_q: linear(&["to_q", "query"])?,
            to_k: linear(&["to_k", "key"])?,
            to_v: linear(&["to_v", "value"])?,
            to_out: linear(&["to_out.0", "proj_attn"])?,
        })
    }

    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let [batch, channels, height, width] = x.dims();
        let rows = self
            .group_norm
            .forward(x.clone())
            .permute([0, 2, 3, 1])
            .reshape([batch, height * width, channels]);
        // One head: `Encoder` and `Decoder` of diffusers make it as wide as the channels.
        let [query, key, value] = [&self.to_q, &self.to_k, &self.to_v]
            .map(|linear| project_heads(linear, rows.clone(), 1));
        let seen = attend(query, key, value, (channels as f64).powf(-0.5), None);
        let seen = self
            .to_out
            .forward(seen)
            .reshape([batch, height, width, channels]);
        x + seen.permute([0, 3, 1, 2])
    }
}
