//! The entries of several starts of the suite, joined to one for each work.

use super::comparison::{SpeedWork, work::work};
use std::collections::{BTreeMap, BTreeSet};
use testgen_types::{BenchEntry, BenchStatus, BenchTimes};

/// The timed work in the order in which it was timed first, each with the calls of all starts.
pub(super) fn joined(entries: &[BenchEntry]) -> Vec<BenchEntry> {
    let mut joined: Vec<BenchEntry> = Vec::new();
    let mut places: BTreeMap<RowWork, usize> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.times.is_some()) {
        let same = RowWork::new(entry).and_then(|work| {
            let place = *places.entry(work).or_insert(joined.len());
            // A new place is the length of the list, at which there is no entry yet.
            joined.get_mut(place)
        });
        match same {
            Some(first) => append(first, entry),
            None => joined.push(entry.clone()),
        }
    }
    joined
}

/// The number of rows with this status: each work once, however often the suite was started.
pub(super) fn rows(entries: &[BenchEntry], status: BenchStatus) -> usize {
    let entries = entries.iter().filter(|entry| entry.status == status);
    // An entry without a measurement is about all work of its subject.
    let rows = entries.map(|entry| {
        let subject = (&entry.subject, entry.precision);
        (subject, entry.device, &entry.engine, RowWork::new(entry))
    });
    rows.collect::<BTreeSet<_>>().len()
}

/// The fields that the entries of one row have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RowWork {
    work: SpeedWork,
    // Not in `SpeedWork`, whose comparison refuses other steps: here they would be joined.
    steps: Option<u32>,
    device_index: Option<u32>,
}

impl RowWork {
    fn new(entry: &BenchEntry) -> Option<Self> {
        Some(Self {
            work: work(entry, true)?,
            steps: entry.steps,
            device_index: entry.device_index,
        })
    }
}

fn append(first: &mut BenchEntry, other: &BenchEntry) {
    let both = [&*first, other].map(|entry| entry.times.as_ref());
    let calls = both.into_iter().flatten();
    let calls = calls.flat_map(|times| &times.milliseconds).copied();
    first.times = BenchTimes::new(calls.collect());
}

#[cfg(test)]
mod tests {
    use super::{BenchEntry, BenchStatus, BenchTimes, joined, rows};
    use crate::bench::lines::tests::entry;
    use testgen_types::Precision;

    #[test]
    fn starts_of_one_work_are_one_entry() {
        let timed = |batch, milliseconds: &[f64]| BenchEntry {
            batch: Some(batch),
            times: BenchTimes::new(milliseconds.to_vec()),
            ..entry()
        };
        let wrong = BenchEntry {
            times: None,
            ..entry()
        };
        let entries = [
            timed(8, &[4.0, 4.0]),
            wrong,
            timed(1, &[2.0]),
            timed(8, &[6.0, 7.0, 8.0]),
        ];
        assert_eq!(
            joined(&entries),
            [timed(8, &[4.0, 4.0, 6.0, 7.0, 8.0]), timed(1, &[2.0])]
        );
    }

    #[test]
    fn a_row_is_counted_once_for_all_starts() {
        let with = |batch, status| BenchEntry {
            batch: Some(batch),
            status,
            ..entry()
        };
        let whole = |precision| BenchEntry {
            precision,
            measured: None,
            ..with(1, BenchStatus::Wrong)
        };
        let start = [
            with(1, BenchStatus::Timed),
            with(8, BenchStatus::Timed),
            with(99, BenchStatus::NotTimed),
            whole(Precision::F16),
            whole(Precision::Bf16),
        ];
        let statuses = [
            BenchStatus::Timed,
            BenchStatus::NotTimed,
            BenchStatus::Wrong,
        ];
        let entries = [start.as_slice(), &start, &start].concat();
        assert_eq!(statuses.map(|status| rows(&entries, status)), [2, 1, 2]);
    }
}
