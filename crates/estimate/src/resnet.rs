//! ResNet: stages of convolutions with shortcuts.

use crate::{
    call::NetworkCall,
    config::CompleteConfig,
    convolution::ImageConvolution,
    elementwise::ActivationMemory,
    error::EstimateError,
    pooling::{average_pool, max_pool},
    product::ProjectionMatrix,
    tensor::AllocatedTensor,
};
use testgen_types::Head;

/// Reads a batch of images.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let last = features(call, call.config)?;
    let (batch, channels) = (call.batch, last.dims()[1]);
    let pooled = average_pool(last.clone());
    if call.head == Head::ImageClassification {
        drop(last);
        let scores = ProjectionMatrix::linear(channels, call.labels, true)
            .forward(pooled.reshape(&[batch, channels]));
        call.output(scores);
        return Ok(());
    }
    call.output(last);
    call.output(pooled);
    Ok(())
}

/// The last stage of the images, [batch, channels, height, width], as `config` sizes it.
pub(crate) fn features(
    call: &NetworkCall<'_>,
    config: &CompleteConfig,
) -> Result<AllocatedTensor, EstimateError> {
    let activation = ActivationMemory::named(config.text("hidden_act"));
    let [height, width] = call.images;
    let pixels = call.floats(&[call.batch, config.size("num_channels")?, height, width]);
    let mut channels = config.size("embedding_size")?;
    // The kernel and the stride of `ResNetEmbeddings`, which no field changes.
    let stem = convolution([config.size("num_channels")?, channels], 7, 2);
    let mut x = max_pool(normalised(stem, pixels).activate(activation));
    for block in blocks(call, config)? {
        x = block.forward([channels, block.out], x, activation);
        channels = block.out;
    }
    Ok(x)
}

/// A block of convolutions.
#[derive(Debug, Clone, Copy)]
struct ResidualBlock {
    out: u64,
    stride: u64,
    kind: BlockKind,
}

#[derive(Debug, Clone, Copy)]
enum BlockKind {
    /// Two convolutions.
    Basic,
    /// Three, the first and the last over single pixels; `first`: with the stride in the first.
    Bottleneck { first: bool },
}

fn blocks(
    call: &NetworkCall<'_>,
    config: &CompleteConfig,
) -> Result<Vec<ResidualBlock>, EstimateError> {
    let widths = config.sizes("hidden_sizes")?;
    let depths = config.size_of_each("depths", widths.len())?;
    if depths.iter().any(|depth| *depth > call.limit) {
        return Err(config.wrong("depths", "at most the number of tensors of the checkpoint"));
    }
    let kind = match config.text("layer_type") {
        "basic" => BlockKind::Basic,
        _ => BlockKind::Bottleneck {
            first: config.flag("downsample_in_bottleneck"),
        },
    };
    let mut blocks = Vec::new();
    for (stage, (out, depth)) in widths.into_iter().zip(depths).enumerate() {
        // The pooling of the stem has halved the image already.
        let halves = stage > 0 || config.flag("downsample_in_first_stage");
        for layer in 0..depth {
            let stride = if layer == 0 && halves { 2 } else { 1 };
            blocks.push(ResidualBlock { out, stride, kind });
        }
    }
    Ok(blocks)
}

impl ResidualBlock {
    fn forward(
        self,
        channels: [u64; 2],
        x: AllocatedTensor,
        activation: ActivationMemory,
    ) -> AllocatedTensor {
        let [inner, out] = channels;
        let residual = if inner != out || self.stride != 1 {
            normalised(convolution(channels, 1, self.stride), x.clone())
        } else {
            x.clone()
        };
        // The default of `ResNetConvLayer`; `hidden_act` is only the activation of the stem and of
        // sums.
        let relu = ActivationMemory::named("relu");
        let last = match self.kind {
            BlockKind::Basic => {
                let x = normalised(convolution(channels, 3, self.stride), x).activate(relu);
                normalised(convolution([out; 2], 3, 1), x)
            }
            BlockKind::Bottleneck { first } => {
                let middle = out / REDUCTION;
                let strides = if first {
                    [self.stride, 1]
                } else {
                    [1, self.stride]
                };
                let x = normalised(convolution([inner, middle], 1, strides[0]), x).activate(relu);
                let x = normalised(convolution([middle; 2], 3, strides[1]), x).activate(relu);
                normalised(convolution([middle, out], 1, 1), x)
            }
        };
        last.combine(residual).activate(activation)
    }
}

/// How much narrower the middle of a bottleneck is.
// The default of `ResNetBottleNeckLayer`, which no field changes.
const REDUCTION: u64 = 4;

fn convolution(channels: [u64; 2], kernel: u64, stride: u64) -> ImageConvolution {
    ImageConvolution {
        bias: false,
        ..ImageConvolution::square(channels, kernel, stride, kernel / 2)
    }
}

fn normalised(convolution: ImageConvolution, x: AllocatedTensor) -> AllocatedTensor {
    convolution.forward(x).batch_norm()
}
