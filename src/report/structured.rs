//! A merged report as JSON for other programs, and its JSON Schema.

use super::{
    Cell, Column, Entry, Merged, Standing,
    cell::{cells, first_diverging},
};
use crate::compare::Comparison;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the JSON form; adding a field is compatible, changing one raises it.
const VERSION: u32 = 1;

/// A merged report.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "testgen report", deny_unknown_fields)]
struct Structured {
    /// The version of this form: 1. Adding a field is compatible.
    version: u32,
    /// Whether nothing failed and nothing is missing.
    green: bool,
    /// How many checks have each standing.
    counts: BTreeMap<&'static str, usize>,
    /// What is wrong with the reports themselves; never green with any.
    problems: Vec<String>,
    /// The reports, by their path below the directories that were given.
    sources: Vec<String>,
    /// The devices that ran, and one entry for each kind of device where checks found none.
    devices: Vec<Device>,
    /// One entry for each model, device and precision.
    cells: Vec<StructuredCell>,
    /// One entry for each check on each device.
    checks: Vec<Check>,
    /// Differences to the base, as `testgen compare --format json` tells them; null without a base.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    base: Option<Comparison>,
}

/// A device that ran.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Device {
    /// `cpu`, `cuda` or `rocm`.
    device: &'static str,
    /// As the driver names it; null where nothing ran.
    name: Option<String>,
    /// A software simulation: its passes are none of the device's.
    simulated: bool,
    /// Whether f32 products may be computed in TF32.
    tf32: bool,
    /// Bytes of memory.
    memory: Option<u64>,
    /// Architecture, path of detection, and versions; one object for each machine that differs.
    #[schemars(with = "Vec<BTreeMap<String, String>>")]
    hardware: Vec<testgen_contract::HardwareRecord>,
    /// Versions of testgen's runtime.
    testgen: Vec<String>,
}

/// A model on a device in a precision.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct StructuredCell {
    model: String,
    /// Index into `devices`.
    device: usize,
    precision: &'static str,
    /// The gravest of its checks; `pass` only when numbers were computed on the device.
    standing: Standing,
    /// rel-L2 of the tensor with the least headroom; null when there is none, or when it is not finite.
    error: Option<f64>,
    /// Threshold / error of that tensor.
    headroom: Option<f64>,
    /// The first layer that diverges.
    first_diverging: Option<String>,
    milliseconds: f64,
    /// Bytes that the load took.
    memory: Option<u64>,
}

/// One check on one device.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Check {
    /// The test's name.
    test: String,
    /// Index into `devices`.
    device: usize,
    /// Index into `sources`.
    source: usize,
    standing: Standing,
    /// Whether the report cannot be green with it.
    red: bool,
    /// What is said beside the record's reason: an expectation, a contradiction.
    note: Option<String>,
    /// The first layer that diverges.
    first_diverging: Option<String>,
    /// The line that the suite wrote.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    record: testgen_contract::Record,
}

/// The report as JSON, ended by a line break.
pub fn render_structured(merged: &Merged, base: Option<&Comparison>) -> String {
    let structured = Structured {
        version: VERSION,
        green: merged.is_green(),
        counts: Standing::ALL.iter().map(|standing| (key(*standing), count(merged, *standing))).collect(),
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
    let schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<Structured>();
    format!("{:#}\n", schema.as_value())
}

fn key(standing: Standing) -> &'static str {
    match standing {
        Standing::UnexpectedPass => "unexpected_pass",
        Standing::ExpectedFailure => "expected_failure",
        Standing::Fail
        | Standing::Mock
        | Standing::Fallback
        | Standing::Incomplete
        | Standing::Simulated
        | Standing::Pass
        | Standing::Ignored => standing.word(),
    }
}

fn count(merged: &Merged, standing: Standing) -> usize {
    merged.entries.iter().filter(|entry| entry.judged.standing == standing).count()
}

fn device(column: &Column) -> Device {
    Device {
        device: column.device.as_str(),
        name: column.name.clone(),
        simulated: column.simulated,
        tf32: column.tf32,
        memory: column.memory,
        hardware: column.hardware.iter().cloned().collect(),
        testgen: column.testgen.iter().cloned().collect(),
    }
}

fn structured_cell(cell: Cell) -> StructuredCell {
    let finite = cell.tightest.as_ref().filter(|output| output.rel_l2 < f64::MAX);
    StructuredCell {
        model: cell.model,
        device: cell.column,
        precision: cell.precision.as_str(),
        standing: cell.standing,
        error: finite.map(|output| output.rel_l2),
        headroom: cell.tightest.as_ref().map(|output| output.headroom),
        first_diverging: cell.first_diverging,
        milliseconds: cell.milliseconds,
        memory: cell.memory,
    }
}

fn check(entry: &Entry) -> Check {
    Check {
        test: entry.record.test_name(),
        device: entry.column,
        source: entry.source,
        standing: entry.judged.standing,
        red: entry.judged.red,
        note: entry.judged.note.clone(),
        first_diverging: first_diverging(&entry.record).map(str::to_owned),
        record: entry.record.clone(),
    }
}
