//! Fault injection: each fault makes a certain check fail with a message that leads to the fault.
//! Without a fault all checks pass.

mod config;
mod depth;
mod device;
mod encoder_decoder;
mod golden;
mod graph;
mod handler;
mod media;
mod moe;
mod object_detection;
mod quantized;
mod rag;
mod speech;
mod ssm;
mod summaries;
mod weights;

use crate::{Test, fixture::fixtures, harnesses};
use testgen_runtime::{Harness, suite};
use testgen_types::{Check, DeviceKind, EntryStatus, required_checks};

/// A test for each function of the modules, with its name.
macro_rules! tests {
    (
        green { $($green:ident: $harness:ident),* $(,)? }
        $($module:ident { $($test:ident),* $(,)? })*
    ) => {
        &[
            $((concat!("faults::", stringify!($green)), || green(&harnesses::$harness::HARNESS)),)*
            $($((
                concat!("faults::", stringify!($module), "::", stringify!($test)),
                $module::$test,
            ),)*)*
        ]
    };
}

/// Every test of this module.
pub(crate) const TESTS: &[Test] = tests! {
    green {
        without_a_fault_bart_is_green: bart,
        without_a_fault_detr_is_green: detr,
        without_a_fault_yolos_is_green: yolos,
        without_a_fault_bert_is_green: bert,
        without_a_fault_gpt2_is_green: gpt2,
        without_a_fault_llama_is_green: llama,
        without_a_fault_mamba_is_green: mamba,
        without_a_fault_mistral_is_green: mistral,
        without_a_fault_olmoe_is_green: olmoe,
        without_a_fault_resnet_is_green: resnet_basic,
        without_a_fault_roberta_is_green: roberta,
        without_a_fault_t5_is_green: t5,
        without_a_fault_vit_is_green: vit,
        without_a_fault_wav2vec2_is_green: wav2vec2,
        without_a_fault_whisper_is_green: whisper,
        without_a_fault_rag_token_is_green: rag_token,
        without_a_fault_rag_sequence_is_green: rag_sequence,
        without_a_fault_graphormer_is_green: graphormer,
        without_a_fault_graphormer_base_is_green: graphormer_base,
        without_a_fault_graphormer_regression_is_green: graphormer_regression,
        without_a_fault_clip_is_green: clip,
        without_a_fault_siglip_is_green: siglip,
        without_a_fault_patchtst_is_green: patchtst,
        without_a_fault_llava_is_green: llava,
        without_a_fault_unet_is_green: unet,
        without_a_fault_autoencoder_kl_is_green: autoencoder_kl,
    }
    config {
        wrong_layer_norm_eps,
        wrong_rms_norm_eps,
        wrong_rope_base,
        other_activation,
        gelu_of_gemma,
        window_off_by_one,
        field_without_effect,
        field_of_biases_that_are_zero,
        end_token_outside_the_vocabulary_is_not_padding,
    }
    weights {
        dropped_bias,
        swapped_heads,
        swapped_key_value_heads,
        transposed_square_weight,
        transposed_weight,
        missing_tensor,
        untied_head,
        not_a_number_in_an_unused_row,
        unexpected_tensor,
        other_embedding,
        not_a_number,
        overflow_in_half_precision,
        padding_that_is_not_finite,
    }
    golden {
        wrong_mask_sign,
        impossible_mask,
        no_class_is_a_warning,
        tokens_exchanged_outside_of_the_texts,
        other_tokens,
        token_outside_the_vocabulary,
        other_class,
        other_shape,
        no_trace_is_ignored,
        too_little_noise,
        other_front_end,
    }
    encoder_decoder {
        swapped_cross_attention_heads,
        wrong_distances,
        positions_off_by_one,
        other_start_token,
    }
    object_detection {
        other_grid_of_positions,
        mask_that_hides_nothing,
        wider_boxes,
        likelier_none,
        other_label,
    }
    moe {
        one_expert_more,
        weights_that_sum_to_one,
        swapped_router_rows,
        swapped_experts,
        no_router_is_ignored,
    }
    rag {
        swapped_passages,
        other_separator,
        one_passage_fewer,
        smaller_products,
        first_token_that_counts,
        other_answer,
        swapped_heads_of_questions,
    }
    graph {
        edges_at_other_places,
        shorter_paths,
        distances_off_by_one,
        degrees_off_by_one,
        far_nodes_that_see_each_other,
        bias_that_hides_nothing,
        padding_that_is_not_finite,
        other_kinds_of_edges,
        other_bias_of_the_classes,
    }
    speech {
        other_mel_filters,
        recording_that_is_not_normalised,
        reversed_kernel,
        other_lengths_of_a_normed_kernel,
        norms_in_the_other_order,
    }
    quantized {
        without_a_fault,
        zero_points_off_by_one,
        groups_in_another_order,
        swapped_nibbles,
        scales_of_the_next_output,
        scales_of_the_next_group,
    }
    summaries {
        without_a_fault,
        one_wrong_value,
        two_swapped_rows,
    }
    depth {
        without_a_fault,
        one_wrong_layer,
        a_norm_off_by_a_hundredth,
    }
    ssm {
        slower_decay,
        shifted_kernel,
        no_skip,
    }
    device {
        another_device,
        another_device_in_disguise,
        another_precision,
        fallback_not_marked,
        mock_not_marked,
        model_that_sees_the_future,
        panic,
    }
    media {
        other_feature_layer,
        other_image_token,
        sines_before_cosines,
        factor_of_other_blocks,
        wider_time_ids,
        other_groups,
        other_scaler,
        other_stride,
        other_end_token,
        other_logit_scale,
        other_activation_for_images,
    }
    handler {
        renamed_label,
        other_schedule,
        end_token_that_is_generated,
        suppressed_token,
        images_of_other_colours,
        wrong_weights_in_every_precision,
        no_answer_is_ignored,
    }
};

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
