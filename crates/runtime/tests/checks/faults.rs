//! Fault injection: each fault makes a certain check fail with a message that leads to the fault.
//! Without a fault all checks pass.

mod config;
mod device;
mod encoder_decoder;
mod golden;
mod graph;
mod handler;
mod media;
mod moe;
mod object_detection;
mod rag;
mod speech;
mod ssm;
mod summaries;
mod weights;

use crate::{Test, fixture::fixtures, harnesses};
use testgen_runtime::{Harness, suite};
use testgen_types::{Check, DeviceKind, EntryStatus, required_checks};

/// Every test of this module.
pub(crate) const TESTS: &[Test] = &[
    ("faults::without_a_fault_bart_is_green", || {
        green(&harnesses::bart::HARNESS)
    }),
    ("faults::without_a_fault_detr_is_green", || {
        green(&harnesses::detr::HARNESS)
    }),
    ("faults::without_a_fault_yolos_is_green", || {
        green(&harnesses::yolos::HARNESS)
    }),
    ("faults::without_a_fault_bert_is_green", || {
        green(&harnesses::bert::HARNESS)
    }),
    ("faults::without_a_fault_gpt2_is_green", || {
        green(&harnesses::gpt2::HARNESS)
    }),
    ("faults::without_a_fault_llama_is_green", || {
        green(&harnesses::llama::HARNESS)
    }),
    ("faults::without_a_fault_mamba_is_green", || {
        green(&harnesses::mamba::HARNESS)
    }),
    ("faults::without_a_fault_mistral_is_green", || {
        green(&harnesses::mistral::HARNESS)
    }),
    ("faults::without_a_fault_olmoe_is_green", || {
        green(&harnesses::olmoe::HARNESS)
    }),
    ("faults::without_a_fault_resnet_is_green", || {
        green(&harnesses::resnet_basic::HARNESS)
    }),
    ("faults::without_a_fault_roberta_is_green", || {
        green(&harnesses::roberta::HARNESS)
    }),
    ("faults::without_a_fault_t5_is_green", || {
        green(&harnesses::t5::HARNESS)
    }),
    ("faults::without_a_fault_vit_is_green", || {
        green(&harnesses::vit::HARNESS)
    }),
    ("faults::without_a_fault_wav2vec2_is_green", || {
        green(&harnesses::wav2vec2::HARNESS)
    }),
    ("faults::without_a_fault_whisper_is_green", || {
        green(&harnesses::whisper::HARNESS)
    }),
    (
        "faults::config::wrong_layer_norm_eps",
        config::wrong_layer_norm_eps,
    ),
    (
        "faults::config::wrong_rms_norm_eps",
        config::wrong_rms_norm_eps,
    ),
    ("faults::config::wrong_rope_base", config::wrong_rope_base),
    ("faults::config::other_activation", config::other_activation),
    ("faults::config::gelu_of_gemma", config::gelu_of_gemma),
    (
        "faults::config::window_off_by_one",
        config::window_off_by_one,
    ),
    (
        "faults::config::field_without_effect",
        config::field_without_effect,
    ),
    (
        "faults::config::field_of_biases_that_are_zero",
        config::field_of_biases_that_are_zero,
    ),
    (
        "faults::config::end_token_outside_the_vocabulary_is_not_padding",
        config::end_token_outside_the_vocabulary_is_not_padding,
    ),
    ("faults::weights::dropped_bias", weights::dropped_bias),
    ("faults::weights::swapped_heads", weights::swapped_heads),
    (
        "faults::weights::swapped_key_value_heads",
        weights::swapped_key_value_heads,
    ),
    (
        "faults::weights::transposed_square_weight",
        weights::transposed_square_weight,
    ),
    (
        "faults::weights::transposed_weight",
        weights::transposed_weight,
    ),
    ("faults::weights::missing_tensor", weights::missing_tensor),
    ("faults::weights::untied_head", weights::untied_head),
    (
        "faults::weights::not_a_number_in_an_unused_row",
        weights::not_a_number_in_an_unused_row,
    ),
    (
        "faults::weights::unexpected_tensor",
        weights::unexpected_tensor,
    ),
    ("faults::weights::other_embedding", weights::other_embedding),
    ("faults::weights::not_a_number", weights::not_a_number),
    (
        "faults::weights::overflow_in_half_precision",
        weights::overflow_in_half_precision,
    ),
    (
        "faults::weights::padding_that_is_not_finite",
        weights::padding_that_is_not_finite,
    ),
    ("faults::golden::wrong_mask_sign", golden::wrong_mask_sign),
    ("faults::golden::impossible_mask", golden::impossible_mask),
    (
        "faults::golden::no_class_is_a_warning",
        golden::no_class_is_a_warning,
    ),
    (
        "faults::golden::tokens_exchanged_outside_of_the_texts",
        golden::tokens_exchanged_outside_of_the_texts,
    ),
    ("faults::golden::other_tokens", golden::other_tokens),
    (
        "faults::golden::token_outside_the_vocabulary",
        golden::token_outside_the_vocabulary,
    ),
    ("faults::golden::other_class", golden::other_class),
    ("faults::golden::other_shape", golden::other_shape),
    (
        "faults::golden::no_trace_is_ignored",
        golden::no_trace_is_ignored,
    ),
    ("faults::golden::too_little_noise", golden::too_little_noise),
    ("faults::golden::other_front_end", golden::other_front_end),
    (
        "faults::encoder_decoder::swapped_cross_attention_heads",
        encoder_decoder::swapped_cross_attention_heads,
    ),
    (
        "faults::encoder_decoder::wrong_distances",
        encoder_decoder::wrong_distances,
    ),
    (
        "faults::encoder_decoder::positions_off_by_one",
        encoder_decoder::positions_off_by_one,
    ),
    (
        "faults::encoder_decoder::other_start_token",
        encoder_decoder::other_start_token,
    ),
    (
        "faults::object_detection::other_grid_of_positions",
        object_detection::other_grid_of_positions,
    ),
    (
        "faults::object_detection::mask_that_hides_nothing",
        object_detection::mask_that_hides_nothing,
    ),
    (
        "faults::object_detection::wider_boxes",
        object_detection::wider_boxes,
    ),
    (
        "faults::object_detection::likelier_none",
        object_detection::likelier_none,
    ),
    (
        "faults::object_detection::other_label",
        object_detection::other_label,
    ),
    ("faults::moe::one_expert_more", moe::one_expert_more),
    (
        "faults::moe::weights_that_sum_to_one",
        moe::weights_that_sum_to_one,
    ),
    ("faults::moe::swapped_router_rows", moe::swapped_router_rows),
    ("faults::moe::swapped_experts", moe::swapped_experts),
    (
        "faults::moe::no_router_is_ignored",
        moe::no_router_is_ignored,
    ),
    ("faults::without_a_fault_rag_token_is_green", || {
        green(&harnesses::rag_token::HARNESS)
    }),
    ("faults::without_a_fault_rag_sequence_is_green", || {
        green(&harnesses::rag_sequence::HARNESS)
    }),
    ("faults::rag::swapped_passages", rag::swapped_passages),
    ("faults::rag::other_separator", rag::other_separator),
    ("faults::rag::one_passage_fewer", rag::one_passage_fewer),
    ("faults::rag::smaller_products", rag::smaller_products),
    (
        "faults::rag::first_token_that_counts",
        rag::first_token_that_counts,
    ),
    ("faults::rag::other_answer", rag::other_answer),
    (
        "faults::rag::swapped_heads_of_questions",
        rag::swapped_heads_of_questions,
    ),
    ("faults::without_a_fault_graphormer_is_green", || {
        green(&harnesses::graphormer::HARNESS)
    }),
    ("faults::without_a_fault_graphormer_base_is_green", || {
        green(&harnesses::graphormer_base::HARNESS)
    }),
    (
        "faults::without_a_fault_graphormer_regression_is_green",
        || green(&harnesses::graphormer_regression::HARNESS),
    ),
    (
        "faults::graph::edges_at_other_places",
        graph::edges_at_other_places,
    ),
    ("faults::graph::shorter_paths", graph::shorter_paths),
    (
        "faults::graph::distances_off_by_one",
        graph::distances_off_by_one,
    ),
    (
        "faults::graph::degrees_off_by_one",
        graph::degrees_off_by_one,
    ),
    (
        "faults::graph::far_nodes_that_see_each_other",
        graph::far_nodes_that_see_each_other,
    ),
    (
        "faults::graph::bias_that_hides_nothing",
        graph::bias_that_hides_nothing,
    ),
    (
        "faults::graph::padding_that_is_not_finite",
        graph::padding_that_is_not_finite,
    ),
    (
        "faults::graph::other_kinds_of_edges",
        graph::other_kinds_of_edges,
    ),
    (
        "faults::graph::other_bias_of_the_classes",
        graph::other_bias_of_the_classes,
    ),
    (
        "faults::speech::other_mel_filters",
        speech::other_mel_filters,
    ),
    (
        "faults::speech::recording_that_is_not_normalised",
        speech::recording_that_is_not_normalised,
    ),
    ("faults::speech::reversed_kernel", speech::reversed_kernel),
    (
        "faults::speech::other_lengths_of_a_normed_kernel",
        speech::other_lengths_of_a_normed_kernel,
    ),
    (
        "faults::speech::norms_in_the_other_order",
        speech::norms_in_the_other_order,
    ),
    (
        "faults::summaries::without_a_fault",
        summaries::without_a_fault,
    ),
    (
        "faults::summaries::one_wrong_value",
        summaries::one_wrong_value,
    ),
    (
        "faults::summaries::two_swapped_rows",
        summaries::two_swapped_rows,
    ),
    ("faults::ssm::slower_decay", ssm::slower_decay),
    ("faults::ssm::shifted_kernel", ssm::shifted_kernel),
    ("faults::ssm::no_skip", ssm::no_skip),
    ("faults::device::another_device", device::another_device),
    (
        "faults::device::another_device_in_disguise",
        device::another_device_in_disguise,
    ),
    (
        "faults::device::another_precision",
        device::another_precision,
    ),
    (
        "faults::device::fallback_not_marked",
        device::fallback_not_marked,
    ),
    ("faults::device::mock_not_marked", device::mock_not_marked),
    (
        "faults::device::model_that_sees_the_future",
        device::model_that_sees_the_future,
    ),
    ("faults::device::panic", device::panic),
    ("faults::without_a_fault_clip_is_green", || {
        green(&harnesses::clip::HARNESS)
    }),
    ("faults::without_a_fault_siglip_is_green", || {
        green(&harnesses::siglip::HARNESS)
    }),
    ("faults::without_a_fault_patchtst_is_green", || {
        green(&harnesses::patchtst::HARNESS)
    }),
    ("faults::without_a_fault_llava_is_green", || {
        green(&harnesses::llava::HARNESS)
    }),
    (
        "faults::media::other_feature_layer",
        media::other_feature_layer,
    ),
    ("faults::media::other_image_token", media::other_image_token),
    ("faults::without_a_fault_unet_is_green", || {
        green(&harnesses::unet::HARNESS)
    }),
    ("faults::without_a_fault_autoencoder_kl_is_green", || {
        green(&harnesses::autoencoder_kl::HARNESS)
    }),
    (
        "faults::media::sines_before_cosines",
        media::sines_before_cosines,
    ),
    ("faults::media::wider_time_ids", media::wider_time_ids),
    ("faults::media::other_groups", media::other_groups),
    ("faults::media::other_scaler", media::other_scaler),
    ("faults::media::other_stride", media::other_stride),
    ("faults::media::other_end_token", media::other_end_token),
    ("faults::handler::renamed_label", handler::renamed_label),
    ("faults::handler::other_schedule", handler::other_schedule),
    (
        "faults::handler::end_token_that_is_generated",
        handler::end_token_that_is_generated,
    ),
    (
        "faults::handler::suppressed_token",
        handler::suppressed_token,
    ),
    (
        "faults::handler::images_of_other_colours",
        handler::images_of_other_colours,
    ),
    (
        "faults::handler::wrong_weights_in_every_precision",
        handler::wrong_weights_in_every_precision,
    ),
    (
        "faults::handler::no_answer_is_ignored",
        handler::no_answer_is_ignored,
    ),
    ("faults::media::other_logit_scale", media::other_logit_scale),
    (
        "faults::media::other_activation_for_images",
        media::other_activation_for_images,
    ),
];

/// All checks that a harness must have pass on the host processor, or are ignored with a reason.
/// `memory_released` is tested in a suite of its own, because it would measure the other tests of
/// this process as well.
fn green(harness: &Harness) {
    let spec = harness.spec;
    let mut red = Vec::new();
    let required = required_checks(spec.architecture, &[DeviceKind::Cpu], spec.precisions);
    for registration in required
        .into_iter()
        .filter(|required| required.check != Check::MemoryReleased)
    {
        let record = suite::run_check(harness, registration, &fixtures());
        match record.status {
            EntryStatus::Pass
                if !registration.check.is_numeric() || record.device_name.is_some() => {}
            EntryStatus::Ignored if record.reason.is_some() => {}
            _ => red.push(format!(
                "{}: {}",
                record.test_name(),
                record.reason.unwrap_or_default()
            )),
        }
    }
    assert!(red.is_empty(), "{}", red.join("\n"));
}
