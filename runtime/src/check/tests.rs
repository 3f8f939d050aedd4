//! Faults of a model's behaviour, which no file can hold: each turns its check red.
//!
//! Faults of files are in `tests/conformance/faults`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod faulty;

use crate::{
    Checkpoint, DeviceRequest, Endpoint, Harness, Registered, Source, Spec, host_processor, load, open, suite, task,
};
use faulty::{Fault, Faulty};
use std::path::Path;
use testgen_contract::{Architecture, Check, DeviceKind, ModelType, Precision, RecordStatus, Task};

const SPEC_VALUE: Spec = Spec {
    name: "llama",
    model_type: ModelType::Llama,
    architecture: Architecture::DecoderOnly,
    task: Task::TextGeneration,
    source: Source { path: "llama", hub: None },
    devices: &[DeviceKind::Cpu],
    precisions: &[Precision::F32],
    tolerances: &[],
    vram_mib: None,
};

static SPEC: Spec = SPEC_VALUE;

static T5: Spec = Spec {
    name: "t5",
    model_type: ModelType::T5,
    architecture: Architecture::EncoderDecoder,
    task: Task::Text2TextGeneration,
    source: Source { path: "t5", hub: None },
    ..SPEC_VALUE
};

static WHISPER: Spec = Spec {
    name: "whisper",
    model_type: ModelType::Whisper,
    architecture: Architecture::Speech,
    task: Task::SpeechRecognition,
    source: Source { path: "whisper", hub: None },
    ..SPEC_VALUE
};

static RAG_TOKEN: Spec = Spec { name: "rag_token", source: Source { path: "rag_token", hub: None }, ..RAG_VALUE };

static RAG_SEQUENCE: Spec =
    Spec { name: "rag_sequence", source: Source { path: "rag_sequence", hub: None }, ..RAG_VALUE };

const RAG_VALUE: Spec = Spec {
    model_type: ModelType::Rag,
    architecture: Architecture::Rag,
    task: Task::RetrievalAugmentedGeneration,
    ..SPEC_VALUE
};

/// The fixture with a fault in its behaviour.
fn broken(spec: &'static Spec, checkpoint: &Checkpoint, label: &str, fault: Fault) -> Endpoint {
    let device = open(host_processor()).unwrap();
    let model = load(spec, checkpoint, &device, Precision::F32).unwrap();
    let model = model.with_run(|inner| Box::new(Faulty::new(inner, fault)));
    Endpoint::real(label, DeviceKind::Cpu, device, model, task::text_generation)
}

/// Asserts that a check is green without and red with a fault, and that it says `part`.
macro_rules! red {
    ($check:ident, $fault:ident, $part:literal) => {
        red!(SPEC, $check, $fault, $part)
    };
    ($spec:ident, $check:ident, $fault:ident, $part:literal) => {{
        fn init(checkpoint: &Checkpoint, _: &DeviceRequest, label: &str) -> Endpoint {
            broken(&$spec, checkpoint, label, Fault::$fault)
        }
        fn sound(checkpoint: &Checkpoint, _: &DeviceRequest, label: &str) -> Endpoint {
            broken(&$spec, checkpoint, label, Fault::None)
        }
        let (status, reason) = made(&$spec, Check::$check, sound);
        assert_eq!(status, RecordStatus::Pass, "without a fault: {reason}");
        let (status, reason) = made(&$spec, Check::$check, init);
        assert_eq!(status, RecordStatus::Fail, "{reason}");
        assert!(reason.contains($part), "no `{}` in: {reason}", $part);
    }};
}

fn made(spec: &'static Spec, check: Check, init: crate::Init) -> (RecordStatus, String) {
    let harness = Harness { spec, init_cpu: init, init_cuda: init, init_rocm: init, checks: &[] };
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let record = suite::record(&harness, Registered::run(DeviceKind::Cpu, check, Precision::F32), &base);
    (record.status, record.reason.unwrap_or_default())
}

#[test]
fn a_run_that_is_not_the_last_one_over_again_is_seen() {
    red!(Determinism, EverySecondCallOneBitOff, "run 2: logits differs in 1 elements");
}

#[test]
fn a_row_that_knows_the_size_of_its_batch_is_seen() {
    red!(BatchInvariance, RowDependsOnBatch, "`logits of row 0 alone`");
}

#[test]
fn a_wrong_tail_of_a_tile_is_seen() {
    red!(ShapeSweep, WrongTailAt33, "length 33");
}

#[test]
fn a_wrong_last_row_of_an_odd_batch_is_seen() {
    red!(ShapeSweep, WrongRowOfFive, "batch 3 of 5");
}

#[test]
fn a_look_into_the_future_is_seen() {
    red!(CausalLeak, FirstSeesLast, "before position 1");
}

#[test]
fn a_mask_that_is_ignored_is_seen() {
    red!(MaskGolden, MaskIgnored, "`case.2.logits at real positions`");
    red!(MaskGolden, MaskIgnored, "`logits with other ids at masked positions`");
    red!(PadInvariance, MaskIgnored, "padded left");
}

#[test]
fn a_mask_of_the_encoder_that_is_ignored_is_seen() {
    red!(T5, MaskGolden, MaskIgnored, "`logits with other ids at masked positions of the encoder`");
    red!(T5, PadInvariance, MaskIgnored, "`logits padded right of the encoder`");
}

#[test]
fn keys_of_a_source_that_outlive_their_reset_are_seen() {
    red!(T5, KvCacheEquivalence, ResetKeepsSource, "`logits unpadded, step by step`");
}

#[test]
fn an_encoder_decoder_with_a_wrong_tail_or_a_look_ahead_is_seen() {
    red!(T5, ShapeSweep, WrongTailAt33, "length 33");
    red!(T5, CausalLeak, FirstSeesLast, "before position 1");
    red!(T5, KvCacheEquivalence, WrongChunk, "in chunks");
    red!(T5, GreedyMargin, CacheDrifts, "tokens.logits step 2");
    red!(T5, GenerationControls, LogitsDependOnHistory, "are not the first of");
    red!(T5, BatchInvariance, RowDependsOnBatch, "`logits of row 0 alone`");
}

#[test]
fn a_decoder_of_speech_that_keeps_or_drops_too_much_is_seen() {
    red!(WHISPER, KvCacheEquivalence, ResetKeepsSource, "`logits unpadded, step by step`");
    red!(WHISPER, CausalLeak, FirstSeesLast, "before position 1");
    red!(WHISPER, ShapeSweep, WrongRowOfFive, "batch 3 of 5");
    red!(WHISPER, GreedyMargin, CacheDrifts, "tokens.logits step 2");
    red!(WHISPER, GenerationControls, LogitsDependOnHistory, "are not the first of");
    red!(WHISPER, Determinism, EverySecondCallOneBitOff, "run 2: logits differs in 1 elements");
}

#[test]
fn a_search_that_is_not_exact_is_seen() {
    red!(RAG_TOKEN, RetrievalGolden, WrongLastPassage, "made questions, row 0: passage");
    red!(RAG_SEQUENCE, RetrievalGolden, WrongLastPassage, "made questions, row 0: passage");
}

#[test]
fn a_generator_with_passages_that_keeps_or_drops_too_much_is_seen() {
    red!(RAG_TOKEN, KvCacheEquivalence, ResetKeepsSource, "`logits unpadded, step by step`");
    red!(RAG_TOKEN, KvCacheEquivalence, WrongChunk, "in chunks");
    red!(RAG_TOKEN, MaskGolden, MaskIgnored, "with other ids at masked positions of the encoder");
    red!(RAG_TOKEN, CausalLeak, FirstSeesLast, "before position 1");
    red!(RAG_TOKEN, ShapeSweep, WrongRowOfFive, "batch 3 of 5");
    red!(RAG_TOKEN, GreedyMargin, CacheDrifts, "tokens.logits step 2");
    red!(RAG_TOKEN, GenerationControls, LogitsDependOnHistory, "are not the first of");
}

#[test]
fn a_generator_for_each_passage_that_keeps_or_drops_too_much_is_seen() {
    red!(RAG_SEQUENCE, KvCacheEquivalence, ResetKeepsSource, "`logits unpadded, step by step`");
    red!(RAG_SEQUENCE, CausalLeak, FirstSeesLast, "before position 1");
    red!(RAG_SEQUENCE, BatchInvariance, RowDependsOnBatch, "`logits of row 0 alone`");
    red!(RAG_SEQUENCE, GreedyMargin, CacheDrifts, "tokens.logits step 2");
    red!(RAG_SEQUENCE, Determinism, EverySecondCallOneBitOff, "run 2: logits differs in 1 elements");
}

#[test]
fn an_output_elsewhere_is_seen() {
    red!(Placement, OutputOnOtherDevice, "`logits` lives on cuda, not on cpu");
}

#[test]
fn a_wrong_step_of_a_chunk_is_seen() {
    red!(KvCacheEquivalence, WrongChunk, "in chunks");
}

#[test]
fn a_cache_that_is_not_forgotten_is_seen() {
    red!(KvCacheEquivalence, ResetKeepsCache, "expected integers of shape [2, 39]");
}

#[test]
fn a_cache_that_drifts_is_seen() {
    red!(GreedyMargin, CacheDrifts, "tokens.logits step 2");
}

#[test]
fn generations_that_do_not_repeat_are_seen() {
    red!(GenerationControls, LogitsDependOnHistory, "are not the first of");
}
