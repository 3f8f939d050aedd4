//! The configuration of the autoencoder, and the parts that it sizes.

use crate::{
    config::{ModelConfig, divides},
    diffusion::{ResnetBlock, ResnetShape},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    layer::GroupNorm,
    weights::{Weights, WeightsError},
};

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct AutoencoderConfig {
    pub(super) in_channels: usize,
    pub(super) out_channels: usize,
    pub(super) down_block_types: Vec<DownType>,
    pub(super) up_block_types: Vec<UpType>,
    pub(super) block_out_channels: Vec<usize>,
    pub(super) layers_per_block: usize,
    pub(super) act_fn: Activation,
    pub(super) latent_channels: usize,
    pub(super) norm_num_groups: usize,
    pub(super) use_quant_conv: bool,
    pub(super) use_post_quant_conv: bool,
    pub(super) mid_block_add_attention: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum DownType {
    DownEncoderBlock2D,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum UpType {
    UpDecoderBlock2D,
}

impl ModelConfig for AutoencoderConfig {
    /// Metadata of the file, and fields of steps that pipelines run before and after the model.
    const INERT: &'static [&'static str] = &[
        "_class_name",
        "_diffusers_version",
        "force_upcast",
        "latents_mean",
        "latents_std",
        "sample_size",
        "scaling_factor",
        "shift_factor",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        let blocks = self.block_out_channels.len();
        if blocks == 0
            || self.down_block_types.len() != blocks
            || self.up_block_types.len() != blocks
        {
            return Err(
                "`block_out_channels`, `down_block_types` and `up_block_types` have one entry for each block".into()
            );
        }
        let groups = self.norm_num_groups;
        self.block_out_channels.iter().try_for_each(|channels| {
            divides("block_out_channels", *channels, "norm_num_groups", groups)
        })
    }
}

/// The eps of every norm, which no configuration changes.
// diffusers has it in the code of the encoder and the decoder.
const EPS: f64 = 1e-6;

impl AutoencoderConfig {
    pub(super) fn resnet<B: Ops>(
        &self,
        inner: usize,
        out: usize,
        w: &Weights<B>,
    ) -> Result<ResnetBlock<B>, WeightsError> {
        let shape = ResnetShape {
            groups: self.norm_num_groups,
            eps: EPS,
            activation: self.act_fn,
            time: None,
            scale: 1.0,
        };
        ResnetBlock::load(&shape, inner, out, w)
    }

    pub(super) fn norm<B: Ops>(
        &self,
        channels: usize,
        w: &Weights<B>,
    ) -> Result<GroupNorm<B>, WeightsError> {
        GroupNorm::load(w, self.norm_num_groups, channels, EPS)
    }

    /// `count` layers, the first of which reads another number of channels.
    pub(super) fn layers<B: Ops>(
        &self,
        inner: usize,
        out: usize,
        count: usize,
        w: &Weights<B>,
    ) -> Result<Vec<ResnetBlock<B>>, WeightsError> {
        (0..count)
            .map(|layer| {
                self.resnet(
                    if layer == 0 { inner } else { out },
                    out,
                    &w.module("resnets").module(layer),
                )
            })
            .collect()
    }
}
