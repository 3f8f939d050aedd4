//! Faults of what surrounds a model: names of labels, tokenizer, scheduler, generation. Most other
//! checks stay green, because they compare tensors.

use crate::{fixture::Fixture, harnesses};
use serde_json::json;
use testgen_types::{Check, Precision};

pub(crate) fn renamed_label() {
    let fault = Fixture::new(&harnesses::vit::HARNESS).configure("/id2label/0", json!("LABEL_9"));
    fault.turns_red(
        Check::HandlerGolden,
        &["\"LABEL_9\" is not among the recorded candidates"],
    );
    fault.stays_green(Check::OutputGolden);
}

pub(crate) fn other_schedule() {
    let fault = Fixture::new(&harnesses::unet::HARNESS).schedule("/beta_end", json!(0.02));
    fault.turns_red(Check::HandlerGolden, &["`answer.latents`"]);
    fault.stays_green(Check::OutputGolden);
}

pub(crate) fn end_token_that_is_generated() {
    let fault = Fixture::new(&harnesses::gpt2::HARNESS).generate("/eos_token_id", json!(81));
    fault.turns_red(
        Check::HandlerGolden,
        &["row 0, token 1: expected Some(81), got None"],
    );
    fault.stays_green(Check::GreedyMargin);
}

pub(crate) fn suppressed_token() {
    let fault =
        Fixture::new(&harnesses::whisper::HARNESS).generate("/suppress_tokens", json!([5, 6, 89]));
    fault.turns_red(Check::HandlerGolden, &["row 0, token 0: expected Some(89)"]);
    fault.stays_green(Check::GreedyMargin);
}

pub(crate) fn images_of_other_colours() {
    let fault =
        Fixture::new(&harnesses::vit::HARNESS).preprocess("/image_mean", json!([0.6, 0.5, 0.5]));
    for precision in [Precision::F32, Precision::F16, Precision::Bf16] {
        fault.turns_red_in(Check::HandlerGolden, precision, &["`answer.scores`"]);
    }
}

pub(crate) fn wrong_weights_in_every_precision() {
    let fault = Fixture::new(&harnesses::bert::HARNESS).configure("/hidden_act", json!("relu"));
    for precision in [Precision::F32, Precision::F16, Precision::Bf16] {
        fault.turns_red_in(Check::HandlerGolden, precision, &["`answer.tokens`"]);
    }
}

pub(crate) fn no_answer_is_ignored() {
    let lacking = Fixture::new(&harnesses::vit::HARNESS).without("answers.json");
    let entry = lacking.check(Check::HandlerGolden);
    assert_eq!(
        entry.status,
        testgen_types::EntryStatus::Ignored,
        "{:?}",
        entry.reason
    );
}
