//! Two reports of times compared: the ratio of the times of the same work.
//!
//! Work of different configurations is refused, with the first field that differs: its ratio would
//! compare two different things.

mod configuration;
pub(super) mod work;

use super::{
    bootstrap::{SpeedRatio, typical},
    lines::BenchLines,
};
use crate::compare::{DeviceChoice, DevicePair};
use configuration::{differing, differing_within};
use serde::Serialize;
use testgen_types::{BenchEntry, BenchStatus};
pub use work::SpeedWork;
use work::{ByWork, by_work, device, includes, is_of};

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

/// Work that both reports have timed.
#[derive(Debug, Serialize)]
pub struct SpeedRow {
    /// The work.
    #[serde(flatten)]
    pub work: SpeedWork,
    /// The device and the time of the earlier report.
    pub earlier: SpeedSide,
    /// The device and the time of the later report.
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
    /// The median in milliseconds; of several starts the geometric mean of theirs.
    pub milliseconds: f64,
    /// The starts of the suite that timed it.
    pub starts: usize,
}

/// The ratio up to which two starts of one program differ. The interval of one start has the noise
/// within it only; ten starts of work that keeps an H200 busy differed by up to 1.5 %. Smaller
/// changes are of no interest in any case, so that it is the limit of several starts, too.
const BETWEEN_STARTS: f64 = 1.02;

/// How the time of work changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeedChange {
    /// The interval is above the ratio by which two starts differ.
    Slower,
    /// The interval is below its inverse.
    Faster,
    /// Neither.
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
        // Nothing compared is not a success.
        comparison.green = !comparison.rows.is_empty()
            && comparison.refused.is_empty()
            && comparison.wrong.is_empty()
            && comparison.problems.is_empty()
            && !comparison.rows.iter().any(|row| row.red);
        comparison
    }

    fn add(&mut self, work: &SpeedWork, a: &[&BenchEntry], b: &[&BenchEntry], across: bool) {
        // The first of each suffices: below, entries that differ from their first are refused, too.
        let differing = differing(a[0], b[0], across)
            // Starts are one sample only if their configurations are alike.
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
        let Some(ratio) = SpeedRatio::new(&starts(a), &starts(b)) else {
            return;
        };
        let change = match ratio.interval {
            None => SpeedChange::Unknown,
            Some([low, _]) if low > BETWEEN_STARTS => SpeedChange::Slower,
            Some([_, high]) if high < 1.0 / BETWEEN_STARTS => SpeedChange::Faster,
            Some(_) => SpeedChange::Same,
        };
        // Without the option slower work is shown, and nothing is red for it.
        let allowed = self.fail_slower.unwrap_or(f64::INFINITY);
        self.rows.push(SpeedRow {
            work: work.clone(),
            earlier: side(a),
            later: side(b),
            ratio,
            change,
            // Both: a ratio above the limit can be noise, and a certain slowdown can be small.
            red: change == SpeedChange::Slower && ratio.ratio > allowed,
        });
    }
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

fn absent(work: &ByWork<'_>, other: &ByWork<'_>) -> Vec<SpeedWork> {
    let absent = work.keys().filter(|work| !other.contains_key(work));
    absent.cloned().collect()
}

/// The calls of each start.
fn starts<'a>(entries: &[&'a BenchEntry]) -> Vec<&'a [f64]> {
    let times = entries.iter().filter_map(|entry| entry.times.as_ref());
    times.map(|times| times.milliseconds.as_slice()).collect()
}

/// The device and the time of entries that are alike.
fn side(entries: &[&BenchEntry]) -> SpeedSide {
    let name = entries[0].device_facts.as_ref().map(|facts| &facts.name);
    let starts = starts(entries);
    SpeedSide {
        device: match name {
            Some(name) => format!("{}: {name}", device(entries[0])),
            None => device(entries[0]),
        },
        milliseconds: typical(&starts).unwrap_or(f64::NAN),
        starts: starts.len(),
    }
}

#[cfg(test)]
mod tests;
