//! The rows of cells, checks and outputs. The script reads them by position, in the order of the
//! `Serialize` implementations.

use serde::{Serialize, Serializer};
use testgen_types::WorstElement;

/// A row of `cells`.
#[derive(Debug)]
pub(super) struct CellData {
    pub(super) model: usize,
    pub(super) column: usize,
    pub(super) precision: usize,
    /// The status of the numbers, then their tightest tensor.
    pub(super) status: usize,
    pub(super) error: Option<f64>,
    pub(super) headroom: Option<f64>,
    pub(super) non_finite: u64,
    pub(super) first_diverging: Option<usize>,
    pub(super) milliseconds: f64,
    pub(super) memory: Option<u64>,
    /// Of the other checks the most severe status, the number of checks with it, and of all.
    pub(super) others: [usize; 3],
    pub(super) checks: Vec<CheckData>,
}

/// A row of a cell's checks.
#[derive(Debug)]
pub(super) struct CheckData {
    pub(super) check: usize,
    pub(super) status: usize,
    pub(super) red: bool,
    pub(super) reason: Option<usize>,
    pub(super) note: Option<usize>,
    pub(super) milliseconds: f64,
    pub(super) memory: Option<u64>,
    pub(super) source: usize,
    pub(super) first_diverging: Option<usize>,
    pub(super) outputs: Vec<OutputData>,
    /// The sentence about its errors over depth.
    pub(super) depth: Option<usize>,
    pub(super) layers: Vec<LayerData>,
}

/// name, error, the reference's own error.
#[derive(Debug, Serialize)]
pub(super) struct LayerData(
    pub(super) usize,
    pub(super) Option<f64>,
    pub(super) Option<f64>,
);

/// A row of a check's outputs.
#[derive(Debug)]
pub(super) struct OutputData {
    pub(super) name: usize,
    pub(super) rel_l2: Option<f64>,
    pub(super) max_rel: Option<f64>,
    pub(super) thresholds: usize,
    pub(super) non_finite: u64,
    pub(super) worst: Vec<WorstData>,
}

/// index, expected, got, or `None` for NaN and infinity.
#[derive(Debug, Serialize)]
pub(super) struct WorstData(Vec<usize>, Option<f64>, Option<f64>);

impl Serialize for CellData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            model,
            column,
            precision,
            status,
            error,
            headroom,
            non_finite,
            ..
        } = self;
        let Self {
            first_diverging,
            milliseconds,
            memory,
            others,
            checks,
            ..
        } = self;
        let row = (
            model,
            column,
            precision,
            status,
            error,
            headroom,
            non_finite,
            first_diverging,
            milliseconds,
            memory,
            others,
            checks,
        );
        row.serialize(serializer)
    }
}

impl Serialize for CheckData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            check,
            status,
            red,
            reason,
            note,
            milliseconds,
            memory,
            source,
            first_diverging,
            outputs,
            depth,
            layers,
        } = self;
        let row = (
            check,
            status,
            // One digit in place of `true` or `false`, in each of tens of thousands of rows.
            u8::from(*red),
            reason,
            note,
            milliseconds,
            memory,
            source,
            first_diverging,
            outputs,
        );
        // Most checks compare no layers.
        if layers.is_empty() {
            row.serialize(serializer)
        } else {
            let (a, b, c, d, e, f, g, h, i, j) = row;
            (a, b, c, d, e, f, g, h, i, j, depth, layers).serialize(serializer)
        }
    }
}

impl Serialize for OutputData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            name,
            rel_l2,
            max_rel,
            thresholds,
            non_finite,
            worst,
        } = self;
        // Most outputs have neither.
        if *non_finite == 0 && worst.is_empty() {
            (name, rel_l2, max_rel, thresholds).serialize(serializer)
        } else {
            (name, rel_l2, max_rel, thresholds, non_finite, worst).serialize(serializer)
        }
    }
}

impl WorstData {
    pub(super) fn new(worst: &WorstElement) -> Self {
        Self(
            worst.index.clone(),
            below_infinity(worst.expected),
            below_infinity(worst.got),
        )
    }
}

/// Three digits, or `None` for `f64::MAX`, which reports contain for NaN, infinity and tensors that
/// cannot be compared.
pub(super) fn finite(value: f64) -> Option<f64> {
    (value < f64::MAX).then(|| round(value))
}

/// Three digits.
pub(super) fn round(value: f64) -> f64 {
    // Through decimal text: arithmetic would leave digits in the last places, which JSON would
    // have.
    format!("{value:.2e}").parse().unwrap_or(value)
}

fn below_infinity(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.abs() < f64::MAX)
}
