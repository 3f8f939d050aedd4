//! One cell of the result matrix: a model on a device in a precision, with all its checks combined.

use super::{Merged, MergedEntry, ResultStatus};
use std::collections::BTreeMap;
use testgen_types::{Architecture, Check, OutputError, Precision, ReportEntry};

/// A model on a device in a precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The architecture of the model.
    pub architecture: Architecture,
    /// The model.
    pub model: String,
    /// The index of the column in [`Merged::columns`].
    pub column: usize,
    /// The precision.
    pub precision: Precision,
    /// The most severe status of its checks; never a pass when no number was computed.
    pub status: ResultStatus,
    /// The number of checks by status.
    pub counts: BTreeMap<ResultStatus, usize>,
    /// The compared tensor with the least headroom.
    pub tightest: Option<OutputError>,
    /// The first layer whose hidden state is outside its threshold.
    pub first_diverging: Option<String>,
    /// Milliseconds of all checks.
    pub milliseconds: f64,
    /// Bytes that loading the model took, the maximum over all checks.
    pub memory: Option<u64>,
}

/// The cells of a report, in the order of its entries.
pub fn cells(merged: &Merged) -> Vec<Cell> {
    let same = |a: &MergedEntry, b: &MergedEntry| {
        (&a.entry.model, a.column, a.entry.precision) == (&b.entry.model, b.column, b.entry.precision)
    };
    merged.entries.chunk_by(same).map(Cell::of).collect()
}

impl Cell {
    fn of(entries: &[MergedEntry]) -> Self {
        let mut counts = BTreeMap::new();
        for merged in entries {
            *counts.entry(merged.evaluation.status).or_default() += 1;
        }
        let ReportEntry { architecture, ref model, precision, .. } = entries[0].entry;
        // `dtype_ladder` also compares the other precisions, which have cells of their own.
        let compared = entries.iter().filter(|merged| merged.entry.check != Check::DtypeLadder);
        let outputs = compared.flat_map(|merged| &merged.entry.outputs);
        Self {
            architecture,
            model: model.clone(),
            column: entries[0].column,
            precision,
            status: status(entries),
            tightest: outputs.min_by(|a, b| a.headroom.total_cmp(&b.headroom)).cloned(),
            first_diverging: entries.iter().find_map(|merged| first_diverging(&merged.entry)).map(str::to_owned),
            milliseconds: entries.iter().map(|merged| merged.entry.milliseconds).sum(),
            memory: entries.iter().filter_map(|merged| loaded_bytes(&merged.entry)).max(),
            counts,
        }
    }
}

/// The most severe status. Checks of mocks and fallbacks alone do not make a cell pass, and neither do numeric passes
/// without `output_golden` or `forward`, one of which every model and every operator has in every precision.
fn status(entries: &[MergedEntry]) -> ResultStatus {
    let most_severe = |numeric: bool| {
        let of_kind = entries.iter().filter(|merged| merged.entry.check.is_numeric() == numeric);
        of_kind.map(|merged| merged.evaluation.status).min()
    };
    let numbers = most_severe(true).unwrap_or(ResultStatus::Ignored);
    let numbers = match numbers {
        ResultStatus::Pass | ResultStatus::Simulated if !compares_outputs(entries) => ResultStatus::Incomplete,
        other => other,
    };
    match most_severe(false) {
        Some(other) if other < ResultStatus::Incomplete => numbers.min(other),
        Some(_) | None => numbers,
    }
}

fn compares_outputs(entries: &[MergedEntry]) -> bool {
    let passes = |status| matches!(status, ResultStatus::Pass | ResultStatus::Simulated);
    let compares = |check| matches!(check, Check::OutputGolden | Check::Forward);
    entries.iter().any(|merged| compares(merged.entry.check) && passes(merged.evaluation.status))
}

/// The first hidden state, in the order of the layers, that is outside its threshold.
pub(crate) fn first_diverging(entry: &ReportEntry) -> Option<&str> {
    entry.outputs.iter().filter(|output| is_outside(output)).find_map(|output| output.name.strip_prefix("trace."))
}

/// Whether the error of a tensor exceeds its thresholds, or that of an element its bound; true for NaN, for which every comparison is
/// false.
pub(crate) fn is_outside(output: &OutputError) -> bool {
    let inside = output.rel_l2 <= output.rel_l2_threshold
        && output.max_rel <= output.max_rel_threshold
        && output.headroom >= 1.0;
    !inside
}

/// Bytes by which loading the model increased the memory in use.
pub(crate) fn loaded_bytes(entry: &ReportEntry) -> Option<u64> {
    let memory = entry.memory?;
    memory.in_use_after?.checked_sub(memory.in_use_before?)
}

/// The error as text: a number, or the reason why there is none.
pub(crate) fn error_text(output: &OutputError) -> String {
    match (output.rel_l2 < f64::MAX, output.non_finite) {
        (true, 0) => format!("{:.2e}", output.rel_l2),
        (false, 0) => "not comparable".to_owned(),
        (_, 1) => "NaN or infinity in 1 element".to_owned(),
        (_, count) => format!("NaN or infinity in {count} elements"),
    }
}
