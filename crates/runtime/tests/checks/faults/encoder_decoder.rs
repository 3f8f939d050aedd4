//! Faults of encoder-decoders: cross-attention, distances, positions and the first token of
//! generation.

use crate::{fixture::Fixture, harnesses};
use serde_json::json;
use testgen_types::Check;

pub(crate) fn swapped_cross_attention_heads() {
    let name = "decoder.block.1.layer.1.EncDecAttention.k.weight";
    let fault =
        Fixture::new(&harnesses::t5::HARNESS).weights(|tensors| tensors.swap_rows(name, 6, 0, 1));
    fault.turns_red(
        Check::OutputGolden,
        &["first diverges at `decoder.layer.1`; `decoder.layer.0` still agrees"],
    );
    fault.turns_red(Check::GreedyMargin, &["tokens.logits step 0"]);
}

pub(crate) fn wrong_distances() {
    let fault = Fixture::new(&harnesses::t5::HARNESS)
        .configure("/relative_attention_max_distance", json!(128));
    fault.turns_red(
        Check::LayerTraceGolden,
        &["first diverges at `encoder.layer.0`; `encoder.embed` still agrees"],
    );
}

pub(crate) fn positions_off_by_one() {
    let fault = Fixture::new(&harnesses::bart::HARNESS).weights(|tensors| {
        tensors.floats("model.decoder.embed_positions.weight", |table| {
            table.rotate_left(32)
        });
    });
    fault.turns_red(Check::EmbedGolden, &["`trace.decoder.embed`"]);
}

pub(crate) fn other_start_token() {
    let fault = Fixture::new(&harnesses::bart::HARNESS)
        .golden(|tensors| tensors.integers("tokens.start", |start| start + 1));
    fault.turns_red(Check::GreedyMargin, &["tokens.logits step 0"]);
}
