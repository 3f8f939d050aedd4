//! The data of the page: words once and then their numbers, arrays instead of objects, three digits instead of seventeen.
//!
//! The order of fields is the order that the script reads; both change together.

use crate::{
    compare::{Comparison, Verdict},
    report::{
        Cell, Column, Entry, Merged, Standing,
        cell::{cells, first_diverging, loaded_bytes},
    },
};
use serde::{Serialize, Serializer, ser::SerializeTuple};
use std::collections::HashMap;
use testgen_contract::{Check, HardwareRecord, OutputError, Precision, WorstElement};

/// Everything that the script reads.
#[derive(Debug, Serialize)]
pub(super) struct Data {
    green: bool,
    standings: Vec<[&'static str; 3]>,
    /// Checks of each standing.
    counts: Vec<usize>,
    precisions: Vec<&'static str>,
    checks: Vec<&'static str>,
    problems: Vec<String>,
    sources: Vec<String>,
    columns: Vec<ColumnData>,
    /// Name and architecture.
    models: Vec<(String, &'static str)>,
    cells: Vec<CellData>,
    /// |d| / |ref| and max |d| / max |ref| allowed.
    thresholds: Vec<[f64; 2]>,
    strings: Vec<String>,
    base: Option<Base>,
}

#[derive(Debug, Serialize)]
struct ColumnData {
    device: &'static str,
    label: String,
    simulated: bool,
    real: bool,
    tf32: bool,
    memory: Option<u64>,
    hardware: Vec<HardwareRecord>,
    testgen: Vec<String>,
    sources: Vec<usize>,
}

/// model, column, precision, standing, error, headroom, NaN and infinities, first diverging layer, milliseconds, memory,
/// checks.
#[derive(Debug, Serialize)]
struct CellData(
    usize,
    usize,
    usize,
    usize,
    Option<f64>,
    Option<f64>,
    u64,
    Option<usize>,
    f64,
    Option<u64>,
    Vec<CheckData>,
);

/// check, standing, red, reason, note, milliseconds, memory, source, first diverging layer, outputs.
#[derive(Debug, Serialize)]
struct CheckData(
    usize,
    usize,
    u8,
    Option<usize>,
    Option<usize>,
    f64,
    Option<u64>,
    usize,
    Option<usize>,
    Vec<OutputData>,
);

/// name, rel-L2, max-rel, thresholds; NaN and infinities and worst elements only where there are any.
#[derive(Debug)]
struct OutputData {
    name: usize,
    errors: [Option<f64>; 2],
    thresholds: usize,
    non_finite: u64,
    worst: Vec<WorstData>,
}

/// index, expected, got; none where it is NaN or infinite.
#[derive(Debug, Serialize)]
struct WorstData(Vec<usize>, Option<f64>, Option<f64>);

/// counts per verdict, then the checks that are not the same.
#[derive(Debug, Serialize)]
struct Base {
    green: bool,
    counts: Vec<(&'static str, usize)>,
    /// verdict, test, first side, second side, why.
    checks: Vec<[String; 5]>,
}

impl Data {
    pub(super) fn new(merged: &Merged, base: Option<&Comparison>) -> Self {
        let mut words = Words::default();
        let mut models = Models::default();
        let mut rest = merged.entries.as_slice();
        let mut cell_data = Vec::new();
        let counts = merged.counts();
        for cell in cells(merged) {
            let (entries, later) = rest.split_at(cell.counts.values().sum());
            rest = later;
            cell_data.push(words.cell(cell, entries, &mut models));
        }
        Self {
            green: merged.is_green(),
            standings: Standing::ALL.iter().map(|s| [s.word(), s.sign(), s.meaning()]).collect(),
            counts: Standing::ALL.iter().map(|standing| counts.get(standing).copied().unwrap_or(0)).collect(),
            precisions: Precision::ALL.iter().map(|precision| precision.as_str()).collect(),
            checks: Check::ALL.iter().map(|check| check.as_str()).collect(),
            problems: merged.problems.clone(),
            sources: merged.sources.clone(),
            columns: merged.columns.iter().map(ColumnData::new).collect(),
            models: models.list,
            cells: cell_data,
            thresholds: words.thresholds.list.into_iter().map(|pair| pair.map(f64::from_bits)).collect(),
            strings: words.strings.list,
            base: base.map(Base::new),
        }
    }
}

/// Words and thresholds, each once.
#[derive(Debug, Default)]
struct Words {
    strings: Numbered<String>,
    thresholds: Numbered<[u64; 2]>,
}

#[derive(Debug, Default)]
struct Models {
    list: Vec<(String, &'static str)>,
}

impl Models {
    /// Entries are sorted by model, so that only the last one can be the same.
    fn number(&mut self, cell: &Cell) -> usize {
        if self.list.last().is_none_or(|(name, _)| *name != cell.model) {
            self.list.push((cell.model.clone(), cell.architecture.as_str()));
        }
        self.list.len() - 1
    }
}

impl Words {
    fn cell(&mut self, cell: Cell, entries: &[Entry], models: &mut Models) -> CellData {
        let model = models.number(&cell);
        let tightest = cell.tightest.as_ref();
        CellData(
            model,
            cell.column,
            number_of(Precision::ALL, cell.precision),
            number_of(Standing::ALL, cell.standing),
            tightest.and_then(|output| short(output.rel_l2)),
            tightest.and_then(|output| short(output.headroom)),
            tightest.map_or(0, |output| output.non_finite),
            cell.first_diverging.map(|layer| self.strings.number(layer)),
            round(cell.milliseconds),
            cell.memory,
            entries.iter().map(|entry| self.check(entry)).collect(),
        )
    }

    fn check(&mut self, entry: &Entry) -> CheckData {
        let record = &entry.record;
        let mut text = |text: Option<&str>| text.map(|text| self.strings.number(text.to_owned()));
        let (reason, note) = (text(record.reason.as_deref()), text(entry.judged.note.as_deref()));
        let first = text(first_diverging(record));
        CheckData(
            number_of(Check::ALL, record.check),
            number_of(Standing::ALL, entry.judged.standing),
            u8::from(entry.judged.red),
            reason,
            note,
            round(record.milliseconds),
            loaded_bytes(record),
            entry.source,
            first,
            record.outputs.iter().map(|output| self.output(output)).collect(),
        )
    }

    fn output(&mut self, output: &OutputError) -> OutputData {
        let thresholds = [output.rel_l2_threshold, output.max_rel_threshold].map(|value| round(value).to_bits());
        OutputData {
            name: self.strings.number(output.name.clone()),
            errors: [output.rel_l2, output.max_rel].map(short),
            thresholds: self.thresholds.number(thresholds),
            non_finite: output.non_finite,
            worst: output.worst.iter().map(WorstData::new).collect(),
        }
    }
}

/// A list in which everything stands once.
#[derive(Debug)]
struct Numbered<T> {
    list: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { list: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    fn number(&mut self, item: T) -> usize {
        if let Some(number) = self.numbers.get(&item) {
            return *number;
        }
        self.list.push(item.clone());
        self.numbers.insert(item, self.list.len() - 1);
        self.list.len() - 1
    }
}

impl Serialize for OutputData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let told = self.non_finite > 0 || !self.worst.is_empty();
        let mut tuple = serializer.serialize_tuple(if told { 6 } else { 4 })?;
        tuple.serialize_element(&self.name)?;
        tuple.serialize_element(&self.errors[0])?;
        tuple.serialize_element(&self.errors[1])?;
        tuple.serialize_element(&self.thresholds)?;
        if told {
            tuple.serialize_element(&self.non_finite)?;
            tuple.serialize_element(&self.worst)?;
        }
        tuple.end()
    }
}

impl WorstData {
    fn new(worst: &WorstElement) -> Self {
        let number = |value: f64| Some(value).filter(|value| value.abs() < f64::MAX);
        Self(worst.index.clone(), number(worst.expected), number(worst.got))
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

impl Base {
    fn new(comparison: &Comparison) -> Self {
        let side = |side: &Option<crate::compare::Side>| {
            side.as_ref().map_or(String::new(), |side| format!("{} {}", side.standing.word(), side.device))
        };
        let changed = comparison.checks.iter().filter(|check| check.verdict != Verdict::Same);
        Self {
            green: comparison.green,
            counts: comparison.counts.iter().map(|(verdict, count)| (verdict.word(), *count)).collect(),
            checks: changed
                .map(|check| {
                    let verdict = check.verdict.word().to_owned();
                    [verdict, check.test.clone(), side(&check.a), side(&check.b), check.why.clone()]
                })
                .collect(),
        }
    }
}

fn number_of<T: PartialEq + Copy>(all: &[T], word: T) -> usize {
    all.iter().position(|other| *other == word).expect("`ALL` has every word")
}

/// Three digits; none for the number that stands for NaN, infinity and what cannot be compared.
fn short(value: f64) -> Option<f64> {
    (value < f64::MAX).then(|| round(value))
}

fn round(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}
