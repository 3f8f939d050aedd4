//! The entries of several starts of the suite, joined to one for each work.

use super::comparison::{SpeedWork, work::work};
use std::collections::BTreeMap;
use testgen_types::{BenchEntry, BenchTimes};

/// The timed work in the order in which it was timed first, each with the calls of all starts.
pub(super) fn joined(entries: &[BenchEntry]) -> Vec<BenchEntry> {
    let mut joined: Vec<BenchEntry> = Vec::new();
    let mut places: BTreeMap<TimedWork, usize> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.times.is_some()) {
        let same = TimedWork::new(entry).and_then(|work| {
            let place = *places.entry(work).or_insert(joined.len());
            joined.get_mut(place)
        });
        match same {
            Some(first) => append(first, entry),
            None => joined.push(entry.clone()),
        }
    }
    joined
}

/// The fields that the entries of one work have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct TimedWork {
    work: SpeedWork,
    steps: Option<u32>,
    device_index: Option<u32>,
}

impl TimedWork {
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
    use super::{BenchEntry, BenchTimes, joined};
    use crate::bench::lines::tests::entry;

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
}
