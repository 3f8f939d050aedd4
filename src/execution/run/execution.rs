//! Runs the test binary of a suite: its list of tests, its reports and its exit statuses.

mod followed;
mod remaining_time;

use super::{
    BuiltSuite, RunError, Selection,
    suite_process::{EARLIER, REPORT, STARTED, command},
};
use followed::{Followed, FollowedRun};
use remaining_time::RemainingTime;
use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Child, ExitStatus, Stdio},
};
use testgen_base::{atomic_file::TemporaryFile, child_process, progress::RunProgress};

/// The names of all tests of a suite.
pub type Listing = BTreeSet<String>;

/// Options of a run.
#[derive(Debug, Clone)]
pub struct ExecutionOptions {
    /// The report, which replaces an earlier one when the suite has ended. The log is written next
    /// to it, with `.log` appended.
    pub report: PathBuf,
    /// The work of the suite.
    pub work: Work,
}

/// The work of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The selected checks.
    Checks,
    /// Every kernel on the products of the selected models.
    Kernels,
    /// Times of the selected models.
    Times,
}

/// The work of one process of the suite.
#[derive(Debug)]
pub struct SuitePart {
    /// A name for its log, where there are several processes.
    pub name: Option<String>,
    /// Its tests.
    pub selection: Selection,
    /// Environment for this process alone.
    pub environment: Vec<(&'static str, OsString)>,
}

/// A finished test binary.
#[derive(Debug)]
pub struct Execution {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its output.
    pub log: PathBuf,
    /// Complete, but not in its place yet: a run at the same time may have the same place.
    report: TemporaryFile,
}

impl Execution {
    /// The report of this process, until [`keep_reports`].
    pub fn report(&self) -> &Path {
        self.report.path()
    }
}

/// Puts the reports of all processes in their place, as one; without this they are deleted. Returns
/// the logs.
///
/// # Errors
///
/// When a report cannot be read, or the directory cannot be written.
pub fn keep_reports(executions: Vec<Execution>, target: &Path) -> Result<Vec<PathBuf>, RunError> {
    let logs = executions
        .iter()
        .map(|execution| execution.log.clone())
        .collect();
    let mut reports = executions.into_iter().map(|execution| execution.report);
    if let Some(first) = reports.next() {
        for other in reports {
            append(other.path(), first.path()).map_err(RunError::write(target))?;
        }
        // Renamed into place, so that a reader sees the old or the new report.
        first.persist().map_err(RunError::write(target))?;
    }
    Ok(logs)
}

/// Appends the lines of a report to another one.
fn append(from: &Path, to: &Path) -> io::Result<()> {
    let mut lines = fs::read(to)?;
    // A process that crashed may have left half a line, which must not swallow the next one.
    if lines.last().is_some_and(|last| *last != b'\n') {
        lines.push(b'\n');
    }
    lines.extend(fs::read(from)?);
    fs::write(to, lines)
}

/// Lists the tests of the suite; `environment` decides its engines.
///
/// # Errors
///
/// When the test binary does not start or fails to list its tests.
pub fn list(
    suite: &BuiltSuite,
    environment: &[(&'static str, OsString)],
) -> Result<Listing, RunError> {
    let output = command(suite)
        .envs(environment.iter().map(|(name, value)| (*name, value)))
        // The other format also prints the number of tests.
        .args(["--list", "--format", "terse"])
        .stdin(Stdio::null())
        .output()
        .map_err(|source| RunError::Start {
            binary: suite.binary.clone(),
            source,
        })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(RunError::List {
            binary: suite.binary.clone(),
            status: output.status,
            message,
        });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text
        .lines()
        // libtest also lists benchmarks.
        .filter_map(|line| line.strip_suffix(": test"))
        .map(str::to_owned)
        .collect())
}

/// Runs the selected tests, each part in a separate process and all at the same time. Failing tests
/// are not an error here; the reports contain them.
///
/// # Errors
///
/// When the test binary does not start, or a report or a log cannot be written.
pub fn execute(
    suite: &BuiltSuite,
    parts: &[SuitePart],
    options: &ExecutionOptions,
    progress: &mut RunProgress,
) -> Result<Vec<Execution>, RunError> {
    child_process::watch_interrupts();
    let (all, work) = described_work(parts, options.work);
    progress.stage("testing", &work);
    let mut started = parts
        .iter()
        .map(|part| Started::new(suite, part, options))
        .collect::<Result<Vec<_>, _>>()?;
    let followed = started.iter().map(|process| {
        Followed::new(
            process.report.path(),
            process.log_file.path(),
            process.started.path(),
        )
    });
    let mut followed = FollowedRun::new(followed.collect(), remaining_time(parts, options));
    let mut children: Vec<&mut Child> = started
        .iter_mut()
        .map(|process| &mut process.child)
        .collect();
    let statuses = child_process::wait_all(&mut children, || followed.show(all, progress));
    // Also of an interrupted run, to show what it had reached.
    let ended: Vec<(PathBuf, TemporaryFile)> = started
        .into_iter()
        .map(Started::end)
        .collect::<Result<_, _>>()?;
    let executions = statuses?.into_iter().zip(ended);
    let executions = executions
        .map(|(status, (log, report))| Execution {
            status,
            log,
            report,
        })
        .collect();
    progress.end("tested", &work);
    Ok(executions)
}

/// The number of checks, and the work in words.
fn described_work(parts: &[SuitePart], work: Work) -> (Option<usize>, String) {
    match work {
        Work::Checks => {
            let checks = parts.iter().map(|part| part.selection.tests.len()).sum();
            let processes = if parts.len() > 1 {
                format!(" in {} processes", parts.len())
            } else {
                String::new()
            };
            (Some(checks), format!("{checks} checks{processes}"))
        }
        // The number of products is known only to the suite.
        Work::Kernels => (None, "every kernel".to_owned()),
        Work::Times => (None, "times".to_owned()),
    }
}

/// The time that the checks take by the report that this run replaces.
fn remaining_time(parts: &[SuitePart], options: &ExecutionOptions) -> Option<RemainingTime> {
    let tests = parts.iter().flat_map(|part| &part.selection.tests);
    (options.work == Work::Checks).then(|| RemainingTime::new(tests, &options.report))
}

/// A running test binary with its files. The file of checks that started is deleted at the end.
struct Started {
    child: Child,
    report: TemporaryFile,
    log: PathBuf,
    log_file: TemporaryFile,
    started: TemporaryFile,
}

impl Started {
    fn new(
        suite: &BuiltSuite,
        part: &SuitePart,
        options: &ExecutionOptions,
    ) -> Result<Self, RunError> {
        // Absolute, because the suite runs in another directory.
        let target =
            std::path::absolute(&options.report).map_err(RunError::write(&options.report))?;
        // Next to its place, since only a rename within one file system is atomic.
        let report = TemporaryFile::new(&target).map_err(RunError::write(&target))?;
        let log = log_path(&target, part.name.as_deref());
        let log_file = TemporaryFile::new(&log).map_err(RunError::write(&log))?;
        let started = TemporaryFile::new(&target).map_err(RunError::write(&target))?;
        let output = log_file
            .handle()
            .try_clone()
            .map_err(RunError::write(&log))?;
        // A clone shares the position in the file, so that both streams append to one log.
        let errors = output.try_clone().map_err(RunError::write(&log))?;
        let mut command = command(suite);
        // Other work runs no tests that could be filtered.
        if options.work == Work::Checks {
            command.args(&part.selection.arguments);
        }
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        command
            .envs(part.environment.iter().map(|(name, value)| (*name, value)))
            .env(REPORT, report.path())
            .env(STARTED, started.path());
        // The report that this run replaces, whose times show how long the checks will take.
        if target.is_file() {
            command.env(EARLIER, &target);
        }
        // A suite without its parent would go on using the GPUs.
        child_process::end_with_this_process(&mut command);
        let child = command.spawn().map_err(|source| RunError::Start {
            binary: suite.binary.clone(),
            source,
        })?;
        Ok(Self {
            child,
            report,
            log,
            log_file,
            started,
        })
    }

    /// Puts the log in its place.
    fn end(self) -> Result<(PathBuf, TemporaryFile), RunError> {
        let Self {
            report,
            log,
            log_file,
            ..
        } = self;
        log_file.persist().map_err(|source| RunError::Write {
            path: log.clone(),
            source,
        })?;
        Ok((log, report))
    }
}

/// `report.jsonl.log` for `report.jsonl`; with several processes `report.jsonl.rocm-1.log`.
fn log_path(report: &Path, process: Option<&str>) -> PathBuf {
    let mut name = report.as_os_str().to_owned();
    if let Some(process) = process {
        name.push(format!(".{process}"));
    }
    // Appended: two reports of one folder may differ in their extension alone.
    name.push(".log");
    PathBuf::from(name)
}
