//! The statistics that a norm returns beside its result, compared with f64.
//!
//! Of f32 only. Kernels of MIOpen 3.3 write the statistics of 16 bits in the type of the result or
//! as f32, whatever the descriptor says, and no function returns which kernel has run.

use crate::evaluation::{ResultEvaluation, evaluate};
use testgen_operators::{
    calls::Call,
    cases::{Arithmetic, Reference, norm_statistics},
};
use testgen_types::Precision;

/// The reference of the statistics of a norm.
pub(super) struct NormStatistics(Reference);

impl NormStatistics {
    /// The statistics of a call, or `None` if none are returned or their type is not known.
    pub(super) fn new(call: &Call, precision: Precision) -> Option<Self> {
        if precision != Precision::F32 {
            return None;
        }
        norm_statistics(call, Arithmetic::for_precision(precision)).map(Self)
    }

    /// Compares the numbers of the workspace: the means, which a norm by the mean of squares does
    /// not write, then the reciprocals.
    pub(super) fn evaluate(&self, written: &[f64]) -> ResultEvaluation {
        // The workspace has room for means in any case; without them the reciprocals are its second
        // half.
        let start = written.len().saturating_sub(self.0.numbers.len());
        let evaluation = evaluate(&self.0, &written[start..], None);
        let failure = evaluation.failure;
        ResultEvaluation {
            headroom: evaluation.headroom,
            failure: failure.map(|failure| format!("mean and reciprocal deviation: {failure}")),
        }
    }
}
