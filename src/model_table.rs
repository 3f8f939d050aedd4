//! The model types with their results in reports: the table of `testgen models` and docs/models.md.

use crate::{
    closed_enum::ClosedEnum,
    results::{Cell, MergedReport, ResultStatus, cells},
    spec::{LoadedSpec, SpecSubject},
    text::{Align, Table, markdown_cell},
};
use std::{collections::BTreeMap, fmt::Write};
use testgen_types::{Architecture, ModelType, Precision};

/// One row for each model type, and a column for each device in the reports.
#[derive(Debug)]
pub struct ModelTable {
    devices: Vec<String>,
    rows: Vec<ModelRow>,
}

#[derive(Debug)]
struct ModelRow {
    architecture: Architecture,
    model_type: ModelType,
    /// The names of its specs, sorted.
    models: Vec<String>,
    /// The results in each device's column.
    results: Vec<String>,
}

impl ModelTable {
    /// Every type, in the order of the architectures; `reports` may be empty.
    pub fn new(specs: &[LoadedSpec], reports: &MergedReport) -> Self {
        let cells = cells(reports);
        let columns = (0..reports.columns.len()).filter(|column| reports.columns[*column].name.is_some());
        let columns: Vec<usize> = columns.collect();
        let mut types = ModelType::all().to_vec();
        types.sort_by_key(|model_type| (model_type.architecture().text(), model_type.text()));
        let row = |model_type: ModelType| {
            let is_of_type = |subject: &SpecSubject| matches!(subject, SpecSubject::Model { model_type: of, .. } if *of == model_type);
            let of_type = specs.iter().filter(|loaded| is_of_type(&loaded.spec.subject));
            let mut models: Vec<String> = of_type.map(|loaded| loaded.spec.name.as_str().to_owned()).collect();
            models.sort();
            let results = columns.iter().map(|column| result(&cells, *column, &models)).collect();
            ModelRow { architecture: model_type.architecture(), model_type, models, results }
        };
        let devices = columns.iter().map(|column| reports.columns[*column].label()).collect();
        Self { devices, rows: types.into_iter().map(row).collect() }
    }

    /// Aligned columns for a terminal: a line for each type, without results.
    pub fn text(&self) -> String {
        let heads = ["ARCHITECTURE", "MODEL TYPE", "NATIVE", "MODELS"].map(|head| (head, Align::Left));
        let mut table = Table::new(&heads);
        for row in &self.rows {
            let native = if row.model_type.native().is_some() { "native" } else { "-" };
            table.push([
                row.architecture.to_string(),
                row.model_type.to_string(),
                native.to_owned(),
                row.models.join(" "),
            ]);
        }
        table.to_string()
    }

    /// A Markdown table with the results of all types that are native or have a spec, then the names of the others.
    pub fn markdown(&self) -> String {
        let is_tested = |row: &&ModelRow| row.model_type.native().is_some() || !row.models.is_empty();
        let (tested, others): (Vec<&ModelRow>, Vec<&ModelRow>) = self.rows.iter().partition(is_tested);
        format!("{}{}", self.results(&tested), names(&others))
    }

    fn results(&self, rows: &[&ModelRow]) -> String {
        let mut text = String::new();
        let heads = ["architecture", "model type", "models"].into_iter().map(str::to_owned);
        push(&mut text, heads.chain(self.devices.iter().cloned()));
        push(&mut text, (0..3 + self.devices.len()).map(|_| "---".to_owned()));
        for row in rows {
            let models = if row.models.is_empty() { "none".to_owned() } else { row.models.join(", ") };
            let cells = [row.architecture.to_string(), format!("`{}`", row.model_type), models];
            push(&mut text, cells.into_iter().chain(row.results.iter().cloned()));
        }
        text
    }
}

/// The types without results, by architecture.
fn names(rows: &[&ModelRow]) -> String {
    let mut by_architecture: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in rows {
        by_architecture.entry(row.architecture.text()).or_default().push(format!("`{}`", row.model_type));
    }
    let mut text = format!(
        "\n## Types that other engines compute\n\n{} types of transformers have neither a native implementation nor a spec here. `testgen add` \
         accepts their checkpoints, and engines such as `torch` compute them ([engines.md](engines.md)).\n\n",
        rows.len()
    );
    push(&mut text, ["architecture", "model types"].into_iter().map(str::to_owned));
    push(&mut text, ["---", "---"].into_iter().map(str::to_owned));
    for (architecture, types) in by_architecture {
        push(&mut text, [architecture.to_owned(), types.join(", ")].into_iter());
    }
    text
}

fn push(text: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.map(|cell| markdown_cell(&cell)).collect();
    writeln!(text, "| {} |", cells.join(" | ")).expect("a String can always be written");
}

/// For each precision the most severe status of the numbers of `models`, their least headroom, how many of them ran, and the status of
/// other checks, if it is severe.
fn result(cells: &[Cell], column: usize, models: &[String]) -> String {
    let mut by_precision: BTreeMap<Precision, Vec<&Cell>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.column == column && models.contains(&cell.model)) {
        if cell.status() != ResultStatus::Ignored {
            by_precision.entry(cell.precision).or_default().push(cell);
        }
    }
    let results: Vec<String> =
        by_precision.into_iter().map(|(precision, cells)| describe(precision, &cells, models.len())).collect();
    if results.is_empty() { "not run".to_owned() } else { results.join("; ") }
}

fn describe(precision: Precision, cells: &[&Cell], models: usize) -> String {
    let status = cells.iter().map(|cell| cell.numbers.status).min().map_or("", ResultStatus::word);
    let headrooms = cells.iter().filter_map(|cell| cell.numbers.tightest.as_ref()).map(|output| output.headroom);
    let headroom = headrooms.fold(f64::INFINITY, f64::min);
    let headroom = if headroom.is_finite() { format!(" {headroom:.1}") } else { String::new() };
    let of = if cells.len() < models { format!(", {} of {models}", cells.len()) } else { String::new() };
    let severe = cells.iter().filter(|cell| cell.others.is_severe()).map(|cell| cell.others.status).min();
    let others = severe.map_or(String::new(), |status| format!(" (other checks: {})", status.word()));
    format!("{precision} {status}{headroom}{of}{others}")
}
