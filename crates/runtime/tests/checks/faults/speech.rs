//! Faults of speech models: features, convolutions, and the start of the decoder.

use crate::{fixture::Fixture, harnesses};
use serde_json::json;
use testgen_types::Check;

pub(crate) fn other_mel_filters() {
    let fault = Fixture::new(&harnesses::whisper::HARNESS).preprocess("/hop_length", json!(159));
    fault.turns_red(Check::PreprocessGolden, &["`input_features`"]);
}

pub(crate) fn recording_that_is_not_normalised() {
    let fault =
        Fixture::new(&harnesses::wav2vec2::HARNESS).preprocess("/do_normalize", json!(false));
    fault.turns_red(Check::PreprocessGolden, &["`input_values`"]);
}

pub(crate) fn reversed_kernel() {
    let name = "model.encoder.conv1.weight";
    let fault = Fixture::new(&harnesses::whisper::HARNESS).weights(|tensors| {
        tensors.floats(name, |kernel| {
            kernel.chunks_exact_mut(3).for_each(<[f32]>::reverse)
        })
    });
    fault.turns_red(Check::EmbedGolden, &["`trace.encoder.embed`"]);
    fault.turns_red(Check::GreedyMargin, &["tokens.logits step 0"]);
}

pub(crate) fn other_lengths_of_a_normed_kernel() {
    let name = "wav2vec2.encoder.pos_conv_embed.conv.parametrizations.weight.original0";
    let fault = Fixture::new(&harnesses::wav2vec2::HARNESS)
        .weights(|tensors| tensors.floats(name, |lengths| lengths.rotate_left(1)));
    fault.turns_red(Check::LayerTraceGolden, &["first diverges at `embed`"]);
}

pub(crate) fn norms_in_the_other_order() {
    let fault =
        Fixture::new(&harnesses::wav2vec2::HARNESS).configure("/do_stable_layer_norm", json!(true));
    fault.turns_red(
        Check::OutputGolden,
        &["`logits`", "first diverges at `embed`"],
    );
    fault.stays_green(Check::LoadKeysExact);
}
