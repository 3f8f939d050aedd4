//! The groups of cases, each computed on its own, so that one failure does not affect the others.

/// A group of cases.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProbeQuestion {
    /// Values that are copied to the device and back.
    Stored,
    /// Sums of pairs.
    Sums,
    /// Products of pairs.
    Products,
    /// Values that are rounded from f32.
    Casts,
    /// The matrix product that determines the accumulator.
    Cancelling,
    /// The matrix product that determines the error.
    Random,
    /// The matrix product that shows the features of the matrix unit.
    Fingerprint,
}

/// The answers to a group of cases, in order, or the error.
pub(super) type ProbedValues = Result<Vec<f64>, String>;
