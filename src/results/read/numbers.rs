//! The checks whose results are the numbers of a model, and those that show other properties.

use testgen_types::Check;

/// Whether a check shows that what one forward pass computes on the recorded inputs agrees with the reference, on the device and in the
/// precision of its name.
///
/// The other checks show what surrounds these numbers (loading, input, answers, status) or relations between several runs (masks, batches,
/// caches, implementations). `dtype_ladder` is one of them because it fails for the other precisions, which have cells of their own.
pub(crate) const fn compares_numbers(check: Check) -> bool {
    match check {
        Check::Placement
        | Check::EmbedGolden
        | Check::LayerTraceGolden
        | Check::OutputGolden
        | Check::DetectionGolden
        | Check::RouterGolden
        | Check::RetrievalGolden
        | Check::Finite
        | Check::Forward
        | Check::Shapes
        | Check::SpecialValues
        | Check::Integers
        | Check::Stress => true,
        Check::LoadKeysExact
        | Check::ConfigEffective
        | Check::PreprocessGolden
        | Check::HandlerGolden
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
        | Check::Relations
        | Check::MemoryReleased
        | Check::FallbackMarked
        | Check::MockMarked
        | Check::RequireHonoured => false,
    }
}
