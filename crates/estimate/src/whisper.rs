//! Whisper: two convolutions over a spectrogram, then an encoder and a decoder as BART's.

use crate::{
    audio_classifier,
    call::NetworkCall,
    config::TIED,
    elementwise::ActivationMemory,
    encoder_decoder::{Stack, bart_stacks},
    error::EstimateError,
    sequence_convolution::SequenceConvolution,
    tensor::AllocatedTensor,
    text_head::vocabulary,
};
use testgen_types::Head;

/// Reads spectrograms of the only length that the model has, and decodes `tokens` tokens.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let [encoder, decoder] = bart_stacks(call, true)?;
    let width = config.size("d_model")?;
    let mut x = embed(call, width)?;
    if call.head == Head::AudioClassification {
        return classify(call, encoder, x);
    }
    // The limit of the decoder, which classifiers do not have.
    call.within(config.size("max_target_positions")?)?;
    for _ in 0..encoder.layers {
        x = encoder.encode_layer(x, None);
    }
    let encoded = encoder.finish(x, call);
    let hidden = decoder.decode(call, &encoded, None);
    match call.head {
        Head::ConditionalGeneration => {
            let vocab = vocabulary([width, config.size("vocab_size")?], config.flag(TIED));
            call.output(vocab.forward(hidden));
        }
        _ => call.output(hidden),
    }
    call.output(encoded);
    Ok(())
}

/// [batch, positions, width] of a spectrogram; the second convolution halves its frames.
fn embed(call: &NetworkCall<'_>, width: u64) -> Result<AllocatedTensor, EstimateError> {
    let (bins, positions) = (
        call.config.size("num_mel_bins")?,
        call.config.size("max_source_positions")?,
    );
    // In the code of `WhisperEncoder`, whatever `activation_function` is.
    let activation = ActivationMemory::named("gelu");
    let features = call.floats(&[call.batch, bins, 2 * positions]).swap(1, 2);
    let x = convolution([bins, width], 1)
        .forward(features)
        .activate(activation);
    let x = convolution([width, width], 2)
        .forward(x)
        .activate(activation);
    Ok(x.combine(call.weight(&[1, positions, width])))
}

/// A convolution over three frames.
fn convolution(channels: [u64; 2], stride: u64) -> SequenceConvolution {
    SequenceConvolution {
        channels,
        kernel: 3,
        stride,
        padding: 1,
        groups: 1,
        bias: true,
    }
}

/// All hidden states are kept for the classifier.
fn classify(
    call: &mut NetworkCall<'_>,
    encoder: Stack,
    mut x: AllocatedTensor,
) -> Result<(), EstimateError> {
    let mut states = Vec::new();
    for _ in 0..encoder.layers {
        states.push(x.clone());
        x = encoder.encode_layer(x, None);
    }
    let last = encoder.finish(x, call);
    states.push(last.clone());
    audio_classifier::logits(call, last, states)
}
