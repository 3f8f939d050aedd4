//! The blocks of the downward path to the lowest resolution and of the upward path:
//! `diffusers.models.unets.unet_2d_blocks`.

use super::config::{UnetBlockType, UnetConfig};
use crate::diffusion::{Downsample, ResnetBlock, SpatialTransformer, Upsample, doubled, halved};
use burn_tensor::Tensor;
use testgen_nn::{
    backend::Ops,
    context::ForwardContext,
    forward::ForwardError,
    weights::{Weights, WeightsError},
};

pub(super) struct UnetBlocks<B: Ops> {
    down: Vec<(UnetBlock<B>, Option<Downsample<B>>)>,
    mid: (ResnetBlock<B>, SpatialTransformer<B>, ResnetBlock<B>),
    up: Vec<(UnetBlock<B>, Option<Upsample<B>>)>,
}

/// The layers of one resolution.
struct UnetBlock<B: Ops> {
    resnets: Vec<ResnetBlock<B>>,
    /// One after each, or none at all.
    attentions: Vec<SpatialTransformer<B>>,
}

impl<B: Ops> UnetBlock<B> {
    /// `inner` has the channels that each layer reads; `index` counts from the highest resolution.
    fn load(
        config: &UnetConfig,
        kind: UnetBlockType,
        index: usize,
        inner: &[usize],
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        // `resnet_out_scale_factor` is a factor of other types of blocks only.
        let (shape, out) = (config.resnet(1.0), config.block_out_channels[index]);
        // Blocks of the upward path, too: their names are aliases of these kinds.
        let attentive = if kind == UnetBlockType::CrossAttnDownBlock2D {
            inner.len()
        } else {
            0
        };
        Ok(Self {
            resnets: inner
                .iter()
                .enumerate()
                .map(|(layer, inner)| {
                    ResnetBlock::load(&shape, *inner, out, &w.module("resnets").module(layer))
                })
                .collect::<Result<_, _>>()?,
            attentions: (0..attentive)
                .map(|layer| {
                    SpatialTransformer::load(
                        &config.transformer(index),
                        &w.module("attentions").module(layer),
                    )
                })
                .collect::<Result<_, _>>()?,
        })
    }

    fn layer(
        &self,
        index: usize,
        x: Tensor<B, 4>,
        time: &Tensor<B, 2>,
        condition: &Tensor<B, 3>,
    ) -> Tensor<B, 4> {
        let x = self.resnets[index].forward(x, Some(time));
        match self.attentions.get(index) {
            Some(attention) => attention.forward(x, condition),
            None => x,
        }
    }
}

impl<B: Ops> UnetBlocks<B> {
    pub(super) fn load(config: &UnetConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let blocks = config.block_out_channels.len();
        let (last, mid) = (config.block_out_channels[blocks - 1], w.module("mid_block"));
        let resnet = |index| {
            let shape = config.resnet(config.mid_block_scale_factor);
            ResnetBlock::load(&shape, last, last, &mid.module("resnets").module(index))
        };
        let attention =
            SpatialTransformer::load(&config.transformer(blocks - 1), &mid.module("attentions.0"))?;
        Ok(Self {
            down: (0..blocks)
                .map(|index| down(config, index, w))
                .collect::<Result<_, _>>()?,
            mid: (resnet(0)?, attention, resnet(1)?),
            up: (0..blocks)
                .map(|index| up(config, index, w))
                .collect::<Result<_, _>>()?,
        })
    }

    /// [batch, channels, height, width]; every layer of the upward path also reads the output of
    /// its counterpart of the downward path.
    pub(super) fn forward(
        &self,
        x: Tensor<B, 4>,
        time: &Tensor<B, 2>,
        condition: &Tensor<B, 3>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 4>, ForwardError> {
        // The first convolution is kept as well, for the last layer of the upward path.
        let mut kept = vec![x.clone()];
        let (mut x, mut traced) = (x, 0);
        for (block, downsample) in &self.down {
            for index in 0..block.resnets.len() {
                x = block.layer(index, x, time, condition);
                kept.push(x.clone());
            }
            if let Some(downsample) = downsample {
                x = downsample.forward(x);
                kept.push(x.clone());
            }
            context.trace_layer(traced, &x)?;
            traced += 1;
        }
        let (first, attention, second) = &self.mid;
        x = second.forward(
            attention.forward(first.forward(x, Some(time)), condition),
            Some(time),
        );
        context.trace_layer(traced, &x)?;
        for (block, upsample) in &self.up {
            for index in 0..block.resnets.len() {
                let beside = kept
                    .pop()
                    .expect("there are as many layers up as were kept on the way down");
                x = block.layer(index, Tensor::cat(vec![x, beside], 1), time, condition);
            }
            if let Some(upsample) = upsample {
                // Halving rounds an odd side up, so that doubling would miss it by one.
                let size = kept.last().map(|next| [next.dims()[2], next.dims()[3]]);
                x = upsample.forward(x, size);
            }
            traced += 1;
            context.trace_layer(traced, &x)?;
        }
        Ok(x)
    }
}

type Lower<B> = (UnetBlock<B>, Option<Downsample<B>>);
type Higher<B> = (UnetBlock<B>, Option<Upsample<B>>);

fn down<B: Ops>(
    config: &UnetConfig,
    index: usize,
    w: &Weights<B>,
) -> Result<Lower<B>, WeightsError> {
    let (widths, w) = (
        &config.block_out_channels,
        w.module("down_blocks").module(index),
    );
    // The first block keeps the channels of `conv_in`.
    let (out, before) = (widths[index], widths[index.saturating_sub(1)]);
    let inner: Vec<_> = (0..config.layers_per_block.at(index))
        .map(|layer| channels_before(layer, before, out))
        .collect();
    let block = UnetBlock::load(config, config.down_block_types[index], index, &inner, &w)?;
    let downsample = (index + 1 < widths.len())
        .then(|| halved(&w, out, config.downsample_padding))
        .transpose()?;
    Ok((block, downsample))
}

/// Block `index` of the upward path, whose counterpart in the downward path is counted from the
/// end.
fn up<B: Ops>(
    config: &UnetConfig,
    index: usize,
    w: &Weights<B>,
) -> Result<Higher<B>, WeightsError> {
    let (widths, w) = (
        &config.block_out_channels,
        w.module("up_blocks").module(index),
    );
    let blocks = widths.len();
    let like = blocks - 1 - index;
    // The first block reads the output of the middle, which is as wide as itself.
    let (out, before) = (widths[like], widths[(like + 1).min(blocks - 1)]);
    // One more than on the way down: it reads what the downsampling, or the first convolution,
    // left.
    let layers = config.layers_per_block.at(like) + 1;
    // The last layer reads what the block above left, which has that block's width.
    let beside = |layer| {
        if layer + 1 == layers {
            widths[like.saturating_sub(1)]
        } else {
            out
        }
    };
    let inner: Vec<_> = (0..layers)
        .map(|layer| channels_before(layer, before, out) + beside(layer))
        .collect();
    let block = UnetBlock::load(config, config.up_block_types[index], like, &inner, &w)?;
    let upsample = (index + 1 < blocks).then(|| doubled(&w, out)).transpose()?;
    Ok((block, upsample))
}

/// The channels that a layer reads from the one before it: the first layer reads `before`, which
/// the block before has left.
fn channels_before(layer: usize, before: usize, out: usize) -> usize {
    if layer == 0 { before } else { out }
}
