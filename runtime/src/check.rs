//! The checks: one file for each, behind one exhaustive match.
//!
//! Owns: what is proven, and the outcome. Does not own: which checks a harness has (contract), nor how they are listed,
//! locked and reported (suite). A check passes only when it ran on the device that it names.

mod batch_invariance;
mod causal_leak;
mod config_effective;
mod detection_golden;
mod determinism;
mod dtype_ladder;
mod embed_golden;
mod examination;
mod fallback_marked;
mod finite;
mod generation_controls;
mod graph_padding;
mod graphs;
mod greedy_margin;
mod half_probe;
mod kv_cache_equivalence;
mod layer_trace_golden;
mod load_keys_exact;
mod mask_golden;
mod memory_released;
mod mock_marked;
mod observation;
mod outcome;
mod output_golden;
mod pad_invariance;
mod placement;
mod preprocess_golden;
mod require_honoured;
mod retrieval_golden;
mod router_golden;
mod routing;
mod rows;
mod sequences;
mod shape_sweep;

pub(crate) use examination::Context;
pub(crate) use outcome::{Evidence, Outcome, Verdict};

use crate::Harness;
use examination::Examination;
use outcome::{Failures, Stop};
use testgen_contract::{Check, DeviceKind, Registration};

/// What a check gives back: something worth telling of a pass, or why it is none.
type Found = Result<Option<String>, Stop>;

/// Makes one check.
pub(crate) fn run(registration: Registration, harness: &Harness, context: &Context<'_>) -> Outcome {
    let mut exam = Examination::new(registration, harness, context);
    let panics = crate::device_panics();
    let found = check(registration.check)(&mut exam);
    let found = match crate::device_panic_messages(panics) {
        messages if messages.is_empty() || registration.device == DeviceKind::Cpu => found,
        messages => {
            Err(Stop::Fail(format!("the device's thread panicked, its results are void: {}", messages.join("; "))))
        }
    };
    exam.into_outcome(found)
}

fn check(check: Check) -> fn(&mut Examination<'_>) -> Found {
    match check {
        Check::LoadKeysExact => load_keys_exact::run,
        Check::ConfigEffective => config_effective::run,
        Check::Placement => placement::run,
        Check::PreprocessGolden => preprocess_golden::run,
        Check::EmbedGolden => embed_golden::run,
        Check::LayerTraceGolden => layer_trace_golden::run,
        Check::OutputGolden => output_golden::run,
        Check::DetectionGolden => detection_golden::run,
        Check::RouterGolden => router_golden::run,
        Check::RetrievalGolden => retrieval_golden::run,
        Check::Finite => finite::run,
        Check::MaskGolden => mask_golden::run,
        Check::CausalLeak => causal_leak::run,
        Check::PadInvariance => pad_invariance::run,
        Check::BatchInvariance => batch_invariance::run,
        Check::KvCacheEquivalence => kv_cache_equivalence::run,
        Check::ShapeSweep => shape_sweep::run,
        Check::Determinism => determinism::run,
        Check::DtypeLadder => dtype_ladder::run,
        Check::HalfProbe => half_probe::run,
        Check::GreedyMargin => greedy_margin::run,
        Check::GenerationControls => generation_controls::run,
        Check::MemoryReleased => memory_released::run,
        Check::FallbackMarked => fallback_marked::run,
        Check::MockMarked => mock_marked::run,
        Check::RequireHonoured => require_honoured::run,
    }
}

/// Why a check cannot be made with this checkpoint, as far as the files alone tell; for listings that cannot wait.
pub(crate) fn inapplicable(check: Check, checkpoint: &crate::Checkpoint) -> Option<String> {
    let golden = || crate::golden::Golden::read(checkpoint.directory()).ok();
    match check {
        Check::EmbedGolden => golden().and_then(|golden| embed_golden::inapplicable(&golden)),
        Check::LayerTraceGolden => golden().and_then(|golden| layer_trace_golden::inapplicable(&golden)),
        Check::DetectionGolden => golden().and_then(|golden| detection_golden::inapplicable(&golden)),
        Check::RetrievalGolden => golden().and_then(|golden| retrieval_golden::inapplicable(&golden)),
        Check::PreprocessGolden => golden().and_then(|golden| preprocess_golden::inapplicable(&golden)),
        Check::CausalLeak => golden().and_then(|golden| causal_leak::inapplicable(&golden.model_class)),
        Check::RouterGolden => golden().and_then(|golden| router_golden::inapplicable(&golden)),
        Check::GreedyMargin => golden().and_then(|golden| greedy_margin::inapplicable(&golden)),
        Check::KvCacheEquivalence => {
            golden().and_then(|golden| kv_cache_equivalence::inapplicable(&golden.model_class))
        }
        Check::GenerationControls => golden().and_then(|golden| generation_controls::inapplicable(&golden.model_class)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
