//! The configuration of the denoiser, and the shapes of its parts.

use crate::{
    config::{ModelConfig, divides},
    diffusion::{ResnetShape, TransformerShape, Waves},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::backend::Activation;
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct UnetConfig {
    pub(super) in_channels: usize,
    pub(super) out_channels: usize,
    pub(super) center_input_sample: bool,
    pub(super) flip_sin_to_cos: bool,
    pub(super) freq_shift: f64,
    pub(super) down_block_types: Vec<UnetBlockType>,
    #[expect(dead_code, reason = "read so that any other value is an error")]
    pub(super) mid_block_type: MidBlockType,
    pub(super) up_block_types: Vec<UnetBlockType>,
    pub(super) block_out_channels: Vec<usize>,
    pub(super) layers_per_block: PerBlock,
    pub(super) downsample_padding: usize,
    pub(super) mid_block_scale_factor: f64,
    pub(super) act_fn: Activation,
    pub(super) norm_num_groups: usize,
    pub(super) norm_eps: f64,
    pub(super) cross_attention_dim: PerBlock,
    pub(super) transformer_layers_per_block: PerBlock,
    pub(super) attention_head_dim: PerBlock,
    pub(super) use_linear_projection: bool,
    pub(super) num_class_embeds: Option<usize>,
    pub(super) addition_embed_type: Option<AdditionType>,
    pub(super) addition_time_embed_dim: Option<usize>,
    pub(super) projection_class_embeddings_input_dim: Option<usize>,
    pub(super) time_embedding_dim: Option<usize>,
    pub(super) conv_in_kernel: usize,
    pub(super) conv_out_kernel: usize,
    #[expect(dead_code, reason = "read so that any other value is an error")]
    pub(super) resnet_time_scale_shift: Plain,
    #[expect(dead_code, reason = "read so that any other value is an error")]
    pub(super) time_embedding_type: Positional,
    #[expect(dead_code, reason = "read so that any other value is an error")]
    pub(super) attention_type: Plain,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A block with attention to the condition, or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum UnetBlockType {
    #[serde(alias = "UpBlock2D")]
    DownBlock2D,
    #[serde(alias = "CrossAttnUpBlock2D")]
    CrossAttnDownBlock2D,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum MidBlockType {
    UNetMidBlock2DCrossAttn,
}

/// The additional embedding that is added to the time's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AdditionType {
    /// Stable Diffusion XL: a vector of the text, and six numbers.
    TextTime,
}

/// The only value that is implemented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Plain {
    Default,
}

/// The only value that is implemented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Positional {
    Positional,
}

/// A number for all blocks, or one for each.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum PerBlock {
    All(usize),
    Each(Vec<usize>),
}

impl PerBlock {
    pub(super) fn at(&self, block: usize) -> usize {
        match self {
            Self::All(value) => *value,
            // `validate` has refused lists of another length.
            Self::Each(values) => values.get(block).copied().unwrap_or(0),
        }
    }

    fn fits(&self, blocks: usize) -> bool {
        match self {
            Self::All(value) => *value > 0,
            Self::Each(values) => values.len() == blocks && !values.contains(&0),
        }
    }
}

impl ModelConfig for UnetConfig {
    /// Metadata of the file, the start of pipelines, a head count of a type and a factor of blocks
    /// that are rejected, and where to round: scores are always computed in f32 here.
    const INERT: &'static [&'static str] = &[
        "_class_name",
        "_diffusers_version",
        "addition_embed_type_num_heads",
        "resnet_out_scale_factor",
        "sample_size",
        "upcast_attention",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        let blocks = self.block_out_channels.len();
        if blocks == 0 || [self.down_block_types.len(), self.up_block_types.len()] != [blocks; 2] {
            return Err(
                "`block_out_channels`, `down_block_types` and `up_block_types` have one entry for each block".into()
            );
        }
        let numbers = [
            ("layers_per_block", &self.layers_per_block),
            ("cross_attention_dim", &self.cross_attention_dim),
            (
                "transformer_layers_per_block",
                &self.transformer_layers_per_block,
            ),
            ("attention_head_dim", &self.attention_head_dim),
        ];
        if let Some((name, _)) = numbers.iter().find(|(_, values)| !values.fits(blocks)) {
            return Err(format!(
                "`{name}` is one number above 0, or one for each block"
            ));
        }
        for (block, channels) in self.block_out_channels.iter().enumerate() {
            divides(
                "block_out_channels",
                *channels,
                "norm_num_groups",
                self.norm_num_groups,
            )?;
            divides(
                "block_out_channels",
                *channels,
                "attention_head_dim",
                self.attention_head_dim.at(block),
            )?;
        }
        match (
            self.addition_embed_type,
            self.addition_time_embed_dim,
            self.projection_class_embeddings_input_dim,
        ) {
            (Some(AdditionType::TextTime), Some(_), Some(_)) | (None, _, _) => Ok(()),
            _ => Err("`addition_embed_type` needs `addition_time_embed_dim` and \
                      `projection_class_embeddings_input_dim`"
                .to_owned()),
        }
    }

    fn inert_fields(&self, _: Head) -> Vec<(&'static str, &'static str)> {
        let unread = "nothing is added to the time's embedding";
        match self.addition_embed_type {
            Some(_) => Vec::new(),
            None => [
                "addition_time_embed_dim",
                "projection_class_embeddings_input_dim",
            ]
            .map(|field| (field, unread))
            .to_vec(),
        }
    }
}

impl UnetConfig {
    pub(super) fn time_width(&self) -> usize {
        // As `UNet2DConditionModel` fills in.
        self.time_embedding_dim
            .unwrap_or(4 * self.block_out_channels[0])
    }

    pub(super) fn waves(&self, width: usize) -> Waves {
        Waves {
            width,
            flip_sin_to_cos: self.flip_sin_to_cos,
            freq_shift: self.freq_shift,
        }
    }

    pub(super) fn resnet(&self, scale: f64) -> ResnetShape {
        ResnetShape {
            groups: self.norm_num_groups,
            eps: self.norm_eps,
            activation: self.act_fn,
            time: Some(self.time_width()),
            scale,
        }
    }

    pub(super) fn transformer(&self, block: usize) -> TransformerShape {
        TransformerShape {
            channels: self.block_out_channels[block],
            // A number of heads in spite of its name: diffusers kept the name for the sake of its
            // many files.
            heads: self.attention_head_dim.at(block),
            layers: self.transformer_layers_per_block.at(block),
            condition: self.cross_attention_dim.at(block),
            groups: self.norm_num_groups,
            linear: self.use_linear_projection,
        }
    }
}
