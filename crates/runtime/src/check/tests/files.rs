//! Goldens and weights that are changed in a copy of a fixture: what a check must still accept, and
//! what it must not.

use super::{
    Fault,
    fixture::{Fixture, Tensors},
    harnesses::{self, GRAPHORMER, LLAMA, OLMOE, RAG_SEQUENCE, T5},
};
use crate::harness::Harness;
use std::cell::Cell;
use testgen_types::{Check, DeviceKind, EntryStatus, Precision, Registration};

/// The status of a check of a copy, and its reason or summary.
fn checked(harness: &'static Harness, check: Check, fixture: &Fixture) -> (EntryStatus, String) {
    let registration = Registration {
        device: DeviceKind::Cpu,
        check,
        precision: Precision::F32,
    };
    let entry = harnesses::report_entry(harness, registration, Fault::None, fixture.base());
    (entry.status, entry.reason.unwrap_or_default())
}

/// Changes the last recorded token of each row, which the model does not read.
fn other_last_tokens(tensors: &mut Tensors) {
    let steps = tensors.shape("tokens.greedy")[1];
    let count = Cell::new(0_usize);
    tensors.integers("tokens.greedy", |token| {
        count.set(count.get() + 1);
        if count.get().is_multiple_of(steps) {
            (token + 1) % 100
        } else {
            token
        }
    });
}

#[test]
fn tokens_within_their_margin_are_counted() {
    let unchanged = super::result(&LLAMA, Check::GreedyMargin, Fault::None);
    assert!(
        unchanged.0 == EntryStatus::Pass && !unchanged.1.contains("margin"),
        "{unchanged:?}"
    );
    let excused = Fixture::new(&LLAMA).golden(|tensors| {
        other_last_tokens(tensors);
        tensors.floats("margin.greedy", |margins| margins.fill(0.0));
    });
    let (status, summary) = checked(&LLAMA, Check::GreedyMargin, &excused);
    assert_eq!(status, EntryStatus::Pass, "{summary}");
    assert!(
        summary.contains("2 tokens differ within their margin"),
        "{summary}"
    );
}

/// The recorded choice of the first token has the likeliest expert that was not chosen in place of
/// another one.
#[test]
fn tokens_of_other_experts_within_their_margin_are_counted() {
    let unchanged = super::result(&OLMOE, Check::RouterGolden, Fault::None);
    assert!(
        unchanged.0 == EntryStatus::Pass && !unchanged.1.contains("margin"),
        "{unchanged:?}"
    );
    let excused = Fixture::new(&OLMOE).golden(|tensors| {
        tensors.floats("routing.0", |weights| {
            let place = |chosen: bool| {
                weights
                    .iter()
                    .position(|weight| (*weight != 0.0) == chosen)
                    .unwrap()
            };
            let [one, other] = [place(true), place(false)];
            weights.swap(one, other);
        });
    });
    let (status, summary) = checked(&OLMOE, Check::RouterGolden, &excused);
    assert_eq!(status, EntryStatus::Pass, "{summary}");
    assert!(
        summary.contains("1 tokens are routed to other experts within their margin"),
        "{summary}"
    );
}

/// A recorded answer of other tokens is accepted only if its margin is below four times the error
/// that is allowed for a logit, which grows with the largest recorded logit.
#[test]
fn another_answer_is_accepted_only_within_its_margin() {
    let with = |margin: f32, logits: fn(&mut Vec<f32>)| {
        let changed = Fixture::new(&RAG_SEQUENCE).golden(|tensors| {
            tensors.integers("tokens.answer", |id| id + 1);
            tensors.floats("margin.answer", |margins| margins.fill(margin));
            tensors.floats("output.logits", logits);
        });
        checked(&RAG_SEQUENCE, Check::RetrievalGolden, &changed)
    };
    let accepted = [with(0.0, |_| {}), with(1.0, |logits| logits[0] = 1e6)];
    assert!(
        accepted
            .iter()
            .all(|(status, _)| *status == EntryStatus::Pass),
        "{accepted:?}"
    );
    for (status, reason) in [with(1.0, |_| {}), with(0.0, |logits| logits.fill(0.0))] {
        assert_eq!(status, EntryStatus::Fail);
        assert!(reason.contains("answer 0: expected"), "{reason}");
    }
}

/// The first column of the decoder's input begins the generation, once for each row.
#[test]
fn a_decoder_without_recorded_start_tokens_generates() {
    let changed = Fixture::new(&T5).golden(|tensors| {
        for name in [
            "tokens.start",
            "tokens.greedy",
            "tokens.logits",
            "margin.greedy",
        ] {
            tensors.remove(name);
        }
    });
    let (status, reason) = checked(&T5, Check::GenerationControls, &changed);
    assert_eq!(status, EntryStatus::Pass, "{reason}");
}

/// No node sees another one, so padding that is made nodes has no influence either.
#[test]
fn attention_without_values_is_detected() {
    let changed = Fixture::new(&GRAPHORMER).weights(|tensors| {
        for layer in 0..2 {
            let name = format!("encoder.graph_encoder.layers.{layer}.self_attn.v_proj.weight");
            tensors.floats(&name, |values| values.fill(0.0));
        }
    });
    let (status, reason) = checked(&GRAPHORMER, Check::MaskGolden, &changed);
    assert_eq!(status, EntryStatus::Fail, "{reason}");
    assert!(
        reason.contains("padding has no influence even where `input_nodes` says that it is nodes"),
        "{reason}"
    );
}
