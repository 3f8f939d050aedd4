//! Vision transformers: an image as a sequence of patches.

use crate::{
    call::Call,
    config::Config,
    elementwise::{Activation, cat},
    error::EstimateError,
    layers::{Attention, Mlp},
    product::{Matrix, Order},
    tensor::{Element, Tensor},
};
use testgen_types::{Head, ModelType};

/// Reads a batch of images of the size in the configuration.
pub(crate) fn forward(call: &mut Call<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let width = config.size("hidden_size")?;
    let special = if call.model_type == ModelType::Deit { 2 } else { 1 };
    let scaled = call.model_type == ModelType::Dinov2;
    let mlp = mlp(call, width)?;
    let patches = patches(call, config, width)?;
    let x = with_special(call, patches, special);
    let layers = call.layers("num_hidden_layers")?;
    let attention = Attention::of(width, config.size("num_attention_heads")?, config.flag("qkv_bias"));
    let last = self::layers(x, layers, (attention, None), mlp, scaled).layer_norm();
    outputs(call, last, width);
    Ok(())
}

/// `count` layers that normalise before attention and MLP; `scaled`: with a factor for each channel of their outputs.
pub(crate) fn layers(
    mut x: Tensor,
    count: u64,
    (attention, bias): (Attention, Option<&Tensor>),
    mlp: Mlp,
    scaled: bool,
) -> Tensor {
    let scale = |x: Tensor| if scaled { x.map() } else { x };
    for _ in 0..count {
        x = x.clone().combine(scale(attention.forward(x.layer_norm(), bias.cloned())));
        x = x.clone().combine(scale(mlp.forward(x.layer_norm())));
    }
    x
}

/// The patches [batch, count, width] of images of the size in `config`.
pub(crate) fn patches(call: &Call<'_>, config: &Config, width: u64) -> Result<Tensor, EstimateError> {
    let ([height, breadth], [rows, columns]) = (config.sides("image_size")?, config.sides("patch_size")?);
    let channels = config.size("num_channels")?;
    let (down, across) = (height / rows, breadth / columns);
    let images = [call.batch, channels, height, breadth];
    let pixels = call.empty(&images);
    if !call.machine.is_gpu() && call.machine.element != Element::F32 {
        // They come in f32.
        drop(call.single(&images));
    }
    // Every patch as a row; the pixels are freed when they have been copied.
    let inner = channels * rows * columns;
    let windows = call.empty(&[call.batch * down * across, inner]);
    drop(pixels);
    let matrix = Matrix { order: Order::View, ..Matrix::linear(inner, width, true) };
    Ok(matrix.forward(windows).reshape(&[call.batch, down * across, width]))
}

/// `special` tokens before the patches, and positions added to all.
pub(crate) fn with_special(call: &Call<'_>, patches: Tensor, special: u64) -> Tensor {
    let (batch, width) = (call.batch, patches.dims()[2]);
    // The tokens are views of the weights until they are joined.
    let special = (special > 0).then(|| call.empty(&[batch, special, width]));
    let parts: Vec<Tensor> = special.into_iter().chain([patches]).collect();
    let tokens = cat(parts, 1);
    // Positions are broadcast over the batch, which is in place on GPUs only.
    let in_place = batch == 1 || call.machine.is_gpu();
    if in_place { tokens.map() } else { tokens.like(call.machine.element) }
}

fn mlp(call: &Call<'_>, width: u64) -> Result<Mlp, EstimateError> {
    let config = call.config;
    let activation = Activation::named(config.text("hidden_act"));
    if call.model_type != ModelType::Dinov2 {
        return Ok(Mlp::plain([width, config.size("intermediate_size")?], activation, true));
    }
    let ratio = config.number("mlp_ratio").filter(|ratio| (0.0..1000.0).contains(ratio));
    let inner = (width as f64 * ratio.ok_or_else(|| config.wrong("mlp_ratio", "a ratio below 1000"))?) as u64;
    Ok(match config.flag("use_swiglu_ffn") {
        true => Mlp::gated([width, (inner * 2 / 3).next_multiple_of(8)], true, Activation::named("silu")),
        false => Mlp::plain([width, inner], activation, true),
    })
}

/// The whole sequence and the pooled state, or the scores of the labels.
fn outputs(call: &mut Call<'_>, last: Tensor, width: u64) {
    let first = last.clone().narrow(1, 0, 1).reshape(&[call.batch, width]);
    if call.head == Head::Base {
        call.output(last);
        let pooled = Matrix::linear(width, width, true).forward(first);
        return call.output(pooled);
    }
    drop(last);
    call.output(Matrix::linear(width, call.labels, true).forward(first));
}
