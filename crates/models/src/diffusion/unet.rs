//! The denoiser of latent diffusion (Rombach et al. 2022): `diffusers.UNet2DConditionModel`.

mod blocks;
mod config;

use super::{TimestepEmbedding, Waves, convolution};
use crate::{
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
};
use blocks::UnetBlocks;
use burn_tensor::Tensor;
use config::UnetConfig;
use testgen_nn::{
    array::Values,
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{Conv2d, Embedding, GroupNorm},
    weights::Weights,
};
use testgen_types::Head;

/// `_class_name` `UNet2DConditionModel`.
pub(crate) struct Unet;

impl ModelDef for Unet {
    type Config = UnetConfig;

    fn load<B: Ops>(config: &UnetConfig, _: Head, _: usize, w: &Weights<B>) -> LoadedNetwork<B> {
        // `validate` has refused a configuration without blocks.
        let (first, time) = (config.block_out_channels[0], config.time_width());
        let embedding = |name, inner, activation| {
            TimestepEmbedding::load(&w.module(name), inner, time, activation)
        };
        let addition = config
            .projection_class_embeddings_input_dim
            .filter(|_| config.addition_embed_type.is_some());
        Ok(Box::new(UnetModel {
            conv_in: convolution(
                &w.module("conv_in"),
                [config.in_channels, first],
                config.conv_in_kernel,
            )?,
            waves: config.waves(first),
            time_embedding: embedding("time_embedding", first, config.act_fn)?,
            class_embedding: config
                .num_class_embeds
                .map(|count| Embedding::load(&w.module("class_embedding"), count, time))
                .transpose()?,
            // Read with `class_embedding` alone, which this field makes.
            classes: config.num_class_embeds.unwrap_or(0),
            add_embedding: addition
                // `UNet2DConditionModel` passes no activation here, whose default is SiLU.
                .map(|inner| embedding("add_embedding", inner, Activation::Silu))
                .transpose()?,
            // Read with `add_embedding` alone, for which `validate` demands this field.
            add_waves: config.waves(config.addition_time_embed_dim.unwrap_or(0)),
            stack: UnetBlocks::load(config, w)?,
            conv_norm_out: GroupNorm::load(
                &w.module("conv_norm_out"),
                config.norm_num_groups,
                first,
                config.norm_eps,
            )?,
            activation: config.act_fn,
            conv_out: convolution(
                &w.module("conv_out"),
                [first, config.out_channels],
                config.conv_out_kernel,
            )?,
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
    stack: UnetBlocks<B>,
    conv_norm_out: GroupNorm<B>,
    activation: Activation,
    conv_out: Conv2d<B>,
    channels: usize,
    centred: bool,
}

impl<B: Ops> Network<B> for UnetModel<B> {
    /// `sample` [batch, channels, height, width] of `sample`, `timestep` [batch] and
    /// `encoder_hidden_states` [batch, seq, condition]. The trace has the first convolution, and
    /// each block.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let mut x = inputs.image_of_channels("sample", self.channels)?;
        // From 0..1 to -1..1.
        if self.centred {
            x = x * 2.0 - 1.0;
        }
        let time = self.time(inputs, x.dims()[0])?;
        let condition = inputs.floats::<3>("encoder_hidden_states")?;
        let x = self.conv_in.forward(x);
        context.trace_embed(&x)?;
        let x = self.stack.forward(x, &time, &condition, context)?;
        let x = activate(self.conv_norm_out.forward(x), self.activation);
        context.output("sample", self.conv_out.forward(x))
    }
}

impl<B: Ops> UnetModel<B> {
    /// The embedding of time, and of what else the type adds to it: [batch, time].
    fn time(&self, inputs: &Inputs<'_, B>, batch: usize) -> Result<Tensor<B, 2>, ForwardError> {
        let steps = numbers(inputs, "timestep")?;
        let mut time = self
            .time_embedding
            .forward(self.waves.encode(&steps, inputs));
        if let Some(classes) = &self.class_embedding {
            let given = inputs
                .host("class_labels")
                .and_then(|labels| labels.as_integers());
            let labels = given
                .ok_or(ForwardError::MissingInput {
                    name: "class_labels",
                })?
                .to_vec();
            // As a single row, because an embedding reads [batch, seq].
            let labels = inputs.checked_indices(
                "class_labels",
                labels.clone(),
                [1, labels.len()],
                self.classes,
            )?;
            let embedded = classes.forward(labels);
            let [_, count, width] = embedded.dims();
            time = time + embedded.reshape([count, width]);
        }
        if let Some(embedding) = &self.add_embedding {
            let ids = numbers(inputs, "time_ids")?;
            let waves = self.add_waves.encode(&ids, inputs);
            // An image has several ids, whose waves are side by side.
            let width = waves.dims()[1] * ids.len() / batch;
            let texts = inputs.floats::<2>("text_embeds")?;
            let both = texts.dims()[1] + width;
            if both != embedding.width() {
                return Err(ForwardError::WrongInput {
                    name: "time_ids".to_owned(),
                    found: format!("{both} wide together with `text_embeds`"),
                    expected: format!(
                        "{}, the `projection_class_embeddings_input_dim`",
                        embedding.width()
                    ),
                });
            }
            time = time
                + embedding.forward(Tensor::cat(vec![texts, waves.reshape([batch, width])], 1));
        }
        Ok(time)
    }
}

/// The numbers of an argument, integers or floats.
fn numbers<B: Ops>(inputs: &Inputs<'_, B>, name: &'static str) -> Result<Vec<f32>, ForwardError> {
    match inputs
        .host(name)
        .ok_or(ForwardError::MissingInput { name })?
        .values()
    {
        // Timesteps are integers with DDIM and fractions with Euler.
        Values::I64(values) => Ok(values.iter().map(|value| *value as f32).collect()),
        Values::F32(values) => Ok(values.clone()),
        Values::U8(_) => Err(ForwardError::WrongInput {
            name: name.to_owned(),
            found: "bytes".to_owned(),
            expected: "numbers".to_owned(),
        }),
    }
}
