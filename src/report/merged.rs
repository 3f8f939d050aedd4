//! Reports of several machines as one: which devices really ran, and one entry for each check on each of them.

use super::{
    Judged, Problem, Source, Standing, judge_record,
    judgement::{contradiction, impossible_pass},
};
use crate::expected_failure::ExpectedFailures;
use std::collections::{BTreeMap, BTreeSet};
use testgen_contract::{Check, DeviceKind, HardwareRecord, Precision, Record, RecordStatus};

/// Several reports as one.
#[derive(Debug, Default)]
pub struct Merged {
    /// The names of the reports, sorted.
    pub sources: Vec<String>,
    /// The devices that ran, and for each kind at most one column for what did not run.
    pub columns: Vec<Column>,
    /// One entry for each check and column, sorted by model, column, precision and check.
    pub entries: Vec<Entry>,
    /// What is wrong with the reports themselves.
    pub problems: Vec<String>,
}

/// One device, or the place of a device that is absent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    /// The device that its checks name.
    pub device: DeviceKind,
    /// A software simulation.
    pub simulated: bool,
    /// As the driver names it; none where nothing ran.
    pub name: Option<String>,
    /// What is known of it, once for each machine that differs.
    pub hardware: BTreeSet<HardwareRecord>,
    /// Whether f32 products on it may be computed in TF32.
    pub tf32: bool,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// The versions of testgen's runtime.
    pub testgen: BTreeSet<String>,
    /// Indices of the reports that have records of it.
    pub sources: BTreeSet<usize>,
}

/// One check on one device.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What the suite wrote.
    pub record: Record,
    /// The index of its column.
    pub column: usize,
    /// The index of its report.
    pub source: usize,
    /// What it amounts to.
    pub judged: Judged,
}

/// What makes two devices one column.
type Identity = (DeviceKind, bool, Option<String>);

impl Merged {
    /// Merges `sources`, whatever their order. Of several records of one check on one device the gravest stays.
    pub fn new(mut sources: Vec<Source>, expected: &ExpectedFailures) -> Self {
        sources.sort_by(|a, b| a.name.cmp(&b.name));
        let mut merged = Self::default();
        let mut placed: Vec<(Identity, usize, Record)> = Vec::new();
        for (index, source) in sources.into_iter().enumerate() {
            let only = only_devices(&source.records);
            merged.problems.extend(source.problems.iter().map(|problem| format!("`{}`: {problem}", source.name)));
            merged.note_contradictions(&source);
            placed.extend(source.records.into_iter().map(|record| (identity(&record, &only), index, record)));
            merged.sources.push(source.name);
        }
        drop_superseded(&mut placed);
        merged.columns = columns(&placed);
        merged.entries = entries(placed, &merged.columns, expected);
        if merged.entries.is_empty() {
            merged.problems.push("the reports hold no record, so nothing is proven".to_owned());
        }
        merged
    }

    /// Adds a problem for each of `tests` without a record, and one when there are none.
    pub fn demand(&mut self, tests: &BTreeSet<String>) {
        let made: BTreeSet<String> = self.entries.iter().map(|entry| entry.record.test_name()).collect();
        let missing = tests.difference(&made).map(|test| Problem::WithoutRecord { test: test.clone() });
        let none = tests.is_empty().then_some(Problem::NoTests);
        self.problems.extend(missing.chain(none).map(|problem| problem.to_string()));
    }

    /// Passes that cannot be and silence where a reason is due; they make a report untrustworthy.
    fn note_contradictions(&mut self, source: &Source) {
        let found = source.records.iter().filter_map(contradiction);
        let found: BTreeSet<Problem> = found.collect();
        self.problems.extend(found.iter().map(|problem| format!("`{}`: {problem}", source.name)));
    }

    /// Whether everything is accounted for and nothing is wrong.
    pub fn is_green(&self) -> bool {
        self.problems.is_empty() && !self.entries.iter().any(|entry| entry.judged.red)
    }

    /// How many entries have each standing.
    pub fn counts(&self) -> BTreeMap<Standing, usize> {
        let mut counts = BTreeMap::new();
        for entry in &self.entries {
            *counts.entry(entry.judged.standing).or_default() += 1;
        }
        counts
    }
}

impl Column {
    /// `rocm: AMD Instinct MI300X`, `rocm: gfx1100 (SIMULATED)`, `rocm: nothing ran`.
    pub fn label(&self) -> String {
        let name = self.name.as_deref().unwrap_or("nothing ran");
        let simulated = if self.simulated { " (SIMULATED)" } else { "" };
        format!("{}: {name}{simulated}", self.device)
    }

    /// Whether a device of this kind, and not a simulation, computed here.
    pub fn is_real(&self) -> bool {
        self.name.is_some() && !self.simulated
    }

    fn identity(&self) -> Identity {
        (self.device, self.simulated, self.name.clone())
    }

    fn empty((device, simulated, name): Identity) -> Self {
        Self {
            device,
            simulated,
            name,
            hardware: BTreeSet::new(),
            tf32: false,
            memory: None,
            testgen: BTreeSet::new(),
            sources: BTreeSet::new(),
        }
    }

    fn add(&mut self, source: usize, record: &Record) {
        self.sources.insert(source);
        self.testgen.extend(record.testgen.clone());
        if self.name.is_some() && record.device_name == self.name {
            self.hardware.extend(record.hardware.clone());
            self.tf32 |= record.tf32;
            self.memory = self.memory.max(record.memory.and_then(|memory| memory.total));
        }
    }
}

/// Of each kind the device of a report, where it has exactly one.
fn only_devices(records: &[Record]) -> BTreeMap<DeviceKind, Identity> {
    let mut devices: BTreeMap<DeviceKind, BTreeSet<Identity>> = BTreeMap::new();
    for identity in records.iter().filter_map(own_device) {
        devices.entry(identity.0).or_default().insert(identity);
    }
    devices
        .into_iter()
        .filter(|(_, found)| found.len() == 1)
        .filter_map(|(kind, found)| Some((kind, found.into_iter().next()?)))
        .collect()
}

/// The device of the kind that the record names, if that is what ran.
fn own_device(record: &Record) -> Option<Identity> {
    let stood_in = record.fallback || record.mock;
    let name = record.device_name.clone().filter(|_| !stood_in)?;
    Some((record.device, record.simulated, Some(name)))
}

/// A check without a device belongs to the only device of its report; it would have run there.
fn identity(record: &Record, only: &BTreeMap<DeviceKind, Identity>) -> Identity {
    let known = own_device(record).or_else(|| only.get(&record.device).cloned());
    known.unwrap_or((record.device, false, None))
}

/// The test, without the device's name: what two machines have in common.
type Test = (String, DeviceKind, Check, Precision);

fn test(record: &Record) -> Test {
    (record.model.clone(), record.device, record.check, record.precision)
}

/// A check that did not run on one machine because its device is absent there says nothing once another machine has made it
/// on a real device. A simulation does not count as one.
fn drop_superseded(placed: &mut Vec<(Identity, usize, Record)>) {
    let real = |(_, simulated, name): &Identity| !simulated && name.is_some();
    let made: BTreeSet<Test> =
        placed.iter().filter(|(identity, ..)| real(identity)).map(|(_, _, record)| test(record)).collect();
    placed.retain(|((_, _, name), _, record)| {
        name.is_some() || record.status == RecordStatus::Fail || !made.contains(&test(record))
    });
}

fn columns(placed: &[(Identity, usize, Record)]) -> Vec<Column> {
    let mut columns: BTreeMap<Identity, Column> = BTreeMap::new();
    for (identity, source, record) in placed {
        columns.entry(identity.clone()).or_insert_with(|| Column::empty(identity.clone())).add(*source, record);
    }
    columns.into_values().collect()
}

fn entries(placed: Vec<(Identity, usize, Record)>, columns: &[Column], expected: &ExpectedFailures) -> Vec<Entry> {
    let places: BTreeMap<Identity, usize> =
        columns.iter().enumerate().map(|(index, column)| (column.identity(), index)).collect();
    let mut entries: BTreeMap<(Test, usize), Entry> = BTreeMap::new();
    for (identity, source, record) in placed {
        let why = if record.status == RecordStatus::Pass { impossible_pass(&record) } else { None };
        let judged = judge_record(&record, why.as_deref(), expected);
        let (test, column) = (test(&record), places[&identity]);
        let entry = Entry { record, column, source, judged };
        match entries.get_mut(&(test.clone(), column)) {
            Some(known) if known.gravity() <= entry.gravity() => {}
            Some(known) => *known = entry,
            None => {
                entries.insert((test, column), entry);
            }
        }
    }
    let mut entries: Vec<Entry> = entries.into_values().collect();
    entries.sort_by(|a, b| a.place().cmp(&b.place()));
    entries
}

impl Entry {
    fn place(&self) -> (&str, &str, usize, Precision, Check) {
        let Record { architecture, model, precision, check, .. } = &self.record;
        (architecture.as_str(), model, self.column, *precision, *check)
    }

    /// Smaller is graver; what did not run tells least.
    fn gravity(&self) -> (bool, Standing, usize) {
        (!self.judged.red, self.judged.standing, self.source)
    }
}
