//! Faults in the behaviour of a model, and the check that each of them must turn red; `coverage`
//! does so for every architecture.
//!
//! Faults that can be put into a file (weights, configuration, golden) are in
//! `tests/checks/faults`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod coverage;
pub(super) mod faulty;
mod faulty_operators;
mod files;
#[expect(
    dead_code,
    reason = "two test binaries share it, and each needs a part"
)]
#[path = "../../tests/checks/fixture.rs"]
mod fixture;
mod harnesses;
mod on_host;
mod parts;
#[path = "../../tests/checks/requests.rs"]
mod requests;
mod status;
mod timed;

use crate::harness::Harness;
use faulty::Fault;
pub(super) use fixture::fixtures;
use harnesses::{LLAMA, RAG_SEQUENCE, RAG_TOKEN, T5, WHISPER};
pub(super) use on_host::OnHost;
use std::{collections::BTreeSet, fs, path::Path};
use testgen_types::{Check, DeviceKind, EntryStatus, Precision, Registration, SubjectKind};

/// Asserts that a check passes without a fault, and fails with it for a reason that contains
/// `part`.
fn red(harness: &Harness, check: Check, fault: Fault, part: &str) {
    let (status, reason) = result(harness, check, Fault::None);
    assert_eq!(status, EntryStatus::Pass, "without a fault: {reason}");
    let (status, reason) = result(harness, check, fault);
    assert_eq!(status, EntryStatus::Fail, "{reason}");
    assert!(reason.contains(part), "no `{part}` in: {reason}");
}

fn result(harness: &Harness, check: Check, fault: Fault) -> (EntryStatus, String) {
    let registration = Registration {
        device: DeviceKind::Cpu,
        check,
        precision: Precision::F32,
    };
    let entry = harnesses::report_entry(harness, registration, fault, &fixture::fixtures());
    (entry.status, entry.reason.unwrap_or_default())
}

#[test]
fn a_wrong_tail_of_a_tile_is_detected() {
    red(&LLAMA, Check::ShapeSweep, Fault::WrongTailAt33, "length 33");
}

#[test]
fn an_ignored_mask_is_detected() {
    red(
        &LLAMA,
        Check::MaskGolden,
        Fault::MaskIgnored,
        "`case.2.logits at real positions`",
    );
    red(
        &LLAMA,
        Check::MaskGolden,
        Fault::MaskIgnored,
        "`logits with other ids at masked positions`",
    );
    red(
        &LLAMA,
        Check::PadInvariance,
        Fault::MaskIgnored,
        "padded left",
    );
}

#[test]
fn an_ignored_mask_of_the_encoder_is_detected() {
    red(
        &T5,
        Check::MaskGolden,
        Fault::MaskIgnored,
        "`logits with other ids at masked positions of the encoder`",
    );
    red(
        &T5,
        Check::PadInvariance,
        Fault::MaskIgnored,
        "`logits padded right of the encoder`",
    );
    red(
        &RAG_TOKEN,
        Check::MaskGolden,
        Fault::MaskIgnored,
        "with other ids at masked positions of the encoder",
    );
}

#[test]
fn keys_of_a_source_that_survive_a_reset_are_detected() {
    for harness in [&T5, &WHISPER, &RAG_TOKEN, &RAG_SEQUENCE] {
        red(
            harness,
            Check::KvCacheEquivalence,
            Fault::ResetKeepsSource,
            "`logits unpadded, step by step`",
        );
    }
}

#[test]
fn a_cache_that_survives_a_reset_is_detected() {
    red(
        &LLAMA,
        Check::KvCacheEquivalence,
        Fault::ResetKeepsCache,
        "expected integers of shape [2, 39]",
    );
}

#[test]
fn faults_of_a_generator_that_marginalises_over_passages_are_detected() {
    red(
        &RAG_TOKEN,
        Check::RetrievalGolden,
        Fault::WrongLastPassage,
        "made questions, row 0: passage",
    );
    red(
        &RAG_TOKEN,
        Check::KvCacheEquivalence,
        Fault::WrongChunk,
        "in chunks",
    );
    red(
        &RAG_TOKEN,
        Check::CausalLeak,
        Fault::FirstSeesLast,
        "before position 1",
    );
    red(
        &RAG_TOKEN,
        Check::ShapeSweep,
        Fault::WrongRowOfFive,
        "batch 3 of 5",
    );
    red(
        &RAG_TOKEN,
        Check::GreedyMargin,
        Fault::CacheDrifts,
        "tokens.logits step 2",
    );
    red(
        &RAG_TOKEN,
        Check::GenerationControls,
        Fault::LogitsDependOnHistory,
        "are not the first of",
    );
}

/// Whatever else checks are made of has a folder; `correct` runs other work after a check.
#[test]
fn every_file_is_a_check() {
    let of_models = Check::ALL
        .iter()
        .filter(|check| check.entry().subjects.contains(&SubjectKind::Model))
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        files(
            "src/check",
            &[
                "comparison",
                "correct",
                "inputs",
                "operators",
                "run",
                "tests"
            ]
        ),
        of_models
    );
    let of_operators: BTreeSet<String> = Check::ALL
        .iter()
        .filter(|check| check.entry().subjects.contains(&SubjectKind::Operators))
        .map(ToString::to_string)
        .collect();
    let others: Vec<String> = files("src/check/operators", &["calls"])
        .difference(&of_operators)
        .cloned()
        .collect();
    assert_eq!(others, [""; 0]);
}

/// The names of the files in a folder, without the heads of its folders.
fn files(folder: &str, heads: &[&str]) -> BTreeSet<String> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let files = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file());
    let names = files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned());
    names
        .filter(|name| !heads.contains(&name.as_str()))
        .collect()
}
