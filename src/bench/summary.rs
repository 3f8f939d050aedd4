//! The entries of a report of times, and whether they are green.

use super::lines::BenchLines;
use serde::Serialize;
use testgen_types::{BenchEntry, BenchStatus};

/// A report of times.
#[derive(Debug, Serialize)]
pub struct BenchSummary {
    /// The version of the JSON form.
    pub version: u32,
    /// Whether something was timed, nothing is wrong, and each line can be read.
    pub green: bool,
    /// The starts of the suite, one after another; 1 for reports that were read from files, which do
    /// not say it.
    pub starts: u32,
    /// The entries in the order in which they were measured.
    pub entries: Vec<BenchEntry>,
    /// Problems of the report itself.
    pub problems: Vec<String>,
}

impl BenchSummary {
    /// The version of the JSON form.
    const VERSION: u32 = 1;

    /// A report, with the problem of the process that wrote it, if there was one.
    pub fn new(lines: BenchLines, problem: Option<String>) -> Self {
        let BenchLines {
            entries,
            mut problems,
        } = lines;
        problems.extend(problem);
        let has = |status| entries.iter().any(|entry| entry.status == status);
        // Without a time nothing can be wrong, which must not be green.
        if !has(BenchStatus::Timed) {
            problems.push("nothing was timed".to_owned());
        }
        Self {
            version: Self::VERSION,
            green: problems.is_empty() && !has(BenchStatus::Wrong),
            starts: 1,
            entries,
            problems,
        }
    }

    /// The same report, of so many starts.
    pub fn of_starts(self, starts: u32) -> Self {
        Self { starts, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::lines::tests::entry;

    fn green(statuses: &[BenchStatus]) -> bool {
        let with = |status: &BenchStatus| BenchEntry {
            status: *status,
            ..entry()
        };
        let lines = BenchLines {
            entries: statuses.iter().map(with).collect(),
            problems: Vec::new(),
        };
        BenchSummary::new(lines, None).green
    }

    #[test]
    fn a_wrong_result_and_no_result_are_not_green() {
        assert!(green(&[BenchStatus::Timed, BenchStatus::NotTimed]));
        assert!(!green(&[BenchStatus::Timed, BenchStatus::Wrong]));
        assert!(!green(&[BenchStatus::NotTimed]));
        assert!(!green(&[]));
        let lines = BenchLines {
            entries: vec![entry()],
            problems: Vec::new(),
        };
        assert!(!BenchSummary::new(lines, Some("it crashed".to_owned())).green);
    }
}
