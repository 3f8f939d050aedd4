//! Faults of a model's behaviour, which no file can hold: each turns its check red, in every architecture (coverage).
//!
//! Faults of files, by their names in a model, are in `tests/checks/faults`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod coverage;
mod faulty;
#[expect(dead_code, reason = "two test binaries share it, and each needs a part")]
#[path = "../../tests/checks/fixture.rs"]
mod fixture;
mod harnesses;

use crate::Harness;
use faulty::Fault;
use harnesses::{LLAMA, RAG_SEQUENCE, RAG_TOKEN, T5, WHISPER};
use testgen_contract::{Check, DeviceKind, Precision, RecordStatus, Registration};

/// Asserts that a check is green without and red with a fault, and that it says `part`.
fn red(harness: &Harness, check: Check, fault: Fault, part: &str) {
    let (status, reason) = made(harness, check, Fault::None);
    assert_eq!(status, RecordStatus::Pass, "without a fault: {reason}");
    let (status, reason) = made(harness, check, fault);
    assert_eq!(status, RecordStatus::Fail, "{reason}");
    assert!(reason.contains(part), "no `{part}` in: {reason}");
}

fn made(harness: &Harness, check: Check, fault: Fault) -> (RecordStatus, String) {
    let registration = Registration { device: DeviceKind::Cpu, check, precision: Precision::F32 };
    let record = harnesses::record(harness, registration, fault, &fixture::fixtures());
    (record.status, record.reason.unwrap_or_default())
}

#[test]
fn a_wrong_tail_of_a_tile_is_seen() {
    red(&LLAMA, Check::ShapeSweep, Fault::WrongTailAt33, "length 33");
}

#[test]
fn a_mask_that_is_ignored_is_seen() {
    red(&LLAMA, Check::MaskGolden, Fault::MaskIgnored, "`case.2.logits at real positions`");
    red(&LLAMA, Check::MaskGolden, Fault::MaskIgnored, "`logits with other ids at masked positions`");
    red(&LLAMA, Check::PadInvariance, Fault::MaskIgnored, "padded left");
}

#[test]
fn a_mask_of_the_encoder_that_is_ignored_is_seen() {
    let told = "`logits with other ids at masked positions of the encoder`";
    red(&T5, Check::MaskGolden, Fault::MaskIgnored, told);
    red(&T5, Check::PadInvariance, Fault::MaskIgnored, "`logits padded right of the encoder`");
    red(&RAG_TOKEN, Check::MaskGolden, Fault::MaskIgnored, "with other ids at masked positions of the encoder");
}

#[test]
fn keys_of_a_source_that_outlive_their_reset_are_seen() {
    for harness in [&T5, &WHISPER, &RAG_TOKEN, &RAG_SEQUENCE] {
        red(harness, Check::KvCacheEquivalence, Fault::ResetKeepsSource, "`logits unpadded, step by step`");
    }
}

#[test]
fn a_cache_that_is_not_forgotten_is_seen() {
    red(&LLAMA, Check::KvCacheEquivalence, Fault::ResetKeepsCache, "expected integers of shape [2, 39]");
}

#[test]
fn a_generator_that_chooses_each_token_by_all_passages_is_seen_to_be_wrong() {
    red(&RAG_TOKEN, Check::RetrievalGolden, Fault::WrongLastPassage, "made questions, row 0: passage");
    red(&RAG_TOKEN, Check::KvCacheEquivalence, Fault::WrongChunk, "in chunks");
    red(&RAG_TOKEN, Check::CausalLeak, Fault::FirstSeesLast, "before position 1");
    red(&RAG_TOKEN, Check::ShapeSweep, Fault::WrongRowOfFive, "batch 3 of 5");
    red(&RAG_TOKEN, Check::GreedyMargin, Fault::CacheDrifts, "tokens.logits step 2");
    red(&RAG_TOKEN, Check::GenerationControls, Fault::LogitsDependOnHistory, "are not the first of");
}
