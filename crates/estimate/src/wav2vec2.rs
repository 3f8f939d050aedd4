//! wav2vec 2.0 and HuBERT: convolutions over samples, and an encoder of frames.

use crate::{
    audio_classifier,
    call::NetworkCall,
    convolution::between_zeros,
    elementwise::ActivationMemory,
    error::EstimateError,
    layers::{Attention, MlpKind},
    product::ProjectionMatrix,
    sequence_convolution::SequenceConvolution,
    tensor::{AllocatedTensor, ElementType, weight},
};
use testgen_types::{Head, ModelType};

/// Reads recordings with as many samples as `tokens` frames need.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let width = config.size("hidden_size")?;
    let mut features = features(call)?;
    let feature_width = features.dims()[2];
    if config.flag("feat_proj_layer_norm") {
        features = features.layer_norm();
    }
    let projected = ProjectionMatrix::linear(feature_width, width, true).forward(features.clone());
    let stable = config.flag("do_stable_layer_norm");
    let mut x = positions(call, projected, width)?;
    if !stable {
        x = x.layer_norm();
    }
    let layer = EncoderLayer::read(call, width, stable)?;
    let mut states = vec![x.clone()];
    for _ in 0..call.layers("num_hidden_layers")? {
        x = layer.forward(x);
        states.push(x.clone());
    }
    if stable {
        x = x.layer_norm();
    }
    // HuBERT's base model has no such output.
    if call.head == Head::Base && call.model_type == ModelType::Wav2Vec2 {
        call.output(features);
    } else {
        drop(features);
    }
    head(call, x, states)
}

fn head(
    call: &mut NetworkCall<'_>,
    last: AllocatedTensor,
    states: Vec<AllocatedTensor>,
) -> Result<(), EstimateError> {
    match call.head {
        Head::SequenceClassification => return audio_classifier::logits(call, last, states),
        Head::Ctc => {
            let (width, vocab) = (last.dims()[2], call.config.size("vocab_size")?);
            let logits = ProjectionMatrix::linear(width, vocab, true).forward(last);
            call.output(logits);
        }
        _ => call.output(last),
    }
    drop(states);
    Ok(())
}

/// The number of samples of which the convolutions make `frames` frames.
fn samples(call: &NetworkCall<'_>) -> Result<u64, EstimateError> {
    let convolutions = convolutions(call)?;
    Ok(convolutions
        .iter()
        .rev()
        .fold(call.tokens, |length, convolution| {
            convolution.needed(length)
        }))
}

fn convolutions(call: &NetworkCall<'_>) -> Result<Vec<SequenceConvolution>, EstimateError> {
    let config = call.config;
    let widths = config.sizes("conv_dim")?;
    let kernels = config.size_of_each("conv_kernel", widths.len())?;
    for kernel in &kernels {
        config.followed("conv_kernel", *kernel)?;
    }
    let strides = config.size_of_each("conv_stride", widths.len())?;
    // The signal has one channel.
    let inner = std::iter::once(1).chain(widths.iter().copied());
    let sizes = inner.zip(&widths).zip(kernels.into_iter().zip(strides));
    let convolution =
        |((inner, out), (kernel, stride)): ((u64, &u64), (u64, u64))| SequenceConvolution {
            channels: [inner, *out],
            kernel,
            stride,
            padding: 0,
            groups: 1,
            bias: config.flag("conv_bias"),
        };
    Ok(sizes.map(convolution).collect())
}

/// [batch, frames, width] of samples.
fn features(call: &NetworkCall<'_>) -> Result<AllocatedTensor, EstimateError> {
    let config = call.config;
    let activation = ActivationMemory::named(config.text("feat_extract_activation"));
    let by_channel = config.text("feat_extract_norm") == "layer";
    let mut x = call.floats(&[call.batch, samples(call)?, 1]);
    for (index, convolution) in convolutions(call)?.into_iter().enumerate() {
        x = convolution.forward(x);
        x = match by_channel {
            true => x.layer_norm(),
            // Only after the first one.
            false if index == 0 => norm_over_time(x),
            false => x,
        };
        x = x.activate(activation);
    }
    Ok(x)
}

/// Each channel over the frames, in f32.
fn norm_over_time(x: AllocatedTensor) -> AllocatedTensor {
    let (machine, element, width) = (x.machine().clone(), x.element, x.dims()[2]);
    let x = x.cast(ElementType::F32);
    let mean = mean_over_time(x.clone());
    let centred = x.combine(mean);
    let variance = mean_over_time(centred.clone().combine(centred.clone()));
    let row = || weight(&machine, &[1, 1, width], ElementType::F32);
    centred
        .combine(variance)
        .combine(row())
        .combine(row())
        .cast(element)
}

/// Summed in portions, which zeros fill up.
fn mean_over_time(x: AllocatedTensor) -> AllocatedTensor {
    let [batch, frames, width] = [0, 1, 2].map(|dimension| x.dims()[dimension]);
    let portion = (frames as f64).sqrt().ceil().max(1.0) as u64;
    let portions = frames.div_ceil(portion);
    let after = portion.saturating_mul(portions).saturating_sub(frames);
    let x = between_zeros(x, 1, 0, after);
    x.reshape(&[batch, portions, portion, width])
        .reduce(2)
        .reduce(1)
        .reshape(&[batch, 1, width])
}

/// `x` with the convolution for positions added.
fn positions(
    call: &NetworkCall<'_>,
    x: AllocatedTensor,
    width: u64,
) -> Result<AllocatedTensor, EstimateError> {
    let config = call.config;
    let (kernel, frames) = (config.parts("num_conv_pos_embeddings")?, x.dims()[1]);
    let convolution = SequenceConvolution {
        channels: [width; 2],
        kernel,
        stride: 1,
        padding: kernel / 2,
        groups: config.parts("num_conv_pos_embedding_groups")?,
        bias: true,
    };
    // An even kernel returns one frame too many.
    let positions = convolution.forward(x.clone()).narrow(1, 0, frames);
    let activation = ActivationMemory::named(config.text("feat_extract_activation"));
    Ok(x.combine(positions.activate(activation)))
}

/// A layer that normalises after each sum, or (`stable`) before each part.
struct EncoderLayer {
    attention: Attention,
    mlp: MlpKind,
    /// Only stable layers have one.
    adapter: Option<MlpKind>,
    stable: bool,
}

impl EncoderLayer {
    fn read(call: &NetworkCall<'_>, width: u64, stable: bool) -> Result<Self, EstimateError> {
        let config = call.config;
        let activation = ActivationMemory::named(config.text("hidden_act"));
        let adapter = config
            .size_if_set("adapter_attn_dim")?
            .filter(|_| stable)
            // In the code of `Wav2Vec2AttnAdapterLayer`, whatever `hidden_act` is.
            .map(|inner| MlpKind::plain([width, inner], ActivationMemory::named("relu"), true));
        Ok(Self {
            attention: Attention::new(width, config.size("num_attention_heads")?, true),
            mlp: MlpKind::plain([width, config.size("intermediate_size")?], activation, true),
            adapter,
            stable,
        })
    }

    fn forward(&self, x: AllocatedTensor) -> AllocatedTensor {
        let attend = |x: AllocatedTensor| {
            let new = self.attention.keys_values(&x);
            self.attention.over(x, new, None)
        };
        if !self.stable {
            let x = attend(x.clone()).add_layer_norm(x);
            return self.mlp.forward(x.clone()).add_layer_norm(x);
        }
        let x = x.clone().combine(attend(x.layer_norm()));
        let x = x.clone().combine(self.mlp.forward(x.layer_norm()));
        match self.adapter {
            Some(adapter) => x.clone().combine(adapter.forward(x.layer_norm())),
            None => x,
        }
    }
}
