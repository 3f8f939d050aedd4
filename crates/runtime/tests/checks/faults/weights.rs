//! Faults of weights, like those that a wrong name, axis or order in the code would cause.

use crate::{fixture::Fixture, harnesses};
use testgen_types::{Check, Precision};

const LAYER: &str = "encoder.layer.1.attention";

pub(crate) fn dropped_bias() {
    let name = "encoder.layer.1.attention.output.dense.bias";
    let fault = Fixture::new(&harnesses::bert::HARNESS)
        .weights(|tensors| tensors.floats(name, |bias| bias.fill(0.0)));
    fault.turns_red(
        Check::OutputGolden,
        &["first diverges at `layer.1`; `layer.0` still agrees"],
    );
    fault.turns_red(Check::LayerTraceGolden, &["first diverges at `layer.1`"]);
}

pub(crate) fn swapped_heads() {
    let name = format!("{LAYER}.self.query.weight");
    let fault = Fixture::new(&harnesses::bert::HARNESS)
        .weights(|tensors| tensors.swap_rows(&name, 8, 0, 1));
    fault.turns_red(
        Check::OutputGolden,
        &["first diverges at `layer.1`; `layer.0` still agrees"],
    );
}

pub(crate) fn swapped_key_value_heads() {
    let fault = Fixture::new(&harnesses::llama::HARNESS).weights(|tensors| {
        tensors.swap_rows("model.layers.0.self_attn.k_proj.weight", 12, 0, 1);
        tensors.swap_rows("model.layers.0.self_attn.v_proj.weight", 12, 0, 1);
    });
    fault.turns_red(
        Check::OutputGolden,
        &[
            "`logits`",
            "first diverges at `layer.0`; `embed` still agrees",
        ],
    );
    fault.turns_red(Check::GreedyMargin, &["tokens.logits step 0"]);
}

pub(crate) fn transposed_square_weight() {
    let name = format!("{LAYER}.self.value.weight");
    let fault = Fixture::new(&harnesses::bert::HARNESS).weights(|tensors| tensors.transpose(&name));
    fault.stays_green(Check::LoadKeysExact);
    fault.turns_red(
        Check::OutputGolden,
        &["first diverges at `layer.1`; `layer.0` still agrees"],
    );
}

pub(crate) fn transposed_weight() {
    let name = "encoder.layer.0.intermediate.dense.weight";
    let fault = Fixture::new(&harnesses::bert::HARNESS).weights(|tensors| tensors.transpose(name));
    fault.turns_red(Check::LoadKeysExact, &[name, "[32, 64]", "[64, 32]"]);
}

pub(crate) fn missing_tensor() {
    let name = "encoder.layer.0.output.LayerNorm.bias";
    let fault = Fixture::new(&harnesses::bert::HARNESS).weights(|tensors| tensors.remove(name));
    fault.turns_red(Check::LoadKeysExact, &[name]);
    fault.turns_red(Check::OutputGolden, &["mock", name]);
}

/// The embedding under the name of the head is a copy; another matrix there is not what the
/// configuration says.
pub(crate) fn untied_head() {
    let copied = || {
        Fixture::new(&harnesses::gpt2::HARNESS)
            .weights(|tensors| tensors.copy("transformer.wte.weight", "lm_head.weight"))
    };
    copied().stays_green(Check::LoadKeysExact);
    let fault = copied().weights(|tensors| tensors.disturb("lm_head.weight"));
    fault.turns_red(
        Check::LoadKeysExact,
        &["`lm_head.weight` differs from the one that the configuration ties it to"],
    );
}

/// In a row of the embedding that no recorded input reads.
pub(crate) fn not_a_number_in_an_unused_row() {
    for value in [f32::NAN, f32::INFINITY] {
        let name = "embeddings.word_embeddings.weight";
        let fault = Fixture::new(&harnesses::bert::HARNESS)
            .weights(|tensors| tensors.floats(name, |table| *table.last_mut().unwrap() = value));
        fault.turns_red(
            Check::LoadKeysExact,
            &[name, "a value that is not finite at index"],
        );
        fault.stays_green(Check::OutputGolden);
    }
}

pub(crate) fn unexpected_tensor() {
    let name = "encoder.layer.2.output.dense.bias";
    let fault = Fixture::new(&harnesses::bert::HARNESS)
        .weights(|tensors| tensors.copy("encoder.layer.1.output.dense.bias", name));
    fault.turns_red(Check::LoadKeysExact, &["never read", name]);
    fault.stays_green(Check::OutputGolden);
}

pub(crate) fn other_embedding() {
    let fault = Fixture::new(&harnesses::bert::HARNESS).weights(|tensors| {
        tensors.floats("embeddings.position_embeddings.weight", |table| {
            table.rotate_left(32)
        })
    });
    fault.turns_red(Check::EmbedGolden, &["`trace.embed`", "furthest off at ["]);
}

pub(crate) fn not_a_number() {
    let name = "encoder.layer.1.output.LayerNorm.weight";
    let fault = Fixture::new(&harnesses::bert::HARNESS)
        .weights(|tensors| tensors.floats(name, |norm| norm[3] = f32::NAN));
    fault.turns_red(Check::Finite, &["`last_hidden_state`", "not finite", "NaN"]);
    fault.turns_red(Check::OutputGolden, &["NaN or infinity"]);
}

pub(crate) fn overflow_in_half_precision() {
    let name = "encoder.layer.0.intermediate.dense.weight";
    let fault = Fixture::new(&harnesses::bert::HARNESS).weights(|tensors| {
        tensors.floats(name, |weights| {
            weights.iter_mut().for_each(|weight| *weight *= 3e4)
        })
    });
    fault.stays_green(Check::Finite);
    fault.turns_red_in(Check::Finite, Precision::F16, &["not finite"]);
}

/// Padding has the attention weight 0, but 0 times NaN is NaN.
pub(crate) fn padding_that_is_not_finite() {
    let fault = Fixture::new(&harnesses::bert::HARNESS).weights(|tensors| {
        let width = tensors.shape("embeddings.word_embeddings.weight")[1];
        tensors.floats("embeddings.word_embeddings.weight", |table| {
            table[..width].fill(f32::NAN)
        });
    });
    fault.turns_red(Check::PadInvariance, &["padded right", "NaN or infinity"]);
    fault.turns_red(Check::MaskGolden, &["at real positions", "NaN or infinity"]);
}
