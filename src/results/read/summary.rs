//! The summary of one run: counts per model and device, the devices that ran, and the reasons of
//! ignored checks.

use super::{ReportProblem, ResultStatus, evaluate};
use crate::results::expected_failure::ExpectedFailures;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use testgen_types::{Architecture, DeviceKind, EntryStatus, ReportEntry};

/// A report, counted.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// The version of the JSON form.
    pub version: u32,
    /// Whether every selected check has an entry and none failed.
    pub green: bool,
    /// Checks that passed.
    pub passed: usize,
    /// Checks that failed.
    pub failed: usize,
    /// Checks that did not run.
    pub ignored: usize,
    /// One row for each model and device.
    pub rows: Vec<SummaryRow>,
    /// The reasons of ignored checks, each once per device.
    pub ignored_reasons: Vec<IgnoredReason>,
    /// The entries that failed unexpectedly.
    pub failures: Vec<ReportEntry>,
    /// Expected failures, and unexpected passes; the latter make the summary red.
    pub expectations: Vec<ExpectedToFail>,
    /// Problems of the report itself.
    #[serde(serialize_with = "serialize_problems")]
    pub problems: Vec<ReportProblem>,
}

/// A check that a spec or testgen.toml expects to fail.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ExpectedToFail {
    /// The test.
    pub test: String,
    /// `expected_failure`, `unexpected_pass`, or `fail` when the expectation has expired.
    pub status: ResultStatus,
    /// Reason, owner and date.
    pub description: String,
}

/// One model on one device.
#[derive(Debug, Serialize)]
pub struct SummaryRow {
    /// The architecture of the model.
    pub architecture: Architecture,
    /// The model.
    pub model: String,
    /// The device that the checks name.
    pub device: DeviceKind,
    /// Its index, if the run selected one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_index: Option<u32>,
    /// The engine that computed; absent for the native one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Checks that passed.
    pub passed: usize,
    /// Checks that failed.
    pub failed: usize,
    /// Checks that did not run.
    pub ignored: usize,
    /// Numeric checks that passed; the others do not test the device's numbers.
    pub numeric_passed: usize,
    /// The devices on which numeric checks ran.
    pub ran_on: BTreeSet<RanOn>,
}

/// A device that ran, with the marks that its name must carry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RanOn {
    /// The driver's name of the device, or `None` if nothing ran, for instance with a mock.
    pub name: Option<String>,
    /// A software simulation.
    pub simulated: bool,
    /// Its f32 products may be computed in TF32.
    pub tf32: bool,
    /// A device other than the one that the check names.
    pub fallback: bool,
    /// Nothing ran: the endpoint was a mock.
    pub mock: bool,
}

/// One reason for which checks on a device were ignored.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct IgnoredReason {
    /// The device that the checks name.
    pub device: DeviceKind,
    /// Its index, if the run selected one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_index: Option<u32>,
    /// The engine that would have computed; absent for the native one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The reason as the suite reported it.
    pub reason: String,
    /// The number of checks.
    pub checks: usize,
    /// Their models.
    pub models: BTreeSet<String>,
}

impl Summary {
    /// The version of the JSON form; adding a field is compatible, changing one raises it.
    pub const VERSION: u32 = 2;

    /// Counts `entries`. A report with problems is never green.
    pub fn new(
        entries: &[ReportEntry],
        problems: Vec<ReportProblem>,
        expected: &ExpectedFailures,
    ) -> Self {
        let expectations = expectations(entries, expected);
        let mut failures: Vec<ReportEntry> = entries
            .iter()
            .filter(|entry| {
                entry.status == EntryStatus::Fail
                    && evaluate(entry, None, expected).status != ResultStatus::ExpectedFailure
            })
            .cloned()
            .collect();
        // Entries are in the order in which checks ended, which differs from run to run.
        failures.sort_by_key(ReportEntry::test_name);
        let unexpected = expectations
            .iter()
            .any(|expectation| expectation.status == ResultStatus::UnexpectedPass);
        Self {
            version: Self::VERSION,
            // Without an entry nothing ran, which must not be green.
            green: failures.is_empty() && !unexpected && problems.is_empty() && !entries.is_empty(),
            passed: count(EntryStatus::Pass, entries),
            // With the expected ones, which `expectations` names.
            failed: count(EntryStatus::Fail, entries),
            ignored: count(EntryStatus::Ignored, entries),
            rows: rows(entries),
            ignored_reasons: ignored_reasons(entries),
            failures,
            expectations,
            problems,
        }
    }
}

impl SummaryRow {
    fn empty(entry: &ReportEntry) -> Self {
        Self {
            architecture: entry.architecture,
            model: entry.model.clone(),
            device: entry.device,
            device_index: entry.device_index,
            engine: entry.engine.clone(),
            passed: 0,
            failed: 0,
            ignored: 0,
            numeric_passed: 0,
            ran_on: BTreeSet::new(),
        }
    }

    fn add(&mut self, entry: &ReportEntry) {
        match entry.status {
            EntryStatus::Pass => self.passed += 1,
            EntryStatus::Fail => self.failed += 1,
            EntryStatus::Ignored => self.ignored += 1,
        }
        if !entry.check.is_numeric() {
            return;
        }
        self.numeric_passed += usize::from(entry.status == EntryStatus::Pass);
        // A check may fail before it has a device.
        if entry.status != EntryStatus::Ignored && (entry.device_name.is_some() || entry.mock) {
            self.ran_on.insert(RanOn::from_entry(entry));
        }
    }
}

impl RanOn {
    fn from_entry(entry: &ReportEntry) -> Self {
        let ReportEntry {
            simulated,
            tf32,
            fallback,
            mock,
            ..
        } = *entry;
        Self {
            name: entry.device_name.clone(),
            simulated,
            tf32,
            fallback,
            mock,
        }
    }

    /// The name with its marks, for instance `gfx1100 (SIMULATED)`.
    pub fn describe(&self) -> String {
        let marks = [
            (self.simulated, "SIMULATED"),
            (self.tf32, "TF32"),
            (self.fallback, "FALLBACK"),
            (self.mock, "MOCK: nothing ran"),
        ];
        let marks: Vec<&str> = marks
            .iter()
            .filter(|(set, _)| *set)
            .map(|(_, mark)| *mark)
            .collect();
        let name = self.name.as_deref().unwrap_or("no device");
        if marks.is_empty() {
            name.to_owned()
        } else {
            format!("{name} ({})", marks.join(", "))
        }
    }
}

fn rows(entries: &[ReportEntry]) -> Vec<SummaryRow> {
    let mut rows = BTreeMap::new();
    for entry in entries {
        let device = (entry.device, entry.device_index, entry.engine.as_deref());
        let key = (entry.architecture.as_str(), entry.model.as_str(), device);
        rows.entry(key)
            .or_insert_with(|| SummaryRow::empty(entry))
            .add(entry);
    }
    rows.into_values().collect()
}

/// The expectations of specs and testgen.toml about these entries, sorted by test.
fn expectations(entries: &[ReportEntry], expected: &ExpectedFailures) -> Vec<ExpectedToFail> {
    let about = entries.iter().filter_map(|entry| {
        // Without contradictions: `find_problems` has them as problems of the report.
        let evaluation = evaluate(entry, None, expected);
        Some(ExpectedToFail {
            test: entry.test_name(),
            status: evaluation.status,
            description: evaluation.note?,
        })
    });
    let mut expectations: Vec<ExpectedToFail> = about.collect();
    expectations.sort();
    expectations
}

/// Device, its index, engine and reason.
type Reason<'e> = (DeviceKind, Option<u32>, Option<&'e str>, &'e str);

fn ignored_reasons(entries: &[ReportEntry]) -> Vec<IgnoredReason> {
    let mut reasons: BTreeMap<Reason<'_>, (usize, BTreeSet<String>)> = BTreeMap::new();
    for entry in entries
        .iter()
        .filter(|entry| entry.status == EntryStatus::Ignored)
    {
        let reason = entry.reason.as_deref().unwrap_or("no reason given");
        let key = (
            entry.device,
            entry.device_index,
            entry.engine.as_deref(),
            reason,
        );
        let (checks, models) = reasons.entry(key).or_default();
        *checks += 1;
        models.insert(entry.model.clone());
    }
    let found = reasons.into_iter().map(
        |((device, device_index, engine, reason), (checks, models))| {
            let (engine, reason) = (engine.map(str::to_owned), reason.to_owned());
            IgnoredReason {
                device,
                device_index,
                engine,
                reason,
                checks,
                models,
            }
        },
    );
    found.collect()
}

fn serialize_problems<S: Serializer>(
    problems: &[ReportProblem],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    // Programs decide by the kind, because a message may get other words.
    struct KindAndMessage {
        kind: &'static str,
        message: String,
    }
    serializer.collect_seq(problems.iter().map(|problem| KindAndMessage {
        kind: problem.kind(),
        message: problem.to_string(),
    }))
}

fn count(status: EntryStatus, entries: &[ReportEntry]) -> usize {
    entries
        .iter()
        .filter(|entry| entry.status == status)
        .count()
}
