//! The features that checks need of an engine's model besides its outputs. A model without them has nothing to compare, which is not an
//! agreement.

use super::outcome::Abort;
use crate::engine;
use testgen_engine::Feature;
use testgen_types::Check;

/// Ends `check` as ignored if the engine's model lacks what it needs.
pub(super) fn confirm(check: Check) -> Result<(), Abort> {
    match needed(check).and_then(engine::lacks) {
        Some(reason) => Err(Abort::Skip(format!("the engine does not support it: {reason}"))),
        None => Ok(()),
    }
}

fn needed(check: Check) -> Option<Feature> {
    match check {
        Check::EmbedGolden | Check::LayerTraceGolden | Check::RouterGolden => Some(Feature::HiddenStates),
        Check::ConfigEffective => Some(Feature::Configuration),
        Check::LoadKeysExact => Some(Feature::Tensors),
        Check::Placement
        | Check::PreprocessGolden
        | Check::OutputGolden
        | Check::DetectionGolden
        | Check::RetrievalGolden
        | Check::HandlerGolden
        | Check::Finite
        | Check::MaskGolden
        | Check::CausalLeak
        | Check::PadInvariance
        | Check::BatchInvariance
        | Check::KvCacheEquivalence
        | Check::ShapeSweep
        | Check::Determinism
        | Check::DtypeLadder
        | Check::AttentionPaths
        | Check::ExpertPaths
        | Check::HalfProbe
        | Check::GreedyMargin
        | Check::GenerationControls
        | Check::Forward
        | Check::Shapes
        | Check::SpecialValues
        | Check::Relations
        | Check::Integers
        | Check::Stress
        | Check::MemoryReleased
        | Check::FallbackMarked
        | Check::MockMarked
        | Check::RequireHonoured => None,
    }
}
