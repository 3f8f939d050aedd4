//! The operators with their results in reports: the table of `testgen operators` and docs/operator-results.md.

use crate::{
    results::{MergedReport, ResultStatus},
    spec::{LoadedSpec, SpecSubject},
    text::{Align, Table, markdown_cell},
};
use std::{collections::BTreeMap, fmt::Write};
use testgen_types::{Operator, Precision, ReportEntry, SubjectKind};

/// One row for each operator, and a column for each device in the reports.
#[derive(Debug)]
pub struct OperatorTable {
    devices: Vec<String>,
    rows: Vec<OperatorRow>,
}

#[derive(Debug)]
struct OperatorRow {
    operator: Operator,
    /// The names of its specs, sorted.
    specs: Vec<String>,
    /// The results in each device's column.
    results: Vec<String>,
}

/// The results of an operator in a precision on a device.
#[derive(Debug, Default)]
struct OperatorCell {
    /// The most severe status.
    status: Option<ResultStatus>,
    /// The least headroom of all checks.
    headroom: Option<f64>,
    checks: usize,
}

impl OperatorTable {
    /// Every operator, in the order of their declaration; `reports` may be empty.
    pub fn new(specs: &[LoadedSpec], reports: &MergedReport) -> Self {
        let columns = (0..reports.columns.len()).filter(|column| reports.columns[*column].name.is_some());
        let columns: Vec<usize> = columns.filter(|column| has_operators(reports, *column)).collect();
        let row = |&operator: &Operator| {
            let names = |loaded: &&LoadedSpec| match &loaded.spec.subject {
                SpecSubject::Model { .. } => false,
                SpecSubject::Operators { operators, .. } => operators.iter().any(|one| one.operator == operator),
            };
            let mut specs: Vec<String> =
                specs.iter().filter(names).map(|loaded| loaded.spec.name.as_str().to_owned()).collect();
            specs.sort();
            let results = columns.iter().map(|column| result(reports, *column, operator)).collect();
            OperatorRow { operator, specs, results }
        };
        let devices = columns.iter().map(|column| reports.columns[*column].label()).collect();
        Self { devices, rows: Operator::ALL.iter().map(row).collect() }
    }

    /// Aligned columns for a terminal: a line for each operator, without results.
    pub fn text(&self) -> String {
        let mut table =
            Table::new(&[("OPERATOR", Align::Left), ("SPECS", Align::Left), ("SIZES OF A SHAPE", Align::Left)]);
        for row in &self.rows {
            table.push([row.operator.to_string(), row.specs.join(" "), row.operator.sizes().join(", ")]);
        }
        table.to_string()
    }

    /// A Markdown table with the results.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let heads = ["operator", "specs"].into_iter().map(str::to_owned);
        push(&mut text, heads.chain(self.devices.iter().cloned()));
        push(&mut text, (0..2 + self.devices.len()).map(|_| "---".to_owned()));
        for row in &self.rows {
            let specs = if row.specs.is_empty() { "none".to_owned() } else { row.specs.join(", ") };
            let cells = [format!("`{}`", row.operator), specs];
            push(&mut text, cells.into_iter().chain(row.results.iter().cloned()));
        }
        text
    }
}

fn push(text: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.map(|cell| markdown_cell(&cell)).collect();
    writeln!(text, "| {} |", cells.join(" | ")).expect("a String can always be written");
}

/// Whether a device computed any operator.
fn has_operators(reports: &MergedReport, column: usize) -> bool {
    let is_computed = |entry: &ReportEntry| is_of_operators(entry) && !entry.outputs.is_empty();
    reports.entries.iter().any(|merged| merged.column == column && is_computed(&merged.entry))
}

fn is_of_operators(entry: &ReportEntry) -> bool {
    entry.architecture.subject() == SubjectKind::Operators
}

/// For each precision the most severe status, the least headroom and the number of checks.
fn result(reports: &MergedReport, column: usize, operator: Operator) -> String {
    let mut cells: BTreeMap<Precision, OperatorCell> = BTreeMap::new();
    for merged in reports.entries.iter().filter(|merged| merged.column == column) {
        let entry = &merged.entry;
        if !is_of_operators(entry) {
            continue;
        }
        for output in entry.outputs.iter().filter(|output| output.name == operator.as_str()) {
            // A check of several operators fails where one of them does; the others pass.
            let passes = match reports.columns[column].simulated {
                true => ResultStatus::Simulated,
                false => ResultStatus::Pass,
            };
            let status = if output.headroom >= 1.0 { passes } else { merged.evaluation.status };
            let cell = cells.entry(entry.precision).or_default();
            cell.status = Some(cell.status.map_or(status, |other| other.min(status)));
            cell.headroom = Some(cell.headroom.map_or(output.headroom, |other| other.min(output.headroom)));
            cell.checks += 1;
        }
    }
    if cells.is_empty() { "not run".to_owned() } else { describe(&cells) }
}

/// The precisions of each status with their headroom, the most severe status first.
fn describe(cells: &BTreeMap<Precision, OperatorCell>) -> String {
    let mut statuses: BTreeMap<Option<ResultStatus>, (usize, Vec<String>)> = BTreeMap::new();
    for (precision, cell) in cells {
        // The largest headroom means that every element is exact.
        let headroom = match cell.headroom {
            Some(headroom) if headroom < 1e6 => format!(" {headroom:.1}"),
            Some(_) => " exact".to_owned(),
            None => String::new(),
        };
        let (checks, precisions) = statuses.entry(cell.status).or_default();
        *checks += cell.checks;
        precisions.push(format!("{precision}{headroom}"));
    }
    let of_status = |(status, (checks, precisions)): (Option<ResultStatus>, (usize, Vec<String>))| {
        format!("{} in {checks} checks: {}", status.map_or("", ResultStatus::word), precisions.join(", "))
    };
    statuses.into_iter().map(of_status).collect::<Vec<_>>().join("; ")
}
