//! The growing files of a running suite, followed to show its progress. The evaluation reads the complete report.

use super::Progress;
use crate::results::parse_lines;
use std::{fs::File, io::Read, path::Path};
use testgen_types::CompileProgress;

/// The bytes of a growing file that are read at once.
const LARGEST_STEP: u64 = 1 << 20;

/// The report and the log of a running suite.
pub(super) struct Followed {
    report: Growing,
    log: Growing,
    entries: usize,
    last: String,
    compiled: Option<CompileProgress>,
}

impl Followed {
    pub(super) fn new(report: &Path, log: &Path) -> Self {
        let (report, log) = (Growing::new(report), Growing::new(log));
        Self { report, log, entries: 0, last: String::new(), compiled: None }
    }

    /// Shows what was added: the kernels that are compiled before the first check, then the checks.
    pub(super) fn show(&mut self, all: Option<usize>, progress: &mut Progress) {
        self.read();
        match self.compiled {
            Some(compiled) if self.entries == 0 => progress.compiling(compiled),
            _ => progress.tests(self.entries, all, &self.last),
        }
    }

    fn read(&mut self) {
        if self.entries == 0 {
            // A line that is not complete yet is not one of progress, or one with fewer digits: the next read corrects it.
            self.compiled = self.log.added().lines().rev().find_map(CompileProgress::of_line).or(self.compiled);
        }
        let added = self.report.added();
        self.entries += added.matches('\n').count();
        // A line that is not complete yet is ignored here, because it is only counted once its line break is read.
        if let Some(entry) = parse_lines(&added).entries.last() {
            self.last = entry.test_name();
        }
    }
}

/// A file that another process writes.
struct Growing(Option<File>);

impl Growing {
    fn new(path: &Path) -> Self {
        Self(File::open(path).ok())
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
mod tests {
    use super::{CompileProgress, Followed};

    #[test]
    fn compiling_is_read_from_the_log_until_a_check_has_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let [report, log] = ["report", "log"].map(|name| folder.path().join(name));
        let write = |path, text: &str| std::fs::write(path, text).expect("a file");
        write(&report, "");
        write(&log, "other\ncompiling GPU kernels: 1/4\ncompiling GPU kernels: 3/4\n");
        let mut followed = Followed::new(&report, &log);
        followed.read();
        assert_eq!(followed.compiled, Some(CompileProgress { done: 3, all: 4 }));
        write(&report, "{}\n");
        followed.read();
        assert_eq!((followed.entries, followed.compiled), (1, Some(CompileProgress { done: 3, all: 4 })));
    }
}
