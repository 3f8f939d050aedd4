//! Faults that are put into the golden, as if another model had been recorded.

use crate::{fixture::Fixture, harnesses};
use testgen_types::{Check, EntryStatus};

pub(crate) fn wrong_mask_sign() {
    let inverted = |harness| {
        Fixture::new(harness)
            .golden(|tensors| tensors.integers("input.attention_mask", |mask| 1 - mask))
    };
    let fault = inverted(&harnesses::bert::HARNESS);
    fault.turns_red(
        Check::OutputGolden,
        &[
            "`last_hidden_state`",
            "first diverges at `layer.0`; `embed` still agrees",
        ],
    );
    fault.turns_red(Check::MaskGolden, &["at real positions"]);
    inverted(&harnesses::llama::HARNESS).turns_red(Check::OutputGolden, &["`logits`"]);
}

/// A mask that hides everything, or has other values than 0 and 1: the golden is named as the
/// cause.
pub(crate) fn impossible_mask() {
    for harness in [&harnesses::bert::HARNESS, &harnesses::llama::HARNESS] {
        let fault = |mask: i64| {
            Fixture::new(harness)
                .golden(|tensors| tensors.integers("input.attention_mask", |_| mask))
        };
        let golden = "golden.safetensors` cannot be read";
        fault(0).turns_red(
            Check::MaskGolden,
            &[golden, "`input.attention_mask`", "it hides every token"],
        );
        fault(2).turns_red(
            Check::OutputGolden,
            &[golden, "element 0 is 2; a mask has 0 and 1"],
        );
    }
}

pub(crate) fn other_tokens() {
    let fault = Fixture::new(&harnesses::llama::HARNESS)
        .golden(|tensors| tensors.integers("tokens.greedy", |token| (token + 1) % 164));
    fault.turns_red(
        Check::GreedyMargin,
        &["row 0, step 0", "instead of", "although the margin"],
    );
}

pub(crate) fn token_outside_the_vocabulary() {
    let fault = Fixture::new(&harnesses::bert::HARNESS)
        .golden(|tensors| tensors.integers("input.input_ids", |token| token + 1_000_000));
    let refused = "`input_ids` has 1000";
    fault.turns_red(
        Check::OutputGolden,
        &[refused, "`golden.safetensors` records these inputs"],
    );
    for check in [
        Check::BatchInvariance,
        Check::Determinism,
        Check::LayerTraceGolden,
        Check::MaskGolden,
    ] {
        fault.turns_red(
            check,
            &[refused, "the inputs are those of `golden.safetensors`"],
        );
    }
}

pub(crate) fn other_class() {
    let fault = Fixture::new(&harnesses::bert::HARNESS).golden(|tensors| {
        drop(
            tensors
                .metadata
                .insert("model_class".to_owned(), "BertForPoetry".to_owned()),
        )
    });
    fault.turns_red(
        Check::OutputGolden,
        &["`BertForPoetry` in golden.safetensors is not a supported class of `bert`"],
    );
}

pub(crate) fn other_shape() {
    let fault = Fixture::new(&harnesses::bert::HARNESS)
        .golden(|tensors| tensors.reshape("output.last_hidden_state", &[2, 32, 16]));
    fault.turns_red(
        Check::OutputGolden,
        &["its shape is [2, 16, 32], expected [2, 32, 16]"],
    );
}

/// A golden with the required parts alone is valid: checks that need the others are ignored with
/// the reason, and do not pass.
pub(crate) fn no_trace_is_ignored() {
    let bare = Fixture::new(&harnesses::bert::HARNESS).golden(|tensors| {
        for name in ["trace.embed", "trace.layer.0", "trace.layer.1"] {
            tensors.remove(name);
        }
        tensors.metadata.retain(|key, _| key == "model_class");
    });
    for check in [
        Check::EmbedGolden,
        Check::LayerTraceGolden,
        Check::PreprocessGolden,
    ] {
        let record = bare.check(check);
        assert_eq!(
            record.status,
            EntryStatus::Ignored,
            "{check}: {:?}",
            record.reason
        );
        assert!(
            record
                .reason
                .is_some_and(|reason| reason.contains("the golden has n"))
        );
    }
    let record = bare.check(Check::OutputGolden);
    assert_eq!(record.status, EntryStatus::Pass, "{:?}", record.reason);
    assert!(
        record
            .reason
            .is_some_and(|reason| reason.contains("no noise is recorded for `last_hidden_state`"))
    );
}

/// The golden has the class, and who loads the checkpoint elsewhere gets the base model.
pub(crate) fn no_class_is_a_warning() {
    let fault = Fixture::new(&harnesses::bert::HARNESS)
        .configure("/architectures", serde_json::Value::Null);
    let record = fault.check(Check::LoadKeysExact);
    assert_eq!(record.status, EntryStatus::Pass, "{:?}", record.reason);
    assert!(
        record
            .reason
            .is_some_and(|reason| reason.contains("names no class in `architectures`"))
    );
}

/// The ladder compares with the error of the reference.
pub(crate) fn too_little_noise() {
    let fault = Fixture::new(&harnesses::bert::HARNESS).golden(|tensors| {
        let noise = r#"{"last_hidden_state": [1e-5, 1e-5], "pooler_output": [1e-5, 1e-5]}"#;
        tensors
            .metadata
            .insert("noise.bf16".to_owned(), noise.to_owned());
    });
    fault.turns_red(Check::DtypeLadder, &["bf16", "3 times the reference's own"]);
}

/// The recorded texts have none of the two exchanged tokens.
pub(crate) fn tokens_exchanged_outside_of_the_texts() {
    let fault = Fixture::new(&harnesses::bert::HARNESS).exchange_tokens("19", "so");
    fault.turns_red(
        Check::PreprocessGolden,
        &["the vocabulary is another one than that of the golden"],
    );
    let older = Fixture::new(&harnesses::bert::HARNESS)
        .golden(|tensors| drop(tensors.metadata.remove("vocabulary.sha256")))
        .check(Check::PreprocessGolden);
    assert_eq!(older.status, EntryStatus::Pass, "{:?}", older.reason);
    assert!(
        older
            .reason
            .is_some_and(|reason| reason.contains("the golden has no digest of the vocabulary"))
    );
}

/// Preprocessing must reproduce the recorded ids and pixels.
pub(crate) fn other_front_end() {
    let fault = Fixture::new(&harnesses::bert::HARNESS).golden(|tensors| {
        let text = tensors.metadata["text"].replace("Words", "Wordz");
        tensors.metadata.insert("text".to_owned(), text);
    });
    fault.turns_red(Check::PreprocessGolden, &["`input_ids`", "expected"]);
    let fault =
        Fixture::new(&harnesses::vit::HARNESS).golden(|tensors| tensors.flip_bytes("image.0"));
    fault.turns_red(
        Check::PreprocessGolden,
        &["`pixel_values`", "furthest off at [0, "],
    );
}
