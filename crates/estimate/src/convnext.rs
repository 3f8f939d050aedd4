//! ConvNeXt: convolutions of single channels, and MLPs over the channels of each place.

use crate::{
    call::NetworkCall,
    convolution::ImageConvolution,
    elementwise::ActivationMemory,
    error::EstimateError,
    layers::MlpKind,
    product::ProjectionMatrix,
    tensor::{AllocatedTensor, weight},
};
use testgen_types::Head;

/// Reads a batch of images.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let channels = config.size("num_channels")?;
    let widths = config.sizes("hidden_sizes")?;
    let depths = config.size_of_each("depths", widths.len())?;
    if depths.iter().any(|depth| *depth > call.limit) {
        return Err(config.wrong("depths", "at most the number of tensors of the checkpoint"));
    }
    let scaled = config.number("layer_scale_init_value").unwrap_or_default() > 0.0;
    let activation = ActivationMemory::named(config.text("hidden_act"));
    let [height, breadth] = call.images;
    let mut x = call.floats(&[call.batch, channels, height, breadth]);
    let mut inner = channels;
    for (stage, (width, depth)) in widths.into_iter().zip(depths).enumerate() {
        x = if stage == 0 {
            let patch = config.sides("patch_size")?;
            normalised(ImageConvolution::patches([inner, width], patch).forward(x))
        } else {
            // `ConvNextStage` normalises first; no field changes its kernel and stride.
            ImageConvolution::patches([inner, width], [2; 2]).forward(normalised(x))
        };
        for _ in 0..depth {
            x = layer(x, width, activation, scaled);
        }
        inner = width;
    }
    outputs(call, x, inner);
    Ok(())
}

/// Over the channels of each place.
fn normalised(x: AllocatedTensor) -> AllocatedTensor {
    x.permute(&[0, 2, 3, 1]).layer_norm().permute(&[0, 3, 1, 2])
}

fn layer(
    x: AllocatedTensor,
    width: u64,
    activation: ActivationMemory,
    scaled: bool,
) -> AllocatedTensor {
    let [batch, _, height, breadth] = [0, 1, 2, 3].map(|index| x.dims()[index]);
    let convolution = ImageConvolution {
        depthwise: true,
        // The kernel of `ConvNextLayer`, which no field changes.
        ..ImageConvolution::square([width; 2], 7, 1, 3)
    };
    let places = convolution.forward(x.clone()).permute(&[0, 2, 3, 1]);
    let places = places
        .reshape(&[batch, height.saturating_mul(breadth), width])
        .layer_norm();
    let mut y = MlpKind::plain([width, EXPANSION * width], activation, true).forward(places);
    if scaled {
        let (machine, element) = (y.machine().clone(), y.element);
        y = y.combine(weight(&machine, &[1, 1, width], element));
    }
    let y = y
        .reshape(&[batch, height, breadth, width])
        .permute(&[0, 3, 1, 2]);
    x.combine(y)
}

/// The factor by which the MLPs are wider.
// As `ConvNextLayer`; no field changes it.
const EXPANSION: u64 = 4;

/// The scores of the labels, or the places and their normalised mean.
fn outputs(call: &mut NetworkCall<'_>, last: AllocatedTensor, width: u64) {
    let [batch, _, height, breadth] = [0, 1, 2, 3].map(|index| last.dims()[index]);
    let places = [batch, width, height.saturating_mul(breadth)];
    let pooled = last.clone().reshape(&places).mean(2);
    let pooled = pooled.reshape(&[batch, width]).layer_norm();
    if call.head == Head::ImageClassification {
        // Classifiers do not return the places.
        drop(last);
        let scores = ProjectionMatrix::linear(width, call.labels, true).forward(pooled);
        call.output(scores);
        return;
    }
    call.output(last);
    call.output(pooled);
}
