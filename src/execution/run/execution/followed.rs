//! The report and the log of a running suite, followed to show its progress. The evaluation reads
//! the complete report.

use crate::results::read::parse_lines;
use std::{fs::File, io::Read, path::Path};
use testgen_base::progress::RunProgress;
use testgen_base::text::Quoted;
use testgen_types::CompileProgress;

/// The bytes of a growing file that are read at once.
const LARGEST_STEP: u64 = 1 << 20;

/// The processes of a run.
pub(super) struct FollowedRun(Vec<Followed>);

impl FollowedRun {
    pub(super) fn new(processes: Vec<Followed>) -> Self {
        Self(processes)
    }

    /// Shows what was added: the kernels that are compiled before the first check, then the checks.
    pub(super) fn show(&mut self, all: Option<usize>, progress: &mut RunProgress) {
        self.0.iter_mut().for_each(Followed::read);
        let entries = self.0.iter().map(|process| process.entries).sum();
        let compiled = self.0.iter().filter_map(|process| process.compiled);
        let compiled = compiled.reduce(|a, b| CompileProgress {
            done: a.done + b.done,
            all: a.all + b.all,
        });
        match compiled {
            Some(compiled) if entries == 0 => progress.compiling(compiled),
            _ => {
                let furthest = self.0.iter().max_by_key(|process| process.entries);
                progress.tests(entries, all, furthest.map_or("", |process| &process.last));
            }
        }
    }
}

/// The report and the log of one process of a suite.
pub(super) struct Followed {
    report: Growing,
    log: Growing,
    entries: usize,
    last: String,
    compiled: Option<CompileProgress>,
}

impl Followed {
    pub(super) fn new(report: &Path, log: &Path) -> Self {
        Self::following(Growing::new(report), Growing::new(log))
    }

    fn following(report: Growing, log: Growing) -> Self {
        Self {
            report,
            log,
            entries: 0,
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
                .rev()
                .find_map(CompileProgress::of_line)
                .or(self.compiled);
        }
        let added = self.report.added();
        self.entries += added.matches('\n').count();
        // A line that is not complete yet is ignored here, because it is only counted once its line
        // break is read.
        if let Some(entry) = parse_lines(&added).entries.last() {
            // A terminal shows it.
            self.last = Quoted(&entry.test_name()).bare();
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
