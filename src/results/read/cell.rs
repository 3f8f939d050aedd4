//! One cell of the result matrix: a model on a device in a precision. Its numbers and its other
//! checks have a status each.

use super::{MergedEntry, MergedReport, ResultStatus};
use std::collections::BTreeMap;
use testgen_types::{Architecture, Check, ErrorsOverDepth, OutputError, Precision, ReportEntry};

/// A model on a device in a precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The architecture of the model.
    pub architecture: Architecture,
    /// The model.
    pub model: String,
    /// The index of the column in [`MergedReport::columns`].
    pub column: usize,
    /// The precision.
    pub precision: Precision,
    /// The checks that compare numbers with the reference; never a pass when the outputs were not
    /// compared.
    pub numbers: CellPart,
    /// All other checks.
    pub others: CellPart,
    /// The first layer whose hidden state is outside its threshold.
    pub first_diverging: Option<String>,
    /// The errors of its layers: where they rise, otherwise of the first check that has them.
    pub depth: Option<ErrorsOverDepth>,
    /// Milliseconds of all checks.
    pub milliseconds: f64,
    /// Bytes that loading the model took, the maximum over all checks.
    pub memory: Option<u64>,
}

/// Some of the checks of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellPart {
    /// The most severe status; ignored where there is no check.
    pub status: ResultStatus,
    /// The number of checks by status.
    pub counts: BTreeMap<ResultStatus, usize>,
    /// The compared tensor with the least headroom.
    pub tightest: Option<OutputError>,
}

/// The cells of a report, in the order of its entries.
pub fn cells(merged: &MergedReport) -> Vec<Cell> {
    merged
        .entries
        .chunk_by(are_of_one_cell)
        .map(Cell::new)
        .collect()
}

fn are_of_one_cell(a: &MergedEntry, b: &MergedEntry) -> bool {
    (&a.entry.model, a.column, a.entry.precision) == (&b.entry.model, b.column, b.entry.precision)
}

impl Cell {
    fn new(entries: &[MergedEntry]) -> Self {
        let (numbers, others): (Vec<&MergedEntry>, Vec<&MergedEntry>) = entries
            .iter()
            .partition(|merged| merged.entry.check.compares_numbers());
        let ReportEntry {
            architecture,
            ref model,
            precision,
            ..
        } = entries[0].entry;
        let first_diverging = numbers
            .iter()
            .find_map(|merged| first_diverging(&merged.entry))
            .map(str::to_owned);
        let depth = depth(&numbers);
        let mut numbers = CellPart::new(&numbers);
        // A more severe status is kept: it says more than a missing comparison.
        if computes_without_comparing(entries) && numbers.status >= ResultStatus::Incomplete {
            numbers.status = ResultStatus::Incomplete;
        }
        Self {
            architecture,
            model: model.clone(),
            column: entries[0].column,
            precision,
            numbers,
            others: CellPart::new(&others),
            first_diverging,
            depth,
            milliseconds: entries.iter().map(|merged| merged.entry.milliseconds).sum(),
            memory: entries
                .iter()
                .filter_map(|merged| loaded_bytes(&merged.entry))
                .max(),
        }
    }

    /// The most severe status of all checks. Passes of other checks do not replace numbers that are
    /// missing.
    pub fn status(&self) -> ResultStatus {
        if self.others.is_severe() {
            self.numbers.status.min(self.others.status)
        } else {
            self.numbers.status
        }
    }

    /// Whether it is more than passed, simulated and ignored checks.
    pub fn is_notable(&self) -> bool {
        self.status() <= ResultStatus::Incomplete
    }

    /// The compared tensor with the least headroom, of all checks.
    pub fn tightest(&self) -> Option<&OutputError> {
        tightest(
            [&self.numbers, &self.others]
                .into_iter()
                .filter_map(|part| part.tightest.as_ref()),
        )
    }

    /// The number of checks.
    pub fn checks(&self) -> usize {
        self.numbers.checks() + self.others.checks()
    }
}

impl CellPart {
    fn new(entries: &[&MergedEntry]) -> Self {
        let mut counts = BTreeMap::new();
        for merged in entries {
            *counts.entry(merged.evaluation.status).or_default() += 1;
        }
        // `dtype_ladder` also compares the other precisions, which have separate cells.
        let compared = entries
            .iter()
            .filter(|merged| merged.entry.check != Check::DtypeLadder);
        Self {
            status: counts
                // The keys are in the order of severity.
                .keys()
                .next()
                .copied()
                .unwrap_or(ResultStatus::Ignored),
            tightest: tightest(compared.flat_map(|merged| &merged.entry.outputs)).cloned(),
            counts,
        }
    }

    /// Whether a check failed, passed unexpectedly, or ran elsewhere than on the named device.
    pub fn is_severe(&self) -> bool {
        self.status < ResultStatus::Incomplete
    }

    /// The number of checks.
    pub fn checks(&self) -> usize {
        self.counts.values().sum()
    }

    /// The number of checks with the most severe status.
    pub fn most_severe(&self) -> usize {
        self.counts.values().next().copied().unwrap_or(0)
    }
}

/// The errors by layer of the first check in which they rise, or of the first that has them.
fn depth(entries: &[&MergedEntry]) -> Option<ErrorsOverDepth> {
    let all: Vec<ErrorsOverDepth> = entries
        .iter()
        .filter_map(|merged| ErrorsOverDepth::new(&merged.entry.layers))
        .collect();
    // A rise first, because it names a layer.
    let rises = all.iter().find(|errors| errors.rise.is_some());
    rises.or(all.first()).cloned()
}

fn tightest<'o>(outputs: impl Iterator<Item = &'o OutputError>) -> Option<&'o OutputError> {
    outputs.min_by(|a, b| a.headroom.total_cmp(&b.headroom))
}

/// Whether numeric checks passed without `output_golden` or `forward`, one of which every model and
/// every operator has in every precision.
fn computes_without_comparing(entries: &[MergedEntry]) -> bool {
    let passed: Vec<Check> = entries
        .iter()
        .filter(|merged| {
            matches!(
                merged.evaluation.status,
                ResultStatus::Pass | ResultStatus::Simulated
            )
        })
        .map(|merged| merged.entry.check)
        .collect();
    passed.iter().any(|check| check.is_numeric())
        && !passed.contains(&Check::OutputGolden)
        // Operators have no golden: `forward` compares them with their reference.
        && !passed.contains(&Check::Forward)
}

/// The first hidden state, in the order of the layers, that is outside its threshold.
pub(crate) fn first_diverging(entry: &ReportEntry) -> Option<&str> {
    entry
        .outputs
        .iter()
        .filter(|output| output.is_outside())
        .find_map(|output| output.name.strip_prefix("trace."))
}

/// Bytes by which loading the model increased the memory in use.
pub(crate) fn loaded_bytes(entry: &ReportEntry) -> Option<u64> {
    let memory = entry.memory?;
    // Other processes can free memory meanwhile, and the difference would be negative.
    memory.in_use_after?.checked_sub(memory.in_use_before?)
}

/// The error as text: a number, or the reason why there is none.
pub(crate) fn error_text(output: &OutputError) -> String {
    // JSON has no infinity, so that the runtime writes the largest number in its place.
    match (output.rel_l2 < f64::MAX, output.non_finite) {
        (true, 0) => format!("{:.2e}", output.rel_l2),
        (false, 0) => "not comparable".to_owned(),
        (_, 1) => "NaN or infinity in 1 element".to_owned(),
        (_, count) => format!("NaN or infinity in {count} elements"),
    }
}
