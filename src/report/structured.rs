//! A merged report as JSON for other programs, and its JSON Schema.

mod depth;

use crate::{
    compare::ReportComparison,
    results::read::{
        Cell, CellPart, Column, MergedEntry, MergedReport, ResultStatus, StatusCounts, cells,
        first_diverging,
    },
};
use depth::StructuredDepth;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use std::collections::BTreeMap;
use testgen_types::OutputError;

/// The version of the JSON form; adding a field is compatible, changing one raises it.
const VERSION: u32 = 2;

/// A merged report.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "testgen report", deny_unknown_fields)]
struct StructuredReport {
    /// The version of this form: 2. Adding a field is compatible.
    version: u32,
    /// Whether the reports have no problem and no check is red.
    green: bool,
    /// The number of checks by status.
    counts: BTreeMap<&'static str, usize>,
    /// The part of `counts` that compares numbers with the reference.
    numbers: BTreeMap<&'static str, usize>,
    /// The part of `counts` that shows other properties.
    others: BTreeMap<&'static str, usize>,
    /// Problems of the reports themselves; any of them makes the report red.
    problems: Vec<String>,
    /// The reports by their path below the given directories.
    sources: Vec<String>,
    /// The devices that ran, and one element for each kind of device of which checks found none.
    devices: Vec<StructuredDevice>,
    /// One element for each model, device with its engine, and precision.
    cells: Vec<StructuredCell>,
    /// One element for each check on each device.
    checks: Vec<StructuredCheck>,
    /// Differences to the base, in the form of `testgen report --by changes --format json`; null
    /// without a base.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    base: Option<ReportComparison>,
}

/// A device that ran.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct StructuredDevice {
    /// `cpu`, `cuda` or `rocm`.
    device: &'static str,
    /// The engine that computed, for instance `torch/eager`; null for the native one.
    engine: Option<String>,
    /// The driver's name of the device; null where nothing ran.
    name: Option<String>,
    /// A software simulation: its passes do not count for the device.
    simulated: bool,
    /// Whether f32 products may be computed in TF32.
    tf32: bool,
    /// Bytes of memory.
    memory: Option<u64>,
    /// Architecture, detection path and versions; one object for each machine that differs.
    #[schemars(with = "Vec<BTreeMap<String, String>>")]
    hardware: Vec<testgen_types::HardwareInfo>,
    /// Versions of testgen's runtime.
    testgen: Vec<String>,
    /// Versions of the engine's libraries.
    engine_versions: Vec<String>,
}

/// A model on a device in a precision.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct StructuredCell {
    model: String,
    /// Index into `devices`.
    device: usize,
    precision: &'static str,
    /// The most severe status of its checks; `pass` only when numbers were computed on the device.
    status: ResultStatus,
    /// rel-L2 of the tensor with the least headroom; null when there is none, or when it is not
    /// finite.
    error: Option<f64>,
    /// Threshold / error of that tensor.
    headroom: Option<f64>,
    /// The checks that compare numbers with the reference.
    numbers: StructuredPart,
    /// All other checks.
    others: StructuredPart,
    /// The first layer that diverges.
    first_diverging: Option<String>,
    /// The errors of the hidden states by layer; null if no check compared them. `entry.layers` of the
    /// checks has each.
    depth: Option<StructuredDepth>,
    milliseconds: f64,
    /// Bytes that loading the model took.
    memory: Option<u64>,
}

/// Some of the checks of a cell.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct StructuredPart {
    /// The most severe status; of numbers `incomplete` when the outputs were not compared.
    status: ResultStatus,
    /// The number of checks by status, without zeros.
    counts: BTreeMap<&'static str, usize>,
    /// rel-L2 of the tensor with the least headroom; null when there is none, or when it is not
    /// finite.
    error: Option<f64>,
    /// Threshold / error of that tensor.
    headroom: Option<f64>,
}

/// One check on one device.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct StructuredCheck {
    /// The test's name.
    test: String,
    /// Index into `devices`.
    device: usize,
    /// Index into `sources`.
    source: usize,
    status: ResultStatus,
    /// Whether it makes the report red.
    red: bool,
    /// An explanation in addition to the entry's reason: an expectation or a contradiction.
    note: Option<String>,
    /// The first layer that diverges.
    first_diverging: Option<String>,
    /// The line that the suite wrote.
    // Any object: lines have a separate version, and a new field of a line must not change this
    // schema.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    entry: testgen_types::ReportEntry,
}

/// The report as JSON, ended by a line break.
pub fn render_structured(merged: &MergedReport, base: Option<&ReportComparison>) -> String {
    let StatusCounts { numbers, others } = merged.counts();
    let structured = StructuredReport {
        version: VERSION,
        green: merged.is_green(),
        counts: ResultStatus::ALL
            .iter()
            .map(|status| {
                (
                    key(*status),
                    count(&numbers, status) + count(&others, status),
                )
            })
            .collect(),
        numbers: ResultStatus::ALL
            .iter()
            .map(|status| (key(*status), count(&numbers, status)))
            .collect(),
        others: ResultStatus::ALL
            .iter()
            .map(|status| (key(*status), count(&others, status)))
            .collect(),
        problems: merged.problems.clone(),
        sources: merged.sources.clone(),
        devices: merged.columns.iter().map(device).collect(),
        cells: cells(merged).into_iter().map(structured_cell).collect(),
        checks: merged.entries.iter().map(check).collect(),
        base: base.cloned(),
    };
    let json = serde_json::to_string_pretty(&structured).expect("a report has string keys only");
    format!("{json}\n")
}

/// The JSON Schema of [`render_structured`].
pub fn structured_schema() -> String {
    let schema = SchemaSettings::draft07()
        .into_generator()
        .into_root_schema_for::<StructuredReport>();
    format!("{:#}\n", schema.as_value())
}

fn key(status: ResultStatus) -> &'static str {
    // Keys equal the serialized statuses; `word` has a space in these two.
    match status {
        ResultStatus::UnexpectedPass => "unexpected_pass",
        ResultStatus::ExpectedFailure => "expected_failure",
        ResultStatus::Fail
        | ResultStatus::Mock
        | ResultStatus::Fallback
        | ResultStatus::Incomplete
        | ResultStatus::Simulated
        | ResultStatus::Pass
        | ResultStatus::Ignored => status.word(),
    }
}

fn count(counts: &BTreeMap<ResultStatus, usize>, status: &ResultStatus) -> usize {
    counts.get(status).copied().unwrap_or(0)
}

fn device(column: &Column) -> StructuredDevice {
    StructuredDevice {
        device: column.device.as_str(),
        engine: column.engine.clone(),
        name: column.name.clone(),
        simulated: column.simulated,
        tf32: column.tf32,
        memory: column.memory,
        hardware: column.hardware.iter().cloned().collect(),
        testgen: column.testgen.iter().cloned().collect(),
        engine_versions: column.engine_versions.iter().cloned().collect(),
    }
}

fn structured_cell(cell: Cell) -> StructuredCell {
    StructuredCell {
        status: cell.status(),
        error: finite_error(cell.tightest()),
        headroom: cell.tightest().map(|output| output.headroom),
        model: cell.model,
        device: cell.column,
        precision: cell.precision.as_str(),
        numbers: structured_part(&cell.numbers),
        others: structured_part(&cell.others),
        first_diverging: cell.first_diverging,
        depth: cell.depth.map(StructuredDepth::from),
        milliseconds: cell.milliseconds,
        memory: cell.memory,
    }
}

fn structured_part(part: &CellPart) -> StructuredPart {
    StructuredPart {
        status: part.status,
        counts: part
            .counts
            .iter()
            .map(|(status, count)| (key(*status), *count))
            .collect(),
        error: finite_error(part.tightest.as_ref()),
        headroom: part.tightest.as_ref().map(|output| output.headroom),
    }
}

fn finite_error(output: Option<&OutputError>) -> Option<f64> {
    output
        .map(|output| output.rel_l2)
        // Entries have `f64::MAX` in place of an error that is not finite.
        .filter(|error| *error < f64::MAX)
}

fn check(merged: &MergedEntry) -> StructuredCheck {
    StructuredCheck {
        test: merged.entry.test_name(),
        device: merged.column,
        source: merged.source,
        status: merged.evaluation.status,
        red: merged.evaluation.red,
        note: merged.evaluation.note.clone(),
        first_diverging: first_diverging(&merged.entry).map(str::to_owned),
        entry: merged.entry.clone(),
    }
}
