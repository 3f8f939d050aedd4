//! Comparison of two reports: the change of each check, and the distance of both results to the
//! golden.
//!
//! Owns: pairing the checks of two reports, and the decision which change is a regression. Does not
//! own: reading reports. Reports do not contain the tensors themselves, so the distance between two
//! devices is given as the interval that follows from their errors against the golden.

mod check_change;
mod device_choice;
mod groups;
mod numbers;
mod pairing;
mod text;

pub use check_change::CheckChange;
pub use device_choice::{DeviceChoice, DevicePair};
pub(crate) use groups::ChangeGroup;
pub use numbers::{DistanceInterval, ErrorChange, ThreeWay};
pub use text::{render_human, render_json, render_markdown};

use crate::results::read::{MergedEntry, MergedReport, ResultStatus};
use check_change::Decision;
use pairing::{CheckPair, pairs};
use serde::Serialize;
use std::collections::BTreeMap;
use testgen_types::ReportEntry;

/// Options of a comparison.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// The device of each report; without it, each device is compared with itself.
    pub devices: Option<DevicePair>,
    /// From this ratio of two errors on, the larger one counts as worse.
    pub factor: f64,
}

/// All differences between two reports.
#[derive(Debug, Clone, Serialize)]
pub struct ReportComparison {
    /// The version of the JSON form; adding a field is compatible.
    pub version: u32,
    /// Whether checks were compared, none got worse or was lost, and neither report has a problem.
    pub green: bool,
    /// Problems of both reports: a line that cannot be read may be a check that got worse.
    pub problems: Vec<String>,
    /// The devices of the first report, as reports label them.
    pub devices_a: Vec<String>,
    /// The devices of the second report.
    pub devices_b: Vec<String>,
    /// The number of checks for which the two reports name different GPU kernels: their errors may
    /// differ for that reason alone.
    pub other_kernels: usize,
    /// The number of checks in which the two reports name different features of the unit that adds
    /// the terms of a product.
    pub other_matrix_units: usize,
    /// The number of checks by change.
    pub counts: BTreeMap<CheckChange, usize>,
    /// One element for each check, sorted by change and test.
    pub checks: Vec<ComparedCheck>,
}

/// One check in both reports.
#[derive(Debug, Clone, Serialize)]
pub struct ComparedCheck {
    /// How it changed.
    pub change: CheckChange,
    /// Whether it makes the comparison red.
    pub red: bool,
    /// The test in the first report, or in the second when only that contains it.
    pub test: String,
    /// The model.
    pub model: String,
    /// The result in the first report.
    pub a: Option<ComparedSide>,
    /// The result in the second report.
    pub b: Option<ComparedSide>,
    /// The reason for `change`.
    pub why: String,
    /// Whether the two runs used different GPU kernels; null if a report does not say which.
    pub other_kernels: Option<bool>,
    /// Whether the terms of a product were added in another way; null if a report does not say
    /// how.
    pub other_matrix_unit: Option<bool>,
    /// The tensors that the first report compared with the golden.
    pub outputs: Vec<ThreeWay>,
}

/// The result of a check in one of the reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedSide {
    /// The device as reports label it.
    pub device: String,
    /// The status.
    pub status: ResultStatus,
}

impl ReportComparison {
    /// The version of the JSON form.
    const VERSION: u32 = 2;

    /// Compares the earlier report `a` with the later report `b`.
    pub fn new(a: &MergedReport, b: &MergedReport, options: &CompareOptions) -> Self {
        let mut checks: Vec<ComparedCheck> = pairs(a, b, options.devices.as_ref())
            .into_iter()
            .map(|pair| compare_pair(a, b, pair, options))
            .collect();
        checks.sort_by(|x, y| {
            // The devices too: one test has a result for each device of its kind.
            (x.change, &x.test, x.devices()).cmp(&(y.change, &y.test, y.devices()))
        });
        let mut counts = BTreeMap::new();
        for check in &checks {
            *counts.entry(check.change).or_default() += 1;
        }
        // Two reports without a common check must not count as "nothing got worse".
        let compared = checks.iter().any(ComparedCheck::is_in_both);
        let problems = [problems("first", a), problems("second", b)].concat();
        let green = compared && problems.is_empty() && !checks.iter().any(|check| check.red);
        let (devices_a, devices_b) = (devices(a), devices(b));
        let other_kernels = checks
            .iter()
            .filter(|check| check.other_kernels == Some(true))
            .count();
        let other_matrix_units = checks
            .iter()
            .filter(|check| check.other_matrix_unit == Some(true))
            .count();
        Self {
            version: Self::VERSION,
            green,
            problems,
            devices_a,
            devices_b,
            other_kernels,
            other_matrix_units,
            counts,
            checks,
        }
    }

    /// Whether the reports have no check in common.
    pub fn is_empty(&self) -> bool {
        !self.checks.iter().any(ComparedCheck::is_in_both)
    }
}

impl ComparedCheck {
    fn is_in_both(&self) -> bool {
        self.a.is_some() && self.b.is_some()
    }

    fn devices(&self) -> (Option<&str>, Option<&str>) {
        (
            self.a.as_ref().map(|side| side.device.as_str()),
            self.b.as_ref().map(|side| side.device.as_str()),
        )
    }
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            devices: None,
            factor: 2.0,
        }
    }
}

fn devices(merged: &MergedReport) -> Vec<String> {
    merged
        .columns
        .iter()
        .map(crate::results::read::Column::label)
        .collect()
}

fn problems(name: &str, report: &MergedReport) -> Vec<String> {
    let problems = report.problems.iter();
    problems.map(|it| format!("{name} report: {it}")).collect()
}

fn compare_pair(
    a: &MergedReport,
    b: &MergedReport,
    pair: CheckPair<'_>,
    options: &CompareOptions,
) -> ComparedCheck {
    let named = pair.a.or(pair.b).expect("a pair has at least one side");
    let outputs = match (pair.a, pair.b) {
        (Some(a), Some(b)) => numbers::three_way(&a.entry, &b.entry, options.factor),
        // The distance to a result that is missing is unknown, not 0.
        (Some(_), None) | (None, Some(_)) | (None, None) => Vec::new(),
    };
    let Decision { change, red, why } =
        check_change::decide(pair, &outputs, options.devices.is_some());
    ComparedCheck {
        change,
        red,
        test: named.entry.test_name(),
        model: named.entry.model.clone(),
        a: pair.a.map(|entry| side(a, entry)),
        b: pair.b.map(|entry| side(b, entry)),
        why,
        other_kernels: differ(pair, |entry| entry.kernels.as_ref()),
        other_matrix_unit: differ(pair, |entry| entry.matrix_unit.as_ref()),
        outputs,
    }
}

/// Whether the two entries of a check have different facts; `None` where an entry lacks the fact.
fn differ<'a, Fact: PartialEq + 'a>(
    pair: CheckPair<'a>,
    fact: fn(&'a ReportEntry) -> Option<&'a Fact>,
) -> Option<bool> {
    let (a, b) = (fact(&pair.a?.entry)?, fact(&pair.b?.entry)?);
    Some(a != b)
}

fn side(report: &MergedReport, merged: &MergedEntry) -> ComparedSide {
    ComparedSide {
        device: report.columns[merged.column].label(),
        status: merged.evaluation.status,
    }
}
