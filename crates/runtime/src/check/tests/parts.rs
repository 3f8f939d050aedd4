//! Every position, length and batch that a check names is compared, and its summary counts them; a
//! check that could prove nothing fails.

mod close_choice;
mod no_positions;

use super::{
    super::{causal_leak, dtype_ladder, mask_golden, run::Abort, shape_sweep},
    OnHost,
    faulty::{Fault, Faulty},
    fixture::Fixture,
    harnesses,
};
use close_choice::CloseChoice;
use testgen_models::{Capabilities, ErasedModel};
use testgen_nn::{
    array::{Array, Arrays},
    forward::{Forward, ForwardError, Session},
};
use testgen_types::{
    Architecture, Check, DeviceKind, EntryStatus, ModelType, Precision, Registration,
};

/// A model that computes the same for all texts of equal length, whatever their inputs with these
/// names are.
struct SameForAllTexts(Box<dyn ErasedModel>, &'static [&'static str]);

static BOTH: [&str; 2] = ["input_ids", "attention_mask"];

impl ErasedModel for SameForAllTexts {
    fn forward(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError> {
        let mut inputs = inputs.clone();
        for name in self.1 {
            if let Some(array) = inputs.get_mut(*name) {
                *array = Array::integers(array.shape(), vec![1; array.values().len()]);
            }
        }
        self.0.forward(&inputs, traced)
    }

    fn session(&self) -> Result<Option<Box<dyn Session + '_>>, ForwardError> {
        self.0.session()
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
}

/// The reason of a check that failed.
fn failure(result: Result<Option<String>, Abort>) -> String {
    match result {
        Err(Abort::Fail(reason)) => reason,
        other => panic!("it did not fail: {other:?}"),
    }
}

#[test]
fn texts_that_change_nothing_prove_nothing() {
    let encoder = OnHost::for_architecture(Architecture::EncoderOnly);
    for ignoring in [
        encoder.with_network(|inner| Box::new(SameForAllTexts(inner, &BOTH))),
        // A mask that has an influence by itself does not show that ids have one.
        encoder.with_network(|inner| Box::new(SameForAllTexts(inner, &BOTH[..1]))),
    ] {
        let reason = failure(ignoring.run(mask_golden::check));
        assert!(
            reason
                .contains("other ids at masked positions have no influence even without the mask"),
            "{reason}"
        );
    }
    let decoder = OnHost::for_architecture(Architecture::DecoderOnly)
        .with_network(|inner| Box::new(SameForAllTexts(inner, &BOTH)));
    let reason = failure(decoder.run(causal_leak::check));
    assert_eq!(
        reason,
        "the replaced tokens change no output at all, so this check proves nothing"
    );
}

#[test]
fn a_change_at_the_start_in_the_middle_and_at_the_end_must_not_leak() {
    let leaking = OnHost::for_architecture(Architecture::DecoderOnly)
        .with_network(|inner| Box::new(Faulty::new(inner, Fault::FirstSeesLast, Precision::F32)));
    let reason = failure(leaking.run(causal_leak::check));
    for start in [1, 12, 23] {
        assert!(
            reason.contains(&format!("`logits before position {start}`")),
            "{start}: {reason}"
        );
    }
}

#[test]
fn each_length_is_compared_with_the_beginning_of_the_longest() {
    let wrong = OnHost::for_architecture(Architecture::DecoderOnly)
        .with_network(|inner| Box::new(Faulty::new(inner, Fault::WrongTailAt33, Precision::F32)));
    let reason = failure(wrong.run(shape_sweep::check));
    assert!(reason.contains("`logits, length 33 of 129`"), "{reason}");
}

#[test]
fn a_sweep_reports_what_it_has_compared() {
    let compared = |fixture: OnHost| fixture.run(shape_sweep::check).unwrap().unwrap();
    let texts = compared(OnHost::for_architecture(Architecture::DecoderOnly));
    assert_eq!(
        texts,
        "lengths [1, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129], batches [1, 3, 5]"
    );
    // The recording has 2927 samples: one less, three quarters of it, and half.
    let recordings = compared(OnHost::of_fixture(
        Architecture::Speech,
        ModelType::Wav2Vec2,
        "wav2vec2",
    ));
    assert_eq!(
        recordings,
        "batches [1, 3, 5], 2926 samples, 2196 samples, 1464 samples"
    );
    let graphs = compared(OnHost::for_architecture(Architecture::Graph));
    assert!(
        graphs.starts_with("batches [1, 3, 5], 1 nodes, 7 nodes, 31 nodes"),
        "{graphs}"
    );
}

#[test]
fn tokens_after_a_close_choice_of_experts_are_counted() {
    let close = OnHost::for_architecture(Architecture::Moe)
        .with_network(|inner| Box::new(CloseChoice(inner)));
    let summary = close.run(shape_sweep::check).unwrap().unwrap();
    let after = |lengths: &[usize]| {
        lengths
            .iter()
            .map(|length| length - close_choice::TOKEN)
            .sum::<usize>()
    };
    // Batches of one, of three and the last row; and every row of a length below the longest.
    let left_out = (3 + 1 + 1) * after(&[7, 31, 32, 33]) + 5 * after(&[7, 31, 32]);
    let expected = format!("; {left_out} tokens after a close choice of experts are not compared");
    assert!(
        summary.ends_with(&expected),
        "no `{expected}` in: {summary}"
    );
}

#[test]
fn two_rows_are_a_batch() {
    let two_rows = Fixture::new(&harnesses::BERT).golden(|tensors| {
        for name in tensors
            .names()
            .iter()
            .filter(|name| name.starts_with("case."))
        {
            tensors.remove(name);
        }
    });
    let registration = Registration {
        device: DeviceKind::Cpu,
        check: Check::BatchInvariance,
        precision: Precision::F32,
    };
    let entry =
        harnesses::report_entry(&harnesses::BERT, registration, Fault::None, two_rows.base());
    assert_eq!(entry.status, EntryStatus::Pass, "{:?}", entry.reason);
}

#[test]
fn a_ladder_has_at_least_two_steps() {
    let ladder = |precisions| {
        OnHost::for_architecture(Architecture::EncoderOnly)
            .with_precisions(precisions)
            .run(dtype_ladder::check)
    };
    assert!(
        matches!(ladder(&[Precision::F32]), Err(Abort::Skip(reason)) if reason.contains("only one precision"))
    );
    let two = ladder(&[Precision::F32, Precision::F16]).unwrap().unwrap();
    assert!(
        two.contains("last_hidden_state: f32 ") && two.contains(", f16 "),
        "{two}"
    );
}
