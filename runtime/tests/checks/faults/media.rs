//! Faults of models whose inputs are not text alone: each architecture has one that its golden shows.

use crate::{fixture::Fixture, harnesses};
use serde_json::json;
use testgen_contract::Check;

/// CLIP reads a text at its end token; with the largest id in its place, at another one.
pub(crate) fn other_end_token() {
    let fault = Fixture::of(&harnesses::clip_end_token::HARNESS).configure("/text_config/eos_token_id", json!(2));
    fault.turns_red(Check::OutputGolden, &["`text_embeds`", "`logits_per_image`"]);
    fault.stays_green(Check::LayerTraceGolden);
}

pub(crate) fn other_logit_scale() {
    let fault = Fixture::of(&harnesses::clip::HARNESS)
        .weights(|tensors| tensors.floats("logit_scale", |scale| scale[0] += 0.001));
    fault.turns_red(Check::OutputGolden, &["`logits_per_image`", "`logits_per_text`"]);
}

/// The layers of the images' tower are traced behind those of the texts'.
pub(crate) fn other_activation_for_images() {
    let fault = Fixture::of(&harnesses::clip::HARNESS).configure("/vision_config/hidden_act", json!("gelu"));
    fault.turns_red(Check::LayerTraceGolden, &["first diverges at `layer.3`; `layer.2` still agrees"]);
}
