//! One cell of the matrix: a model on a device in a precision, all its checks taken together.

use super::{Entry, Merged, Standing};
use std::collections::BTreeMap;
use testgen_contract::{Architecture, Check, OutputError, Precision, Record};

/// A model on a device in a precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The family of the model.
    pub architecture: Architecture,
    /// The model.
    pub model: String,
    /// The index of the column in [`Merged::columns`].
    pub column: usize,
    /// The precision.
    pub precision: Precision,
    /// What its checks amount to: the gravest that matters, and never a pass when no number was computed.
    pub standing: Standing,
    /// How many checks have each standing.
    pub counts: BTreeMap<Standing, usize>,
    /// The compared tensor with the least headroom.
    pub tightest: Option<OutputError>,
    /// The first layer whose hidden state is outside its threshold.
    pub first_diverging: Option<String>,
    /// Milliseconds of all checks.
    pub milliseconds: f64,
    /// Bytes that the load took, the most of all checks.
    pub memory: Option<u64>,
}

/// The cells of a report, in the order of its entries.
pub fn cells(merged: &Merged) -> Vec<Cell> {
    let same = |a: &Entry, b: &Entry| {
        (&a.record.model, a.column, a.record.precision) == (&b.record.model, b.column, b.record.precision)
    };
    merged.entries.chunk_by(same).map(Cell::of).collect()
}

impl Cell {
    fn of(entries: &[Entry]) -> Self {
        let mut counts = BTreeMap::new();
        for entry in entries {
            *counts.entry(entry.judged.standing).or_default() += 1;
        }
        let Record { architecture, ref model, precision, .. } = entries[0].record;
        // The ladder compares the other precisions, too; they have cells of their own.
        let compared = entries.iter().filter(|entry| entry.record.check != Check::DtypeLadder);
        let outputs = compared.flat_map(|entry| &entry.record.outputs);
        Self {
            architecture,
            model: model.clone(),
            column: entries[0].column,
            precision,
            standing: standing(entries),
            tightest: outputs.min_by(|a, b| a.headroom.total_cmp(&b.headroom)).cloned(),
            first_diverging: entries.iter().find_map(|entry| first_diverging(&entry.record)).map(str::to_owned),
            milliseconds: entries.iter().map(|entry| entry.record.milliseconds).sum(),
            memory: entries.iter().filter_map(|entry| loaded_bytes(&entry.record)).max(),
            counts,
        }
    }
}

/// The gravest standing. Passes of checks about mocks and fallbacks alone are no pass of the cell, and neither are passes
/// without `output_golden`, which every model has in every precision.
fn standing(entries: &[Entry]) -> Standing {
    let gravest = |numeric: bool| {
        let of_kind = entries.iter().filter(|entry| entry.record.check.is_numeric() == numeric);
        of_kind.map(|entry| entry.judged.standing).min()
    };
    let numbers = gravest(true).unwrap_or(Standing::Ignored);
    let numbers = match numbers {
        Standing::Pass | Standing::Simulated if !compares_outputs(entries) => Standing::Incomplete,
        other => other,
    };
    match gravest(false) {
        Some(other) if other < Standing::Incomplete => numbers.min(other),
        Some(_) | None => numbers,
    }
}

fn compares_outputs(entries: &[Entry]) -> bool {
    let holds = |standing| matches!(standing, Standing::Pass | Standing::Simulated);
    entries.iter().any(|entry| entry.record.check == Check::OutputGolden && holds(entry.judged.standing))
}

/// The first hidden state, in the order of the layers, that is outside its threshold.
pub(super) fn first_diverging(record: &Record) -> Option<&str> {
    record.outputs.iter().filter(|output| is_outside(output)).find_map(|output| output.name.strip_prefix("trace."))
}

/// Whether a tensor is further off than allowed; NaN is.
pub(super) fn is_outside(output: &OutputError) -> bool {
    let inside = output.rel_l2 <= output.rel_l2_threshold && output.max_rel <= output.max_rel_threshold;
    !inside
}

/// What the load added to the memory in use.
pub(super) fn loaded_bytes(record: &Record) -> Option<u64> {
    let memory = record.memory?;
    memory.in_use_after?.checked_sub(memory.in_use_before?)
}

/// The error as people read it: a number, or that there is none.
pub(crate) fn error_text(output: &OutputError) -> String {
    match (output.rel_l2 < f64::MAX, output.non_finite) {
        (true, 0) => format!("{:.2e}", output.rel_l2),
        (false, 0) => "not comparable".to_owned(),
        (_, 1) => "NaN or infinity in 1 element".to_owned(),
        (_, count) => format!("NaN or infinity in {count} elements"),
    }
}
