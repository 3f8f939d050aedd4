//! Two reports of times compared: the ratio of the medians of the same work.
//!
//! Work of different configurations is refused, with the first field that differs: its ratio would
//! compare two different things.

use super::{bootstrap::SpeedRatio, lines::BenchLines};
use crate::compare::{DeviceChoice, DevicePair};
use serde::Serialize;
use std::collections::BTreeMap;
use testgen_engine::EngineName;
use testgen_types::{BenchEntry, BenchStatus, BenchTimes, Measured, Precision};

/// Options of a comparison.
#[derive(Debug, Clone, Default)]
pub struct SpeedOptions {
    /// The device of each report; without it, each device is compared with itself.
    pub devices: Option<DevicePair>,
    /// From this ratio on, slower work is red.
    pub fail_slower: Option<f64>,
}

/// Two reports of times, compared.
#[derive(Debug, Serialize)]
pub struct SpeedComparison {
    /// The version of the JSON form.
    pub version: u32,
    /// Whether work was compared, nothing is refused or wrong, and nothing is slower than allowed.
    pub green: bool,
    /// From this ratio on, slower work is red.
    pub fail_slower: Option<f64>,
    /// The work that both reports have timed.
    pub rows: Vec<SpeedRow>,
    /// The work of different configurations.
    pub refused: Vec<RefusedPair>,
    /// The work that the earlier report has timed, and that is wrong in the later one.
    pub wrong: Vec<WrongWork>,
    /// The work that only the earlier report has.
    pub only_earlier: Vec<SpeedWork>,
    /// The work that only the later report has.
    pub only_later: Vec<SpeedWork>,
    /// Problems of the reports themselves.
    pub problems: Vec<String>,
}

/// Work that was measured.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SpeedWork {
    /// The name of the spec.
    pub subject: String,
    /// The precision.
    pub precision: Precision,
    /// The measurement.
    pub measured: Measured,
    /// The call of an operator.
    pub case: Option<String>,
    /// The number of inputs.
    pub batch: Option<usize>,
    /// The tokens of each input.
    pub tokens: Option<usize>,
    /// The bytes of a copy.
    pub bytes: Option<u64>,
    /// The device with the engine, `cuda@torch`; empty where two devices are compared.
    pub device: String,
}

/// Work that both reports have timed.
#[derive(Debug, Serialize)]
pub struct SpeedRow {
    /// The work.
    #[serde(flatten)]
    pub work: SpeedWork,
    /// The device and the median of the earlier report.
    pub earlier: SpeedSide,
    /// The device and the median of the later report.
    pub later: SpeedSide,
    /// Later divided by earlier.
    #[serde(flatten)]
    pub ratio: SpeedRatio,
    /// Whether the interval excludes equal times.
    pub change: SpeedChange,
    /// Whether it makes the comparison red.
    pub red: bool,
}

/// The times of work in one report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpeedSide {
    /// The device with its engine, and its name.
    pub device: String,
    /// The median in milliseconds.
    pub milliseconds: f64,
}

/// How the time of work changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeedChange {
    /// The interval is above 1.
    Slower,
    /// The interval is below 1.
    Faster,
    /// The interval contains 1.
    Same,
    /// There are too few calls for an interval, as of a single load.
    Unknown,
}

/// SpeedWork whose configurations differ.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct RefusedPair {
    /// The work.
    #[serde(flatten)]
    pub work: SpeedWork,
    /// The first field that differs.
    pub field: &'static str,
    /// Its values.
    pub values: [String; 2],
}

/// Work that has no time, because it is wrong.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct WrongWork {
    /// The work.
    #[serde(flatten)]
    pub work: SpeedWork,
    /// Why.
    pub reason: String,
}

/// The entries of a report by their work. Several runs of the same work are together.
type ByWork<'a> = BTreeMap<SpeedWork, Vec<&'a BenchEntry>>;

impl SpeedComparison {
    /// The version of the JSON form.
    const VERSION: u32 = 1;

    /// Compares the earlier report with the later one.
    pub fn new(earlier: &BenchLines, later: &BenchLines, options: &SpeedOptions) -> Self {
        let pair = options.devices.as_ref();
        let (a, b) = (
            by_work(earlier, pair.map(|pair| &pair.a)),
            by_work(later, pair.map(|pair| &pair.b)),
        );
        let mut comparison = Self {
            version: Self::VERSION,
            green: false,
            fail_slower: options.fail_slower,
            rows: Vec::new(),
            refused: Vec::new(),
            wrong: wrong(&a, later, pair.map(|pair| &pair.b)),
            only_earlier: absent(&a, &b),
            only_later: absent(&b, &a),
            problems: [&earlier.problems[..], &later.problems[..]].concat(),
        };
        for (work, entries) in &a {
            if let Some(others) = b.get(work) {
                comparison.add(work, entries, others, pair.is_some());
            }
        }
        comparison.green = !comparison.rows.is_empty()
            && comparison.refused.is_empty()
            && comparison.wrong.is_empty()
            && comparison.problems.is_empty()
            && !comparison.rows.iter().any(|row| row.red);
        comparison
    }

    fn add(&mut self, work: &SpeedWork, a: &[&BenchEntry], b: &[&BenchEntry], across: bool) {
        let differing = differing(a[0], b[0], across)
            .or_else(|| differing_within(a))
            .or_else(|| differing_within(b));
        if let Some((field, values)) = differing {
            self.refused.push(RefusedPair {
                work: work.clone(),
                field,
                values,
            });
            return;
        }
        let Some(ratio) = SpeedRatio::new(&times(a), &times(b)) else {
            return;
        };
        let change = match ratio.interval {
            None => SpeedChange::Unknown,
            Some([low, _]) if low > 1.0 => SpeedChange::Slower,
            Some([_, high]) if high < 1.0 => SpeedChange::Faster,
            Some(_) => SpeedChange::Same,
        };
        let allowed = self.fail_slower.unwrap_or(f64::INFINITY);
        self.rows.push(SpeedRow {
            work: work.clone(),
            earlier: side(a),
            later: side(b),
            ratio,
            change,
            red: change == SpeedChange::Slower && ratio.ratio > allowed,
        });
    }
}

fn by_work<'a>(lines: &'a BenchLines, chosen: Option<&DeviceChoice>) -> ByWork<'a> {
    let mut by_work = ByWork::new();
    let timed = lines.entries.iter().filter(|entry| entry.times.is_some());
    for entry in timed.filter(|entry| chosen.is_none_or(|chosen| includes(chosen, entry))) {
        if let Some(work) = work(entry, chosen.is_none()) {
            by_work.entry(work).or_default().push(entry);
        }
    }
    by_work
}

fn work(entry: &BenchEntry, with_device: bool) -> Option<SpeedWork> {
    Some(SpeedWork {
        subject: entry.subject.clone(),
        precision: entry.precision,
        measured: entry.measured?,
        case: entry.case.clone(),
        batch: entry.batch,
        tokens: entry.tokens,
        bytes: entry.bytes,
        device: if with_device {
            device(entry)
        } else {
            String::new()
        },
    })
}

/// `cuda`, `rocm-sim`, `cuda@torch/eager`.
fn device(entry: &BenchEntry) -> String {
    let engine = entry.engine.as_ref();
    format!(
        "{}{}{}",
        entry.device,
        if is_simulated(entry) { "-sim" } else { "" },
        engine.map_or_else(String::new, |engine| format!("@{engine}"))
    )
}

fn is_simulated(entry: &BenchEntry) -> bool {
    let device = entry.device_facts.as_ref();
    device.is_some_and(|device| device.simulated)
}

/// Whether `--devices` names the device of an entry.
fn includes(chosen: &DeviceChoice, entry: &BenchEntry) -> bool {
    let engine = chosen.engine.as_ref().and_then(EngineName::in_report);
    // A device without an engine is the native one, which does not train: then it is any trainer.
    let is_any_trainer = chosen.engine.is_none() && entry.is_training();
    chosen.device == entry.device
        && chosen.simulated == is_simulated(entry)
        && (is_any_trainer || engine == entry.engine)
        && chosen
            .index
            .is_none_or(|index| entry.device_index == Some(index))
}

/// The first field of the configuration that differs, with both values. The host and the device may
/// differ if two devices are compared.
fn differing(a: &BenchEntry, b: &BenchEntry, across: bool) -> Option<(&'static str, [String; 2])> {
    let configurations = [a, b].map(|entry| {
        let facts = entry.device_facts.as_ref();
        let mut fields = vec![
            ("config", or_unknown(entry.config.clone())),
            ("warmup", entry.repetitions.warmup.to_string()),
            (
                "steps",
                or_unknown(entry.steps.map(|steps| steps.to_string())),
            ),
            (
                "tf32",
                or_unknown(facts.and_then(|it| it.tf32).map(|tf32| tf32.to_string())),
            ),
        ];
        // An engine in another process does not depend on how the runtime was compiled.
        if a.engine.is_none() && b.engine.is_none() {
            fields.push(("optimised", entry.optimised.to_string()));
        }
        if !across {
            let host = entry.host.as_ref();
            let processors = host.and_then(|host| host.processors);
            fields.extend([
                ("device_name", or_unknown(facts.map(|it| it.name.clone()))),
                (
                    "processor",
                    or_unknown(host.map(|host| host.processor.clone())),
                ),
                (
                    "processors",
                    or_unknown(processors.map(|count| count.to_string())),
                ),
            ]);
        }
        fields
    });
    let [a, b] = configurations;
    let mut pairs = a.into_iter().zip(b);
    pairs.find_map(|((field, a), (_, b))| (a != b).then_some((field, [a, b])))
}

/// The work of `earlier` that is wrong in the later report.
fn wrong(
    earlier: &ByWork<'_>,
    later: &BenchLines,
    chosen: Option<&DeviceChoice>,
) -> Vec<WrongWork> {
    let entries = later.entries.iter();
    let wrong = entries.filter(|entry| entry.status == BenchStatus::Wrong);
    let of_chosen = wrong.filter(|entry| chosen.is_none_or(|chosen| includes(chosen, entry)));
    of_chosen
        .flat_map(|entry| {
            let reason = entry.reason.clone().unwrap_or_default();
            earlier
                .keys()
                .filter(|work| is_of(work, entry, chosen.is_none()))
                .map(move |work| WrongWork {
                    work: work.clone(),
                    reason: reason.clone(),
                })
        })
        .collect()
}

/// Whether an entry without a time is about this work: one without a measurement is about all work
/// of its subject in its precision.
fn is_of(timed: &SpeedWork, entry: &BenchEntry, with_device: bool) -> bool {
    match work(entry, with_device) {
        Some(work) => work == *timed,
        None => {
            timed.subject == entry.subject
                && timed.precision == entry.precision
                && (!with_device || timed.device == device(entry))
        }
    }
}

fn absent(work: &ByWork<'_>, other: &ByWork<'_>) -> Vec<SpeedWork> {
    let absent = work.keys().filter(|work| !other.contains_key(work));
    absent.cloned().collect()
}

fn times(entries: &[&BenchEntry]) -> Vec<f64> {
    let times = entries.iter().filter_map(|entry| entry.times.as_ref());
    times
        .flat_map(|times| times.milliseconds.iter().copied())
        .collect()
}

/// The device and the median of entries that are alike.
fn side(entries: &[&BenchEntry]) -> SpeedSide {
    let name = entries[0].device_facts.as_ref().map(|facts| &facts.name);
    SpeedSide {
        device: match name {
            Some(name) => format!("{}: {name}", device(entries[0])),
            None => device(entries[0]),
        },
        milliseconds: BenchTimes::new(times(entries)).map_or(f64::NAN, |times| times.median),
    }
}

#[cfg(test)]
mod tests;

fn differing_within(entries: &[&BenchEntry]) -> Option<(&'static str, [String; 2])> {
    // Several runs of one report are taken together, so they must be alike, too.
    let mut others = entries.iter();
    others.find_map(|entry| differing(entries[0], entry, false))
}

fn or_unknown(value: Option<String>) -> String {
    value.unwrap_or_else(|| "unknown".to_owned())
}
