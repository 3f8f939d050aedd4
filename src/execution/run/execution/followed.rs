//! The report and the log of a running suite, followed to show its progress. The evaluation reads
//! the complete report.

use super::remaining_time::RemainingTime;
use crate::results::read::parse_lines;
use std::{fs::File, io::Read, path::Path, time::Instant};
use testgen_base::progress::{RunProgress, TestProgress};
use testgen_base::text::Quoted;
use testgen_types::{CompileProgress, EntryStatus};

/// The bytes of a growing file that are read at once.
// A step must be short, because a signal of the user is noticed only after it.
const LARGEST_STEP: u64 = 1 << 20;

/// The longest line that is waited for.
// Otherwise a report without line ends would fill the memory.
const LONGEST_LINE: usize = 16 << 20;

/// The processes of a run.
pub(super) struct FollowedRun {
    processes: Vec<Followed>,
    remaining: Option<RemainingTime>,
    /// The time at which the first check began.
    began: Instant,
}

impl FollowedRun {
    pub(super) fn new(processes: Vec<Followed>, remaining: Option<RemainingTime>) -> Self {
        Self {
            processes,
            remaining,
            began: Instant::now(),
        }
    }

    /// Shows what was added: the kernels that are compiled before the first check, then the checks.
    pub(super) fn show(&mut self, all: Option<usize>, progress: &mut RunProgress) {
        for process in &mut self.processes {
            process.read();
            for test in process.ended.drain(..) {
                self.remaining.iter_mut().for_each(|time| time.end(&test));
            }
        }
        let done = self.processes.iter().map(|process| process.entries).sum();
        let compiled = self.processes.iter().filter_map(|process| process.compiled);
        let compiled = compiled.reduce(|a, b| CompileProgress {
            done: a.done + b.done,
            all: a.all + b.all,
        });
        let has_begun = done > 0
            || self
                .processes
                .iter()
                .any(|process| !process.running.is_empty());
        // Until the first check has started: afterwards the checks are the progress.
        if let Some(compiled) = compiled.filter(|_| !has_begun) {
            self.began = Instant::now();
            return progress.compiling(compiled);
        }
        let left = self.remaining.as_ref();
        progress.tests(&TestProgress {
            done,
            all,
            failed: self.processes.iter().map(|process| process.failed).sum(),
            left: left.and_then(|time| time.left(self.began.elapsed())),
            current: &self.current(),
        });
    }

    /// The check that has been running longest, or the one that ended last.
    fn current(&self) -> String {
        let running = self.processes.iter().flat_map(|process| &process.running);
        if let Some(check) = running.min_by_key(|check| check.since) {
            return format!("{} ({} s)", check.name, check.since.elapsed().as_secs());
        }
        let furthest = self.processes.iter().max_by_key(|process| process.entries);
        furthest.map_or_else(String::new, |process| process.last.clone())
    }
}

/// A check that has started.
struct RunningCheck {
    name: String,
    since: Instant,
}

/// The files of one process of a suite.
pub(super) struct Followed {
    report: Growing,
    log: Growing,
    started: Growing,
    /// The end of the report that is not a line yet.
    rest: String,
    entries: usize,
    failed: usize,
    /// The tests that ended since they were last counted.
    ended: Vec<String>,
    running: Vec<RunningCheck>,
    last: String,
    compiled: Option<CompileProgress>,
}

impl Followed {
    pub(super) fn new(report: &Path, log: &Path, started: &Path) -> Self {
        Self::following([report, log, started].map(Growing::new))
    }

    fn following([report, log, started]: [Growing; 3]) -> Self {
        Self {
            report,
            log,
            started,
            rest: String::new(),
            entries: 0,
            failed: 0,
            ended: Vec::new(),
            running: Vec::new(),
            last: String::new(),
            compiled: None,
        }
    }

    fn read(&mut self) {
        // Kernels are compiled before the first check ends.
        if self.entries == 0 {
            // A line that is not complete yet is not one of progress, or one with fewer digits: the
            // next read corrects it.
            self.compiled = self
                .log
                .added()
                .lines()
                // Only the newest line counts.
                .rev()
                .find_map(CompileProgress::of_line)
                .or(self.compiled);
        }
        // Before the report, which has the end of each.
        self.read_started();
        self.read_report();
    }

    /// A name that is written in two pieces is not shown.
    fn read_started(&mut self) {
        let added = self.started.added();
        let names = added
            .lines()
            .filter_map(|line| serde_json::from_str::<String>(line).ok());
        self.running.extend(names.map(|name| RunningCheck {
            // A terminal shows it.
            name: Quoted(&name).bare(),
            since: Instant::now(),
        }));
    }

    fn read_report(&mut self) {
        let added = self.report.added();
        self.entries += added.matches('\n').count();
        // A line may have been written in part; the rest comes with a later read.
        self.rest.push_str(&added);
        let Some(end) = self.rest.rfind('\n') else {
            if self.rest.len() > LONGEST_LINE {
                self.rest.clear();
            }
            return;
        };
        let lines: String = self.rest.drain(..=end).collect();
        for entry in parse_lines(&lines).entries {
            let name = entry.test_name();
            self.failed += usize::from(entry.status == EntryStatus::Fail);
            // A name comes from a file and is printed to a terminal.
            self.last = Quoted(&name).bare();
            let ended = self
                .running
                .iter()
                .position(|check| check.name == self.last);
            ended.map(|index| self.running.remove(index));
            self.ended.push(name);
        }
    }
}

/// A file that another process writes; a read at its end returns nothing, and a later one may
/// return more.
struct Growing(Option<Box<dyn Read>>);

impl Growing {
    fn new(path: &Path) -> Self {
        Self(
            File::open(path)
                .ok()
                .map(|file| Box::new(file) as Box<dyn Read>),
        )
    }

    /// The text since the last call, or a part of it; empty if there is none.
    fn added(&mut self) -> String {
        let mut added = Vec::new();
        if let Some(file) = &mut self.0 {
            // What was read before an error is shown.
            let _ = file.take(LARGEST_STEP).read_to_end(&mut added);
        }
        String::from_utf8_lossy(&added).into_owned()
    }
}

#[cfg(test)]
mod tests;
