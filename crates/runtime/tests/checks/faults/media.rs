//! Faults of models with images, series and latents: each architecture has one that its golden
//! shows.

use crate::{fixture::Fixture, harnesses};
use serde_json::json;
use testgen_types::Check;

/// CLIP pools a text at its end token. With `eos_token_id` 2 it takes the largest id instead, as in
/// old configurations.
pub(crate) fn other_end_token() {
    let fault = Fixture::new(&harnesses::clip_end_token::HARNESS)
        .configure("/text_config/eos_token_id", json!(2));
    fault.turns_red(
        Check::OutputGolden,
        &["`text_embeds`", "`logits_per_image`"],
    );
    fault.stays_green(Check::LayerTraceGolden);
}

pub(crate) fn other_logit_scale() {
    let fault = Fixture::new(&harnesses::clip::HARNESS)
        .weights(|tensors| tensors.floats("logit_scale", |scale| scale[0] += 0.001));
    fault.turns_red(
        Check::OutputGolden,
        &["`logits_per_image`", "`logits_per_text`"],
    );
}

/// The layers of the image encoder are traced after those of the text encoder.
pub(crate) fn other_activation_for_images() {
    let fault = Fixture::new(&harnesses::clip::HARNESS)
        .configure("/vision_config/hidden_act", json!("gelu"));
    fault.turns_red(
        Check::LayerTraceGolden,
        &["first diverges at `layer.3`; `layer.2` still agrees"],
    );
}

pub(crate) fn other_scaler() {
    let fault = Fixture::new(&harnesses::patchtst::HARNESS).configure("/scaling", json!("mean"));
    fault.turns_red(
        Check::OutputGolden,
        &["`prediction_outputs`", "`loc`", "`scale`"],
    );
    fault.turns_red(Check::EmbedGolden, &["`trace.embed`"]);
}

/// 50 steps in patches of 8 are 8 patches with a stride of 6, and 9 with a stride of 5.
pub(crate) fn other_stride() {
    let fault = Fixture::new(&harnesses::patchtst::HARNESS).configure("/patch_stride", json!(5));
    fault.turns_red(
        Check::LoadKeysExact,
        &["position_enc", "[9, 32]", "[8, 32]"],
    );
}

pub(crate) fn other_feature_layer() {
    let fault =
        Fixture::new(&harnesses::llava::HARNESS).configure("/vision_feature_layer", json!(-1));
    fault.turns_red(
        Check::OutputGolden,
        &["`logits`", "first diverges at `embed`"],
    );
    fault.turns_red(Check::GreedyMargin, &["tokens.logits step 0"]);
}

pub(crate) fn other_image_token() {
    let fault = Fixture::new(&harnesses::llava::HARNESS).configure("/image_token_index", json!(5));
    fault.turns_red(
        Check::OutputGolden,
        &["image tokens", "the 8 of `pixel_values`"],
    );
}

pub(crate) fn sines_before_cosines() {
    let fault = Fixture::new(&harnesses::unet::HARNESS).configure("/flip_sin_to_cos", json!(false));
    fault.turns_red(
        Check::OutputGolden,
        &[
            "`sample`",
            "first diverges at `layer.0`; `embed` still agrees",
        ],
    );
}

/// diffusers passes this factor to other types of blocks only.
pub(crate) fn factor_of_other_blocks() {
    let fixture =
        Fixture::new(&harnesses::unet::HARNESS).configure("/resnet_out_scale_factor", json!(2.0));
    fixture.stays_green(Check::OutputGolden);
}

/// Two numbers more for each time id do not fit the projection, which is an error and not a panic.
pub(crate) fn wider_time_ids() {
    let fault = Fixture::new(&harnesses::unet_text_time::HARNESS)
        .configure("/addition_time_embed_dim", json!(8));
    fault.turns_red(
        Check::OutputGolden,
        &["input `time_ids` is 62 wide", "expected 50"],
    );
}

pub(crate) fn other_groups() {
    let fault =
        Fixture::new(&harnesses::autoencoder_kl::HARNESS).configure("/norm_num_groups", json!(2));
    fault.turns_red(Check::OutputGolden, &["`mean`", "`logvar`", "`sample`"]);
}
