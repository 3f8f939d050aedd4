//! Reports of several machines merged into one: the devices that ran, and one entry for each check
//! on each of them.

use super::{
    ReportProblem, ReportSource, ResultStatus, StatusEvaluation,
    column::{Column, Identity},
    completeness::{contradiction, impossible_pass},
    evaluate,
};
use crate::results::expected_failure::ExpectedFailures;
use std::collections::{BTreeMap, BTreeSet};
use testgen_types::{Check, DeviceKind, EntryStatus, Precision, ReportEntry};

/// Several reports as one.
#[derive(Debug, Default)]
pub struct MergedReport {
    /// The names of the reports, sorted.
    pub sources: Vec<String>,
    /// The devices that ran, and for each kind at most one column for checks that did not run.
    pub columns: Vec<Column>,
    /// One entry for each check and column, sorted by model, column, precision and check.
    pub entries: Vec<MergedEntry>,
    /// Problems of the reports themselves.
    pub problems: Vec<String>,
}

/// The number of checks by status.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct StatusCounts {
    /// The checks that compare numbers with the reference.
    pub numbers: BTreeMap<ResultStatus, usize>,
    /// All other checks.
    pub others: BTreeMap<ResultStatus, usize>,
}

/// One check on one device.
#[derive(Debug, Clone)]
pub struct MergedEntry {
    /// The line that the suite wrote.
    pub entry: ReportEntry,
    /// The index of its column.
    pub column: usize,
    /// The index of its report.
    pub source: usize,
    /// Its status.
    pub evaluation: StatusEvaluation,
}

/// An entry with its device and the index of its report.
struct Located {
    identity: Identity,
    source: usize,
    entry: ReportEntry,
}

impl MergedReport {
    /// Merges `sources` in any order. Of several entries for one check on one device the most
    /// severe is kept.
    pub fn new(mut sources: Vec<ReportSource>, expected: &ExpectedFailures) -> Self {
        // Files may be given in any order, and indices of sources are part of the result.
        sources.sort_by(|a, b| a.name.cmp(&b.name));
        let mut merged = Self::default();
        let mut located: Vec<Located> = Vec::new();
        for (index, source) in sources.into_iter().enumerate() {
            // For each report alone: another machine may have another device of the kind.
            let only = only_devices(&source.entries);
            merged.problems.extend(
                source
                    .problems
                    .iter()
                    .map(|problem| format!("`{}`: {problem}", source.name)),
            );
            merged.add_contradictions(&source);
            located.extend(source.entries.into_iter().map(|entry| Located {
                identity: identity(&entry, &only),
                source: index,
                entry,
            }));
            merged.sources.push(source.name);
        }
        // Before the columns are counted: a machine without a GPU would add an empty one.
        drop_superseded(&mut located);
        merged.columns = columns(&located);
        merged.entries = entries(located, &merged.columns, expected);
        if merged.entries.is_empty() {
            merged
                .problems
                .push("the reports contain no entry, so they prove nothing".to_owned());
        }
        merged
    }

    /// Adds a problem for each of `tests` without an entry, and one when `tests` is empty.
    pub fn require(&mut self, tests: &BTreeSet<String>) {
        let present: BTreeSet<String> = self
            .entries
            .iter()
            .map(|merged| merged.entry.test_name())
            .collect();
        let missing = tests
            .difference(&present)
            .map(|test| ReportProblem::MissingEntry { test: test.clone() });
        let none = tests.is_empty().then_some(ReportProblem::NoTests);
        self.problems
            .extend(missing.chain(none).map(|problem| problem.to_string()));
    }

    /// Adds impossible passes and missing reasons; both make a report untrustworthy.
    fn add_contradictions(&mut self, source: &ReportSource) {
        let found: BTreeSet<ReportProblem> =
            source.entries.iter().filter_map(contradiction).collect();
        self.problems.extend(
            found
                .iter()
                .map(|problem| format!("`{}`: {problem}", source.name)),
        );
    }

    /// Whether the reports have no problem and no entry is red.
    pub fn is_green(&self) -> bool {
        self.problems.is_empty() && !self.entries.iter().any(|merged| merged.evaluation.red)
    }

    /// The number of checks by status: the checks that compare numbers with the reference, and the
    /// others.
    pub fn counts(&self) -> StatusCounts {
        let mut counts = StatusCounts::default();
        for MergedEntry {
            entry, evaluation, ..
        } in &self.entries
        {
            let part = if entry.check.compares_numbers() {
                &mut counts.numbers
            } else {
                &mut counts.others
            };
            *part.entry(evaluation.status).or_default() += 1;
        }
        counts
    }
}

impl MergedEntry {
    fn sort_key(&self) -> (&str, &str, usize, Precision, Check) {
        let ReportEntry {
            architecture,
            model,
            precision,
            check,
            ..
        } = &self.entry;
        (
            architecture.as_str(),
            model,
            self.column,
            *precision,
            *check,
        )
    }

    /// Smaller is more severe.
    fn severity(&self) -> (bool, ResultStatus, usize) {
        // The source last, so that the choice between equal entries does not depend on the order of
        // reading.
        (!self.evaluation.red, self.evaluation.status, self.source)
    }
}

/// A kind of device, the index of one, and an engine.
type Place = (DeviceKind, Option<u32>, Option<String>);

/// The device of each place of which a report has exactly one.
fn only_devices(entries: &[ReportEntry]) -> BTreeMap<Place, Identity> {
    let mut devices: BTreeMap<Place, BTreeSet<Identity>> = BTreeMap::new();
    for identity in entries.iter().filter_map(own_device) {
        devices
            .entry((identity.device, identity.index, identity.engine.clone()))
            .or_default()
            .insert(identity);
    }
    devices
        .into_iter()
        // With several, it is unknown on which of them a check would have run.
        .filter(|(_, found)| found.len() == 1)
        .filter_map(|(place, found)| Some((place, found.into_iter().next()?)))
        .collect()
}

/// The device of the kind that the entry names, when the check ran on it.
fn own_device(entry: &ReportEntry) -> Option<Identity> {
    // A fallback names the CPU that computed in its place, which is not a column of the GPU.
    let replaced = entry.fallback || entry.mock;
    let name = entry.device_name.clone().filter(|_| !replaced)?;
    Some(Identity {
        device: entry.device,
        index: entry.device_index,
        engine: entry.engine.clone(),
        simulated: entry.simulated,
        name: Some(name),
    })
}

/// A check without a device belongs to the only device of its report, because it would have run
/// there.
fn identity(entry: &ReportEntry, only: &BTreeMap<Place, Identity>) -> Identity {
    let (device, index, engine) = (entry.device, entry.device_index, entry.engine.clone());
    let known = own_device(entry).or_else(|| only.get(&(device, index, engine.clone())).cloned());
    known.unwrap_or(Identity {
        device,
        index,
        engine,
        simulated: false,
        name: None,
    })
}

/// The test without the name of the device: the part that entries of two machines share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct TestKey {
    model: String,
    device: DeviceKind,
    /// One device that computes does not replace another that was asked for.
    index: Option<u32>,
    engine: Option<String>,
    check: Check,
    precision: Precision,
}

impl TestKey {
    fn from_entry(entry: &ReportEntry) -> Self {
        let ReportEntry {
            model,
            device,
            device_index,
            engine,
            check,
            precision,
            ..
        } = entry;
        Self {
            model: model.clone(),
            device: *device,
            index: *device_index,
            engine: engine.clone(),
            check: *check,
            precision: *precision,
        }
    }
}

/// Drops checks that did not run for lack of a device when another machine ran them on a real
/// device.
fn drop_superseded(located: &mut Vec<Located>) {
    // A simulation does not replace a check that did not run.
    let ran: BTreeSet<TestKey> = located
        .iter()
        .filter(|located| !located.identity.simulated && located.identity.name.is_some())
        .map(|located| TestKey::from_entry(&located.entry))
        .collect();
    located.retain(
        |Located {
             identity, entry, ..
         }| {
            // A failure without a device, as of a required one that is missing, remains although
            // another machine passes.
            identity.name.is_some()
                || entry.status == EntryStatus::Fail
                || !ran.contains(&TestKey::from_entry(entry))
        },
    );
}

fn columns(located: &[Located]) -> Vec<Column> {
    let mut columns: BTreeMap<Identity, Column> = BTreeMap::new();
    for Located {
        identity,
        source,
        entry,
    } in located
    {
        columns
            .entry(identity.clone())
            .or_insert_with(|| Column::empty(identity.clone()))
            .add(*source, entry);
    }
    columns.into_values().collect()
}

fn entries(
    located: Vec<Located>,
    columns: &[Column],
    expected: &ExpectedFailures,
) -> Vec<MergedEntry> {
    let indices: BTreeMap<Identity, usize> = columns
        .iter()
        .enumerate()
        .map(|(index, column)| (column.identity(), index))
        .collect();
    let mut entries: BTreeMap<(TestKey, usize), MergedEntry> = BTreeMap::new();
    for Located {
        identity,
        source,
        entry,
    } in located
    {
        let why = if entry.status == EntryStatus::Pass {
            impossible_pass(&entry)
        } else {
            None
        };
        let evaluation = evaluate(&entry, why.as_deref(), expected);
        let (key, column) = (TestKey::from_entry(&entry), indices[&identity]);
        let merged = MergedEntry {
            entry,
            column,
            source,
            evaluation,
        };
        match entries.get_mut(&(key.clone(), column)) {
            // The most severe of several runs is kept: a check that fails now and then must not
            // look green.
            Some(known) if known.severity() <= merged.severity() => {}
            Some(known) => *known = merged,
            None => {
                entries.insert((key, column), merged);
            }
        }
    }
    let mut entries: Vec<MergedEntry> = entries.into_values().collect();
    entries.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    entries
}
