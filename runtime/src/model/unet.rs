//! The denoiser of latent diffusion (Rombach et al. 2022): `diffusers.UNet2DConditionModel`.

mod stack;

use super::{
    class::Head,
    diffusion::{ResnetShape, TimestepEmbedding, TransformerShape, Waves, convolution},
    family::Family,
    forward::ForwardError,
    load::LoadError,
    network::{Inputs, Network, Pass},
};
use crate::{
    Values,
    backend::{Activation, Ops, activate},
    config::{Config, divides},
    layer::{Conv2d, Embedding, GroupNorm},
    weights::Weights,
};
use burn::tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};
use stack::Stack;

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct UnetConfig {
    in_channels: usize,
    out_channels: usize,
    center_input_sample: bool,
    flip_sin_to_cos: bool,
    freq_shift: f64,
    down_block_types: Vec<BlockType>,
    mid_block_type: MidBlockType,
    up_block_types: Vec<BlockType>,
    block_out_channels: Vec<usize>,
    layers_per_block: PerBlock,
    downsample_padding: usize,
    mid_block_scale_factor: f64,
    resnet_out_scale_factor: f64,
    act_fn: Activation,
    norm_num_groups: usize,
    norm_eps: f64,
    cross_attention_dim: PerBlock,
    transformer_layers_per_block: PerBlock,
    attention_head_dim: PerBlock,
    use_linear_projection: bool,
    num_class_embeds: Option<usize>,
    addition_embed_type: Option<AdditionType>,
    addition_time_embed_dim: Option<usize>,
    projection_class_embeddings_input_dim: Option<usize>,
    time_embedding_dim: Option<usize>,
    conv_in_kernel: usize,
    conv_out_kernel: usize,
    resnet_time_scale_shift: Plain,
    time_embedding_type: Positional,
    attention_type: Plain,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A block with attention to the condition, or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum BlockType {
    #[serde(alias = "UpBlock2D")]
    DownBlock2D,
    #[serde(alias = "CrossAttnUpBlock2D")]
    CrossAttnDownBlock2D,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum MidBlockType {
    UNetMidBlock2DCrossAttn,
}

/// What is added to the time's embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AdditionType {
    /// Stable Diffusion XL: a vector of the text, and six numbers.
    TextTime,
}

/// The only value that is implemented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Plain {
    Default,
}

/// The only value that is implemented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Positional {
    Positional,
}

/// A number for all blocks, or one for each.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum PerBlock {
    All(usize),
    Each(Vec<usize>),
}

impl PerBlock {
    fn at(&self, block: usize) -> usize {
        match self {
            Self::All(value) => *value,
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

impl Default for UnetConfig {
    fn default() -> Self {
        let attentive = BlockType::CrossAttnDownBlock2D;
        Self {
            in_channels: 4,
            out_channels: 4,
            center_input_sample: false,
            flip_sin_to_cos: true,
            freq_shift: 0.0,
            down_block_types: vec![attentive, attentive, attentive, BlockType::DownBlock2D],
            mid_block_type: MidBlockType::UNetMidBlock2DCrossAttn,
            up_block_types: vec![BlockType::DownBlock2D, attentive, attentive, attentive],
            block_out_channels: vec![320, 640, 1280, 1280],
            layers_per_block: PerBlock::All(2),
            downsample_padding: 1,
            mid_block_scale_factor: 1.0,
            resnet_out_scale_factor: 1.0,
            act_fn: Activation::Silu,
            norm_num_groups: 32,
            norm_eps: 1e-5,
            cross_attention_dim: PerBlock::All(1280),
            transformer_layers_per_block: PerBlock::All(1),
            attention_head_dim: PerBlock::All(8),
            use_linear_projection: false,
            num_class_embeds: None,
            addition_embed_type: None,
            addition_time_embed_dim: None,
            projection_class_embeddings_input_dim: None,
            time_embedding_dim: None,
            conv_in_kernel: 3,
            conv_out_kernel: 3,
            resnet_time_scale_shift: Plain::Default,
            time_embedding_type: Positional::Positional,
            attention_type: Plain::Default,
            rest: Map::new(),
        }
    }
}

impl Config for UnetConfig {
    /// What the file is of, what pipelines start from, a head count of a type that is refused, and where to round: scores
    /// are always computed in f32 here.
    const INERT: &'static [&'static str] =
        &["_class_name", "_diffusers_version", "addition_embed_type_num_heads", "sample_size", "upcast_attention"];

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
            ("transformer_layers_per_block", &self.transformer_layers_per_block),
            ("attention_head_dim", &self.attention_head_dim),
        ];
        if let Some((name, _)) = numbers.iter().find(|(_, values)| !values.fits(blocks)) {
            return Err(format!("`{name}` is one number above 0, or one for each block"));
        }
        for (block, channels) in self.block_out_channels.iter().enumerate() {
            divides("block_out_channels", *channels, "norm_num_groups", self.norm_num_groups)?;
            divides("block_out_channels", *channels, "attention_head_dim", self.attention_head_dim.at(block))?;
        }
        match (self.addition_embed_type, self.addition_time_embed_dim, self.projection_class_embeddings_input_dim) {
            (Some(AdditionType::TextTime), Some(_), Some(_)) | (None, _, _) => Ok(()),
            _ => Err("`addition_embed_type` needs `addition_time_embed_dim` and \
                      `projection_class_embeddings_input_dim`"
                .to_owned()),
        }
    }

    fn without_effect(&self, _: Head) -> Vec<(&'static str, &'static str)> {
        let unread = "nothing is added to the time's embedding";
        match self.addition_embed_type {
            Some(_) => Vec::new(),
            None => ["addition_time_embed_dim", "projection_class_embeddings_input_dim"]
                .map(|field| (field, unread))
                .to_vec(),
        }
    }
}

impl UnetConfig {
    fn time_width(&self) -> usize {
        self.time_embedding_dim.unwrap_or(4 * self.block_out_channels[0])
    }

    fn waves(&self, width: usize) -> Waves {
        Waves { width, flip_sin_to_cos: self.flip_sin_to_cos, freq_shift: self.freq_shift }
    }

    fn resnet(&self, scale: f64) -> ResnetShape {
        ResnetShape {
            groups: self.norm_num_groups,
            eps: self.norm_eps,
            activation: self.act_fn,
            time: Some(self.time_width()),
            scale,
        }
    }

    fn transformer(&self, block: usize) -> TransformerShape {
        TransformerShape {
            channels: self.block_out_channels[block],
            heads: self.attention_head_dim.at(block),
            layers: self.transformer_layers_per_block.at(block),
            condition: self.cross_attention_dim.at(block),
            groups: self.norm_num_groups,
            linear: self.use_linear_projection,
        }
    }
}

/// `_class_name` `UNet2DConditionModel`.
pub(crate) struct Unet;

impl Family for Unet {
    type Config = UnetConfig;
    const NAME: &'static str = "UNet2DCondition";
    const HEADS: &'static [Head] = &[Head::Base];

    fn load<B: Ops>(config: &UnetConfig, _: Head, _: usize, w: &Weights<B>) -> Result<Box<dyn Network<B>>, LoadError> {
        let (first, time) = (config.block_out_channels[0], config.time_width());
        let embedding = |name, inner, activation| TimestepEmbedding::load(&w.module(name), [inner, time], activation);
        let addition = config.projection_class_embeddings_input_dim.filter(|_| config.addition_embed_type.is_some());
        let classes = |count| Embedding::load(&w.module("class_embedding"), count, time);
        Ok(Box::new(UnetModel {
            conv_in: convolution(&w.module("conv_in"), [config.in_channels, first], config.conv_in_kernel)?,
            waves: config.waves(first),
            time_embedding: embedding("time_embedding", first, config.act_fn)?,
            class_embedding: config.num_class_embeds.map(classes).transpose()?,
            classes: config.num_class_embeds.unwrap_or(0),
            add_embedding: addition.map(|inner| embedding("add_embedding", inner, Activation::Silu)).transpose()?,
            add_waves: config.waves(config.addition_time_embed_dim.unwrap_or(0)),
            stack: Stack::load(config, w)?,
            conv_norm_out: GroupNorm::load(
                &w.module("conv_norm_out"),
                [config.norm_num_groups, first],
                config.norm_eps,
            )?,
            activation: config.act_fn,
            conv_out: convolution(&w.module("conv_out"), [first, config.out_channels], config.conv_out_kernel)?,
            channels: config.in_channels,
            centred: config.center_input_sample,
        }))
    }
}

struct UnetModel<B: Ops> {
    conv_in: Conv2d<B>,
    waves: Waves,
    time_embedding: TimestepEmbedding<B>,
    class_embedding: Option<Embedding<B>>,
    classes: usize,
    add_embedding: Option<TimestepEmbedding<B>>,
    add_waves: Waves,
    stack: Stack<B>,
    conv_norm_out: GroupNorm<B>,
    activation: Activation,
    conv_out: Conv2d<B>,
    channels: usize,
    centred: bool,
}

impl<B: Ops> Network<B> for UnetModel<B> {
    /// `sample` [batch, channels, height, width] of `sample`, `timestep` [batch] and `encoder_hidden_states` [batch, seq,
    /// condition]. The trace has the first convolution, and each block.
    fn forward(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<(), ForwardError> {
        let mut x = inputs.image_of_channels("sample", self.channels)?;
        if self.centred {
            x = x * 2.0 - 1.0;
        }
        let time = self.time(inputs, x.dims()[0])?;
        let condition = inputs.floats::<3>("encoder_hidden_states")?;
        let x = self.conv_in.forward(x);
        pass.trace_embed(&x)?;
        let x = self.stack.forward(x, &time, &condition, pass)?;
        let x = activate(self.conv_norm_out.forward(x), self.activation);
        pass.output("sample", self.conv_out.forward(x))
    }
}

impl<B: Ops> UnetModel<B> {
    /// The embedding of time, and of what else the type adds to it: [batch, time].
    fn time(&self, inputs: &Inputs<'_, B>, batch: usize) -> Result<Tensor<B, 2>, ForwardError> {
        let steps = numbers(inputs, "timestep")?;
        let mut time = self.time_embedding.forward(self.waves.of(&steps, inputs));
        if let Some(classes) = &self.class_embedding {
            let given = inputs.host("class_labels").and_then(|labels| labels.as_integers());
            let labels = given.ok_or(ForwardError::MissingInput { name: "class_labels" })?.to_vec();
            let labels = inputs.checked_indices("class_labels", labels.clone(), [1, labels.len()], self.classes)?;
            let [_, count, width] = classes.forward(labels.clone()).dims();
            time = time + classes.forward(labels).reshape([count, width]);
        }
        if let Some(embedding) = &self.add_embedding {
            let ids = numbers(inputs, "time_ids")?;
            let waves = self.add_waves.of(&ids, inputs);
            let width = waves.dims()[1] * ids.len() / batch;
            let both = vec![inputs.floats::<2>("text_embeds")?, waves.reshape([batch, width])];
            time = time + embedding.forward(Tensor::cat(both, 1));
        }
        Ok(time)
    }
}

/// The numbers of an argument, integers or floats.
fn numbers<B: Ops>(inputs: &Inputs<'_, B>, name: &'static str) -> Result<Vec<f32>, ForwardError> {
    match inputs.host(name).ok_or(ForwardError::MissingInput { name })?.values() {
        Values::I64(values) => Ok(values.iter().map(|value| *value as f32).collect()),
        Values::F32(values) => Ok(values.clone()),
        Values::U8(_) => Err(ForwardError::WrongInput {
            name: name.to_owned(),
            found: "bytes".to_owned(),
            expected: "numbers".to_owned(),
        }),
    }
}
