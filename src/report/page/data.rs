//! The data of the page, compact because a report has tens of thousands of checks: each string
//! once, arrays instead of objects, and three digits instead of seventeen.
//!
//! Does not own: the rows of cells, checks and outputs (`data/rows.rs`).

mod comparison;
mod numbered;
mod rows;

use crate::{
    compare::ReportComparison,
    results::read::{
        Cell, CellPart, Column, MergedEntry, MergedReport, ResultStatus, StatusCounts, cells,
        first_diverging, loaded_bytes,
    },
};
use comparison::BaseComparison;
use numbered::Numbered;
use rows::{CellData, CheckData, LayerData, OutputData, WorstData, finite, round};
use serde::Serialize;
use std::collections::BTreeMap;
use testgen_types::{Check, ErrorsOverDepth, HardwareInfo, LayerError, OutputError, Precision};

/// All data that the script reads.
#[derive(Debug, Serialize)]
pub(super) struct ReportPageData {
    green: bool,
    statuses: Vec<[&'static str; 3]>,
    /// The number of checks by status: the checks that compare numbers, and the others.
    counts: [Vec<usize>; 2],
    precisions: Vec<&'static str>,
    /// Name, and whether the check compares numbers.
    checks: Vec<(&'static str, bool)>,
    problems: Vec<String>,
    sources: Vec<String>,
    columns: Vec<ColumnData>,
    /// Name and architecture.
    models: Vec<(String, &'static str)>,
    cells: Vec<CellData>,
    /// The allowed |d| / |ref| and max |d| / max |ref|.
    thresholds: Vec<[f64; 2]>,
    strings: Vec<String>,
    base: Option<BaseComparison>,
}

#[derive(Debug, Serialize)]
struct ColumnData {
    device: &'static str,
    label: String,
    simulated: bool,
    real: bool,
    tf32: bool,
    memory: Option<u64>,
    hardware: Vec<HardwareInfo>,
    testgen: Vec<String>,
    sources: Vec<usize>,
}

impl ReportPageData {
    pub(super) fn new(merged: &MergedReport, base: Option<&ReportComparison>) -> Self {
        let mut pool = ValuePool::default();
        let mut models = Models::default();
        let mut rest = merged.entries.as_slice();
        let mut cell_data = Vec::new();
        let StatusCounts { numbers, others } = merged.counts();
        for cell in cells(merged) {
            // `cells` groups consecutive entries, so the next entries belong to the next cell.
            let (entries, later) = rest.split_at(cell.checks());
            rest = later;
            cell_data.push(pool.cell(cell, entries, &mut models));
        }
        Self {
            green: merged.is_green(),
            // The scripts have no list of statuses or checks: rows refer to these by position.
            statuses: ResultStatus::ALL
                .iter()
                .map(|s| [s.word(), s.sign(), s.meaning()])
                .collect(),
            counts: [by_status(&numbers), by_status(&others)],
            precisions: Precision::ALL
                .iter()
                .map(|precision| precision.as_str())
                .collect(),
            checks: Check::ALL
                .iter()
                .map(|check| (check.as_str(), check.compares_numbers()))
                .collect(),
            problems: merged.problems.clone(),
            sources: merged.sources.clone(),
            columns: merged.columns.iter().map(ColumnData::new).collect(),
            models: models.list,
            cells: cell_data,
            thresholds: pool
                .thresholds
                .list
                .into_iter()
                .map(|pair| pair.map(f64::from_bits))
                .collect(),
            strings: pool.strings.list,
            base: base.map(BaseComparison::new),
        }
    }
}

/// Strings and thresholds, each once.
#[derive(Debug, Default)]
struct ValuePool {
    strings: Numbered<String>,
    thresholds: Numbered<[u64; 2]>,
}

#[derive(Debug, Default)]
struct Models {
    list: Vec<(String, &'static str)>,
}

impl Models {
    /// Entries are sorted by model, so comparing with the last one is sufficient.
    fn number(&mut self, cell: &Cell) -> usize {
        if self.list.last().is_none_or(|(name, _)| *name != cell.model) {
            self.list
                .push((cell.model.clone(), cell.architecture.as_str()));
        }
        self.list.len() - 1
    }
}

impl ValuePool {
    fn cell(&mut self, cell: Cell, entries: &[MergedEntry], models: &mut Models) -> CellData {
        let tightest = cell.numbers.tightest.as_ref();
        CellData {
            model: models.number(&cell),
            column: cell.column,
            precision: number_of(Precision::ALL, cell.precision),
            status: number_of(ResultStatus::ALL, cell.numbers.status),
            error: tightest.and_then(|output| finite(output.rel_l2)),
            headroom: tightest.and_then(|output| finite(output.headroom)),
            non_finite: tightest.map_or(0, |output| output.non_finite),
            first_diverging: cell.first_diverging.map(|layer| self.strings.number(layer)),
            milliseconds: round(cell.milliseconds),
            memory: cell.memory,
            others: others(&cell.others),
            checks: entries.iter().map(|merged| self.check(merged)).collect(),
        }
    }

    fn check(&mut self, merged: &MergedEntry) -> CheckData {
        let MergedEntry {
            entry,
            evaluation,
            source,
            ..
        } = merged;
        let depth = ErrorsOverDepth::new(&entry.layers).map(|errors| errors.describe());
        let mut text = |text: Option<&str>| text.map(|text| self.strings.number(text.to_owned()));
        CheckData {
            check: number_of(Check::ALL, entry.check),
            status: number_of(ResultStatus::ALL, evaluation.status),
            red: evaluation.red,
            reason: text(entry.reason.as_deref()),
            note: text(evaluation.note.as_deref()),
            milliseconds: round(entry.milliseconds),
            memory: loaded_bytes(entry),
            source: *source,
            first_diverging: text(first_diverging(entry)),
            depth: text(depth.as_deref()),
            outputs: entry
                .outputs
                .iter()
                .map(|output| self.output(output))
                .collect(),
            layers: entry.layers.iter().map(|layer| self.layer(layer)).collect(),
        }
    }

    fn layer(&mut self, layer: &LayerError) -> LayerData {
        LayerData(
            self.strings.number(layer.name.clone()),
            finite(layer.rel_l2),
            layer.reference.map(round),
        )
    }

    fn output(&mut self, output: &OutputError) -> OutputData {
        // As bits, because floats cannot be keys of the pool.
        let thresholds =
            [output.rel_l2_threshold, output.max_rel_threshold].map(|value| round(value).to_bits());
        OutputData {
            name: self.strings.number(output.name.clone()),
            rel_l2: finite(output.rel_l2),
            max_rel: finite(output.max_rel),
            thresholds: self.thresholds.number(thresholds),
            non_finite: output.non_finite,
            worst: output.worst.iter().map(WorstData::new).collect(),
        }
    }
}

impl ColumnData {
    fn new(column: &Column) -> Self {
        Self {
            device: column.device.as_str(),
            label: column.label(),
            simulated: column.simulated,
            real: column.is_real(),
            tf32: column.tf32,
            memory: column.memory,
            hardware: column.hardware.iter().cloned().collect(),
            testgen: column.testgen.iter().cloned().collect(),
            sources: column.sources.iter().copied().collect(),
        }
    }
}

fn by_status(counts: &BTreeMap<ResultStatus, usize>) -> Vec<usize> {
    ResultStatus::ALL
        .iter()
        .map(|status| counts.get(status).copied().unwrap_or(0))
        .collect()
}

fn others(part: &CellPart) -> [usize; 3] {
    [
        number_of(ResultStatus::ALL, part.status),
        part.most_severe(),
        part.checks(),
    ]
}

fn number_of<T: PartialEq + Copy>(all: &[T], variant: T) -> usize {
    all.iter()
        .position(|other| *other == variant)
        .expect("`ALL` has every variant")
}
