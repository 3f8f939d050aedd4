//! The checks: one file per check, and an exhaustive match from [`Check`] to its function.
//!
//! Owns what each check proves and its outcome. Which checks a harness must have is defined in `testgen_types`; listing,
//! locking and reporting are in `suite`. A check passes only if it ran on the device that it names.

mod attention_paths;
mod batch_invariance;
mod causal_leak;
mod check_run;
mod config_effective;
mod detection_golden;
mod determinism;
mod dtype_ladder;
mod embed_golden;
mod expert_paths;
mod fallback_marked;
mod finite;
mod generation_controls;
mod graph_padding;
mod graphs;
mod greedy_margin;
mod half_probe;
mod handler_golden;
mod hardware;
mod implementations;
mod kv_cache_equivalence;
mod layer_trace_golden;
mod load_keys_exact;
mod mask_golden;
mod measured_memory;
mod memory_released;
mod mock_marked;
mod needed_feature;
mod operators;
mod outcome;
mod output_golden;
mod outputs_by_position;
mod pad_invariance;
mod placement;
mod precision_support;
mod preprocess_golden;
mod require_honoured;
mod retrieval_golden;
mod router_golden;
mod routing;
mod rows;
mod sequences;
mod shape_sweep;
mod stream;

pub(crate) use check_run::Context;
pub(crate) use outcome::{CheckStatus, Evidence, Outcome};

use crate::harness::Harness;
use check_run::CheckRun;
use outcome::CheckResult;
use testgen_types::{Architecture, Check, Registration, Task};

/// Runs one check.
pub(crate) fn run(registration: Registration, harness: &Harness, context: &Context<'_>) -> Outcome {
    let of_operators = match harness.spec.architecture {
        Architecture::Operators => operators::implementation(registration.check),
        _ => None,
    };
    let implementation = of_operators.unwrap_or_else(|| implementation(registration.check));
    check_run::execute(implementation, registration, harness, context)
}

fn implementation(check: Check) -> fn(&mut CheckRun<'_>) -> CheckResult {
    match check {
        Check::LoadKeysExact => load_keys_exact::check,
        Check::ConfigEffective => config_effective::check,
        Check::Placement => placement::check,
        Check::PreprocessGolden => preprocess_golden::check,
        Check::EmbedGolden => embed_golden::check,
        Check::LayerTraceGolden => layer_trace_golden::check,
        Check::OutputGolden => output_golden::check,
        Check::DetectionGolden => detection_golden::check,
        Check::RouterGolden => router_golden::check,
        Check::RetrievalGolden => retrieval_golden::check,
        Check::HandlerGolden => handler_golden::check,
        Check::Finite => finite::check,
        Check::MaskGolden => mask_golden::check,
        Check::CausalLeak => causal_leak::check,
        Check::PadInvariance => pad_invariance::check,
        Check::BatchInvariance => batch_invariance::check,
        Check::KvCacheEquivalence => kv_cache_equivalence::check,
        Check::ShapeSweep => shape_sweep::check,
        Check::Determinism => determinism::check,
        Check::DtypeLadder => dtype_ladder::check,
        Check::AttentionPaths => attention_paths::check,
        Check::ExpertPaths => expert_paths::check,
        Check::HalfProbe => half_probe::check,
        Check::GreedyMargin => greedy_margin::check,
        Check::GenerationControls => generation_controls::check,
        Check::MemoryReleased => memory_released::check,
        Check::Forward | Check::Shapes | Check::SpecialValues | Check::Relations | Check::Integers | Check::Stress => {
            operators::of_model
        }
        Check::FallbackMarked => fallback_marked::check,
        Check::MockMarked => mock_marked::check,
        Check::RequireHonoured => require_honoured::check,
    }
}

/// Why a check does not apply to this checkpoint, as its golden and its recorded answers show without loading the model, which a
/// listing must not do.
pub(crate) fn inapplicable(check: Check, task: Task, checkpoint: &testgen_models::Checkpoint) -> Option<String> {
    // A golden that cannot be read is not a reason to ignore a check: the check runs, and fails with the error.
    let golden = || crate::golden::Golden::read(checkpoint.directory()).ok();
    match check {
        Check::EmbedGolden => golden().and_then(|golden| embed_golden::inapplicable(&golden)),
        Check::LayerTraceGolden => golden().and_then(|golden| layer_trace_golden::inapplicable(&golden)),
        Check::DetectionGolden => golden().and_then(|golden| detection_golden::inapplicable(&golden)),
        Check::RetrievalGolden => golden().and_then(|golden| retrieval_golden::inapplicable(&golden)),
        Check::PreprocessGolden => golden().and_then(|golden| preprocess_golden::inapplicable(&golden)),
        Check::HandlerGolden => crate::recorded_answer::inapplicable(checkpoint.directory(), task),
        Check::CausalLeak => golden().and_then(|golden| causal_leak::inapplicable(&golden.model_class)),
        Check::RouterGolden => golden().and_then(|golden| router_golden::inapplicable(&golden)),
        Check::GreedyMargin => golden().and_then(|golden| greedy_margin::inapplicable(&golden)),
        Check::KvCacheEquivalence => {
            golden().and_then(|golden| kv_cache_equivalence::inapplicable(&golden.model_class))
        }
        Check::GenerationControls => golden().and_then(|golden| generation_controls::inapplicable(&golden.model_class)),
        // The others apply to every checkpoint, or find out only while they run.
        _ => None,
    }
}

#[cfg(test)]
mod tests;
