//! Faults of a configuration: the weights are correct, but the configuration is not theirs.

use crate::{fixture::Fixture, harnesses};
use serde_json::json;
use testgen_types::Check;

pub(crate) fn wrong_layer_norm_eps() {
    let fault = Fixture::new(&harnesses::bert::HARNESS).configure("/layer_norm_eps", json!(1e-5));
    fault.turns_red(
        Check::OutputGolden,
        &["`last_hidden_state`", "first diverges at `embed`"],
    );
    fault.turns_red(Check::EmbedGolden, &["`trace.embed`"]);
}

pub(crate) fn wrong_rms_norm_eps() {
    let fault = Fixture::new(&harnesses::llama::HARNESS).configure("/rms_norm_eps", json!(1e-5));
    fault.turns_red(
        Check::OutputGolden,
        &[
            "`logits`",
            "first diverges at `layer.0`; `embed` still agrees",
        ],
    );
}

pub(crate) fn wrong_rope_base() {
    let fault = Fixture::new(&harnesses::llama::HARNESS)
        .configure("/rope_parameters/rope_theta", json!(10000.0));
    fault.turns_red(
        Check::OutputGolden,
        &[
            "`logits`",
            "first diverges at `layer.0`; `embed` still agrees",
        ],
    );
    fault.turns_red(
        Check::LayerTraceGolden,
        &["first diverges at `layer.0`", "`trace.layer.1`"],
    );
    fault.stays_green(Check::EmbedGolden);
    // The model is consistent with itself, so only a golden shows the fault.
    fault.stays_green(Check::KvCacheEquivalence);
}

pub(crate) fn other_activation() {
    let fault = Fixture::new(&harnesses::bert::HARNESS).configure("/hidden_act", json!("gelu_new"));
    fault.turns_red(
        Check::OutputGolden,
        &["first diverges at `layer.0`; `embed` still agrees"],
    );
    let fault = Fixture::new(&harnesses::vit::HARNESS).configure("/hidden_act", json!("gelu_new"));
    fault.turns_red(
        Check::OutputGolden,
        &["`logits`", "first diverges at `layer.0`"],
    );
    let fault =
        Fixture::new(&harnesses::resnet_basic::HARNESS).configure("/hidden_act", json!("gelu"));
    fault.turns_red(Check::OutputGolden, &["`logits`"]);
}

/// The files of Gemma's first release say "gelu" and mean the approximation, by which they were
/// trained.
pub(crate) fn gelu_of_gemma() {
    let legacy = Fixture::new(&harnesses::gemma::HARNESS).configure("/hidden_act", json!("gelu"));
    legacy.stays_green(Check::OutputGolden);
    let exact =
        Fixture::new(&harnesses::gemma::HARNESS).configure("/hidden_act", json!("gelu_python"));
    exact.turns_red(
        Check::OutputGolden,
        &["`logits`", "first diverges at `layer.0`"],
    );
}

pub(crate) fn window_off_by_one() {
    let fault = Fixture::new(&harnesses::mistral::HARNESS).configure("/sliding_window", json!(8));
    fault.turns_red(
        Check::OutputGolden,
        &["`logits`", "first diverges at `layer.0`"],
    );
    let fault = Fixture::new(&harnesses::mistral::HARNESS).configure("/sliding_window", json!(6));
    fault.turns_red(Check::OutputGolden, &["`logits`"]);
}

/// Checkpoints cut down for tests keep the end token of the full model, whose id their vocabulary
/// no longer has.
pub(crate) fn end_token_outside_the_vocabulary_is_not_padding() {
    let cut_down = Fixture::new(&harnesses::gpt2::HARNESS)
        .configure("/eos_token_id", json!(50256))
        .golden(|tensors| drop(tensors.metadata.remove("pad_token_id")));
    for check in [
        Check::MaskGolden,
        Check::PadInvariance,
        Check::KvCacheEquivalence,
    ] {
        cut_down.stays_green(check);
    }
}

/// Biases of a freshly initialised checkpoint: with and without them the outputs are the same.
pub(crate) fn field_of_biases_that_are_zero() {
    let fresh = Fixture::new(&harnesses::vit::HARNESS).weights(|tensors| {
        for name in tensors.names() {
            let module = name.strip_suffix(".bias").unwrap_or_default();
            if ["query", "key", "value"]
                .iter()
                .any(|projection| module.ends_with(projection))
            {
                tensors.floats(&name, |bias| bias.fill(0.0));
            }
        }
    });
    fresh.stays_green(Check::ConfigEffective);
}

pub(crate) fn field_without_effect() {
    let fault =
        Fixture::new(&harnesses::mistral::HARNESS).configure("/sliding_window", json!(4096));
    fault.turns_red(
        Check::ConfigEffective,
        &["`sliding_window` has no effect: tried 4097"],
    );
}
