//! What a report says as a whole: counts per model and device, what ran where, why things were ignored.

use super::{Problem, Standing, judge_record};
use crate::expected_failure::ExpectedFailures;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use testgen_contract::{Architecture, DeviceKind, Record, RecordStatus};

/// A report, counted.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// The version of the JSON form.
    pub version: u32,
    /// Whether every selected check is accounted for and none failed.
    pub green: bool,
    /// Checks that ran and hold.
    pub passed: usize,
    /// Checks that do not hold.
    pub failed: usize,
    /// Checks that did not run.
    pub ignored: usize,
    /// One row for each model and device.
    pub rows: Vec<Row>,
    /// Why checks were ignored, each reason once for a device.
    pub ignored_reasons: Vec<IgnoredReason>,
    /// The records that failed, and not as expected.
    pub failures: Vec<Record>,
    /// Failures that the specs or testgen.toml expect, and passes that they do not; the latter are never green.
    pub expectations: Vec<Expectation>,
    /// What is wrong with the report itself.
    #[serde(serialize_with = "problems_as_words")]
    pub problems: Vec<Problem>,
}

/// A check that a spec or testgen.toml expects to fail.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Expectation {
    /// The test.
    pub test: String,
    /// `expected_failure`, `unexpected_pass`, or `fail` when the expectation has expired.
    pub standing: Standing,
    /// Reason, owner and date.
    pub told: String,
}

/// One model on one device.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The family of the model.
    pub architecture: Architecture,
    /// The model.
    pub model: String,
    /// The device that the checks name.
    pub device: DeviceKind,
    /// Checks that ran and hold.
    pub passed: usize,
    /// Checks that do not hold.
    pub failed: usize,
    /// Checks that did not run.
    pub ignored: usize,
    /// Numeric checks that ran and hold; the others say nothing about the device's numbers.
    pub numeric_passed: usize,
    /// The devices that really ran numeric checks.
    pub ran_on: BTreeSet<RanOn>,
}

/// A device that ran, and what must be said with its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RanOn {
    /// As the driver names it; none when nothing ran, for instance behind a mock.
    pub name: Option<String>,
    /// A software simulation.
    pub simulated: bool,
    /// f32 products may be computed in TF32.
    pub tf32: bool,
    /// Another device than the one that the check names.
    pub fallback: bool,
    /// Nothing ran: the endpoint was a mock.
    pub mock: bool,
}

/// Why checks on a device were ignored.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct IgnoredReason {
    /// The device that the checks name.
    pub device: DeviceKind,
    /// The reason as the suite gave it.
    pub reason: String,
    /// How many checks.
    pub checks: usize,
    /// The models that they belong to.
    pub models: BTreeSet<String>,
}

impl Summary {
    /// The version of the JSON form; adding a field is compatible, changing one raises it.
    pub const VERSION: u32 = 1;

    /// Counts `records`. A report with problems is never green.
    pub fn new(records: &[Record], problems: Vec<Problem>, expected: &ExpectedFailures) -> Self {
        let count = |status| records.iter().filter(|record| record.status == status).count();
        let expectations = expectations(records, expected);
        let excused = |record: &Record| judge_record(record, None, expected).standing == Standing::ExpectedFailure;
        let failed = |record: &&Record| record.status == RecordStatus::Fail && !excused(record);
        let mut failures: Vec<Record> = records.iter().filter(failed).cloned().collect();
        failures.sort_by_key(Record::test_name);
        let unexpected = expectations.iter().any(|expectation| expectation.standing == Standing::UnexpectedPass);
        Self {
            version: Self::VERSION,
            green: failures.is_empty() && !unexpected && problems.is_empty() && !records.is_empty(),
            passed: count(RecordStatus::Pass),
            failed: count(RecordStatus::Fail),
            ignored: count(RecordStatus::Ignored),
            rows: rows(records),
            ignored_reasons: ignored_reasons(records),
            failures,
            expectations,
            problems,
        }
    }
}

impl Row {
    fn empty(record: &Record) -> Self {
        Self {
            architecture: record.architecture,
            model: record.model.clone(),
            device: record.device,
            passed: 0,
            failed: 0,
            ignored: 0,
            numeric_passed: 0,
            ran_on: BTreeSet::new(),
        }
    }

    fn add(&mut self, record: &Record) {
        match record.status {
            RecordStatus::Pass => self.passed += 1,
            RecordStatus::Fail => self.failed += 1,
            RecordStatus::Ignored => self.ignored += 1,
        }
        if !record.check.is_numeric() {
            return;
        }
        self.numeric_passed += usize::from(record.status == RecordStatus::Pass);
        if record.status != RecordStatus::Ignored && (record.device_name.is_some() || record.mock) {
            self.ran_on.insert(RanOn::of(record));
        }
    }
}

impl RanOn {
    fn of(record: &Record) -> Self {
        let Record { simulated, tf32, fallback, mock, .. } = *record;
        Self { name: record.device_name.clone(), simulated, tf32, fallback, mock }
    }

    /// The name with everything that makes it less than a plain device, for instance `gfx1100 (SIMULATED)`.
    pub fn describe(&self) -> String {
        let marks = [
            (self.simulated, "SIMULATED"),
            (self.tf32, "TF32"),
            (self.fallback, "FALLBACK"),
            (self.mock, "MOCK: nothing ran"),
        ];
        let marks: Vec<&str> = marks.iter().filter(|(set, _)| *set).map(|(_, mark)| *mark).collect();
        let name = self.name.as_deref().unwrap_or("no device");
        if marks.is_empty() { name.to_owned() } else { format!("{name} ({})", marks.join(", ")) }
    }
}

fn rows(records: &[Record]) -> Vec<Row> {
    let mut rows = BTreeMap::new();
    for record in records {
        let key = (record.architecture.as_str(), record.model.as_str(), record.device);
        rows.entry(key).or_insert_with(|| Row::empty(record)).add(record);
    }
    rows.into_values().collect()
}

/// What specs and testgen.toml say about these records, sorted by test.
fn expectations(records: &[Record], expected: &ExpectedFailures) -> Vec<Expectation> {
    let about = |record: &Record| {
        let judged = judge_record(record, None, expected);
        let told = judged.note?;
        Some(Expectation { test: record.test_name(), standing: judged.standing, told })
    };
    let mut expectations: Vec<Expectation> = records.iter().filter_map(about).collect();
    expectations.sort();
    expectations
}

fn ignored_reasons(records: &[Record]) -> Vec<IgnoredReason> {
    let mut reasons: BTreeMap<(DeviceKind, &str), (usize, BTreeSet<String>)> = BTreeMap::new();
    for record in records.iter().filter(|record| record.status == RecordStatus::Ignored) {
        let key = (record.device, record.reason.as_deref().unwrap_or("no reason given"));
        let (checks, models) = reasons.entry(key).or_default();
        *checks += 1;
        models.insert(record.model.clone());
    }
    let reason = |((device, reason), (checks, models)): ((DeviceKind, &str), _)| IgnoredReason {
        device,
        reason: reason.to_owned(),
        checks,
        models,
    };
    reasons.into_iter().map(reason).collect()
}

fn problems_as_words<S: Serializer>(problems: &[Problem], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Word {
        kind: &'static str,
        message: String,
    }
    serializer.collect_seq(problems.iter().map(|problem| Word { kind: problem.kind(), message: problem.to_string() }))
}
