//! Two reports against each other: a verdict for each check, and a three-way look with the golden between them.
//!
//! Owns: which check of one report belongs to which of the other, and what counts as worse. Does not own: reading reports.
//! The tensors themselves are not in a report, so the distance between two devices is told as the interval that the two
//! errors against the golden leave open.

mod numbers;
mod pairing;
mod text;
mod verdict;

pub use numbers::ThreeWay;
pub use text::{render_human, render_json, render_markdown};
pub use verdict::Verdict;

use crate::report::{Entry, Merged, Standing};
use pairing::{Pair, pairs};
use serde::Serialize;
use std::{collections::BTreeMap, str::FromStr};
use testgen_contract::{DeviceKind, UnknownWord};

/// How two reports are compared.
#[derive(Debug, Clone, Copy)]
pub struct CompareOptions {
    /// The device of the first report and that of the second; without, each device with itself.
    pub devices: Option<[DeviceChoice; 2]>,
    /// From this ratio of two errors on, one is worse.
    pub factor: f64,
}

/// A device as `--devices` names it: `cuda`, `rocm`, `rocm-sim`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceChoice {
    /// The kind.
    pub device: DeviceKind,
    /// Whether its simulation is meant, and only that.
    pub simulated: bool,
}

/// Everything that two reports have to say about each other.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The version of the JSON form; adding a field is compatible.
    pub version: u32,
    /// Whether nothing got worse or was lost, and anything was compared at all.
    pub green: bool,
    /// How many checks have each verdict.
    pub counts: BTreeMap<Verdict, usize>,
    /// One entry for each check, sorted by verdict and test.
    pub checks: Vec<Compared>,
}

/// One check in both reports.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// What became of it.
    pub verdict: Verdict,
    /// Whether the comparison cannot be green with it.
    pub red: bool,
    /// The test in the first report, or in the second when only that has it.
    pub test: String,
    /// The model.
    pub model: String,
    /// Where it ran in the first report.
    pub a: Option<Side>,
    /// Where it ran in the second.
    pub b: Option<Side>,
    /// Why the verdict is what it is.
    pub why: String,
    /// Each tensor that both compared with the golden.
    pub outputs: Vec<ThreeWay>,
}

/// One report's side of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// The device as reports label it.
    pub device: String,
    /// What the record amounts to.
    pub standing: Standing,
}

impl Comparison {
    /// The version of the JSON form.
    const VERSION: u32 = 1;

    /// Compares `a`, what was, with `b`, what is.
    pub fn new(a: &Merged, b: &Merged, options: &CompareOptions) -> Self {
        let mut checks: Vec<Compared> =
            pairs(a, b, options).into_iter().map(|pair| compare_pair(a, b, pair, options)).collect();
        checks.sort_by(|x, y| (x.verdict, &x.test, x.place()).cmp(&(y.verdict, &y.test, y.place())));
        let mut counts = BTreeMap::new();
        for check in &checks {
            *counts.entry(check.verdict).or_default() += 1;
        }
        let compared = checks.iter().any(|check| check.a.is_some() && check.b.is_some());
        let green = compared && !checks.iter().any(|check| check.red);
        Self { version: Self::VERSION, green, counts, checks }
    }
}

impl Compared {
    fn place(&self) -> (Option<&str>, Option<&str>) {
        (self.a.as_ref().map(|side| side.device.as_str()), self.b.as_ref().map(|side| side.device.as_str()))
    }
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { devices: None, factor: 2.0 }
    }
}

impl FromStr for DeviceChoice {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (device, simulated) = text.strip_suffix("-sim").map_or((text, false), |device| (device, true));
        Ok(Self { device: device.parse()?, simulated })
    }
}

fn compare_pair(a: &Merged, b: &Merged, (first, second): Pair<'_>, options: &CompareOptions) -> Compared {
    let side = |merged: &Merged, entry: &Entry| Side {
        device: merged.columns[entry.column].label(),
        standing: entry.judged.standing,
    };
    let named = first.or(second).expect("a pair has at least one side");
    let outputs = match (first, second) {
        (Some(first), Some(second)) => numbers::three_way(&first.record, &second.record, options.factor),
        (Some(_), None) | (None, Some(_)) | (None, None) => Vec::new(),
    };
    let (verdict, red, why) = verdict::judge(first, second, &outputs, options.devices.is_some());
    Compared {
        verdict,
        red,
        test: named.record.test_name(),
        model: named.record.model.clone(),
        a: first.map(|entry| side(a, entry)),
        b: second.map(|entry| side(b, entry)),
        why,
        outputs,
    }
}
