//! Vision transformers: an image as a sequence of patches.

use crate::{
    call::NetworkCall,
    config::CompleteConfig,
    convolution::ImageConvolution,
    elementwise::{ActivationMemory, cat},
    error::EstimateError,
    layers::{Attention, MlpKind},
    product::ProjectionMatrix,
    tensor::{AllocatedTensor, ElementType, empty},
};
use testgen_types::{Head, ModelType};

/// Reads a batch of images of the size in the configuration.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let width = config.size("hidden_size")?;
    // DeiT has a token for distillation besides the class token.
    let special = if call.model_type == ModelType::Deit {
        2
    } else {
        1
    };
    // `Dinov2LayerScale`; no other type has it.
    let scaled = call.model_type == ModelType::Dinov2;
    let mlp = mlp(call, width)?;
    let patches = patches(call, config, width)?;
    let x = with_special(call, patches, special);
    let layers = call.layers("num_hidden_layers")?;
    let attention = Attention::new(
        width,
        config.size("num_attention_heads")?,
        config.flag("qkv_bias"),
    );
    let last = self::layers(x, layers, (attention, None), mlp, scaled).layer_norm();
    outputs(call, last, width);
    Ok(())
}

/// `count` layers that normalise before attention and MLP; `scaled`: with a factor for each channel
/// of their outputs.
pub(crate) fn layers(
    mut x: AllocatedTensor,
    count: u64,
    (attention, bias): (Attention, Option<&AllocatedTensor>),
    mlp: MlpKind,
    scaled: bool,
) -> AllocatedTensor {
    let scale = |x: AllocatedTensor| if scaled { x.map() } else { x };
    for _ in 0..count {
        x = x
            .clone()
            .combine(scale(attention.forward(x.layer_norm(), bias.cloned())));
        x = x.clone().combine(scale(mlp.forward(x.layer_norm())));
    }
    x
}

/// The patches [batch, count, width] of images of the size in `config`.
pub(crate) fn patches(
    call: &NetworkCall<'_>,
    config: &CompleteConfig,
    width: u64,
) -> Result<AllocatedTensor, EstimateError> {
    let ([height, breadth], [rows, columns]) =
        (config.sides("image_size")?, config.sides("patch_size")?);
    let channels = config.size("num_channels")?;
    let pixels = call.floats(&[call.batch, channels, height, breadth]);
    let patches = ImageConvolution::patches([channels, width], [rows, columns]).forward(pixels);
    let count = (height / rows).saturating_mul(breadth / columns);
    Ok(patches.reshape(&[call.batch, width, count]).swap(1, 2))
}

/// `special` tokens before the patches, and positions added to all.
pub(crate) fn with_special(
    call: &NetworkCall<'_>,
    patches: AllocatedTensor,
    special: u64,
) -> AllocatedTensor {
    let (batch, width) = (call.batch, patches.dims()[2]);
    // The tokens are views of the weights until they are joined.
    let special = (special > 0).then(|| call.empty(&[batch, special, width]));
    let parts: Vec<AllocatedTensor> = special.into_iter().chain([patches]).collect();
    let tokens = cat(parts, 1);
    // Positions are broadcast over the batch, which is in place on GPUs only.
    let in_place = batch == 1 || call.machine.is_gpu();
    if in_place {
        tokens.map()
    } else {
        tokens.like(call.machine.element)
    }
}

fn mlp(call: &NetworkCall<'_>, width: u64) -> Result<MlpKind, EstimateError> {
    let config = call.config;
    let activation = ActivationMemory::named(config.text("hidden_act"));
    if call.model_type != ModelType::Dinov2 {
        return Ok(MlpKind::plain(
            [width, config.size("intermediate_size")?],
            activation,
            true,
        ));
    }
    let ratio = config
        .number("mlp_ratio")
        .filter(|ratio| (0.0..1000.0).contains(ratio));
    let inner = (width as f64
        * ratio.ok_or_else(|| config.wrong("mlp_ratio", "a ratio below 1000"))?)
        // Cut off, as Python's `int` does.
        as u64;
    Ok(match config.flag("use_swiglu_ffn") {
        true => MlpKind::gated(
            // As `Dinov2SwiGLUFFN` computes it.
            [width, (inner * 2 / 3).next_multiple_of(8)],
            true,
            ActivationMemory::named("silu"),
        ),
        false => MlpKind::plain([width, inner], activation, true),
    })
}

/// The whole sequence and the pooled state, or the scores of the labels.
fn outputs(call: &mut NetworkCall<'_>, last: AllocatedTensor, width: u64) {
    let (batch, labels) = (call.batch, call.labels);
    let token = |index| last.clone().narrow(1, index, 1).reshape(&[batch, width]);
    let classifier = |inner| ProjectionMatrix::linear(inner, labels, true);
    let first = token(0);
    match (call.model_type, call.head) {
        (ModelType::Dinov2, Head::Base) => {
            call.output(last);
            call.output(first);
        }
        (_, Head::Base) => {
            call.output(last);
            call.output(ProjectionMatrix::linear(width, width, true).forward(first));
        }
        (ModelType::Dinov2, _) => {
            let patches = mean_of_patches(last).reshape(&[batch, width]);
            call.output(classifier(2 * width).forward(cat(vec![first, patches], 1)));
        }
        (_, Head::ImageClassificationWithTeacher) => {
            let second = token(1);
            drop(last);
            let scores = [first, second].map(|token| classifier(width).forward(token));
            for each in scores.clone() {
                call.output(each);
            }
            let [class, distillation] = scores;
            call.output(class.combine(distillation).map());
        }
        _ => {
            drop(last);
            call.output(classifier(width).forward(first));
        }
    }
}

/// The mean of all tokens [batch, tokens, width] but the first, which is computed in f32.
fn mean_of_patches(last: AllocatedTensor) -> AllocatedTensor {
    let (machine, element) = (last.machine().clone(), last.element);
    let [batch, tokens, width] = [0, 1, 2].map(|dimension| last.dims()[dimension]);
    let patches = last
        .narrow(1, 1, tokens.saturating_sub(1))
        .cast(ElementType::F32);
    let mean = empty(&machine, &[batch, 1, width], ElementType::F32);
    drop(patches);
    mean.cast(element)
}
