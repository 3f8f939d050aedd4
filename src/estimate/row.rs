//! One estimate of a table.

use testgen_estimate::{Backend, Estimate};
use testgen_types::Precision;

/// One estimate.
#[derive(Debug, Clone, Copy)]
pub struct EstimateRow {
    /// The backend: the host processor, or any GPU.
    pub backend: Backend,
    /// The precision.
    pub precision: Precision,
    /// Its bytes.
    pub estimate: Estimate,
}
