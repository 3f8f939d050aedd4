//! Runs the test binary of a suite: its list of tests, its report and its exit status.

mod followed;

use super::{Progress, RunError, Selection, Suite};
use crate::{atomic_file::TemporaryFile, child_process};
use followed::Followed;
use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

/// The environment variable that names the report to the suite.
pub(crate) const REPORT: &str = "TESTGEN_REPORT";

/// The names of all tests of a suite.
pub type Listing = BTreeSet<String>;

/// Options of a run.
#[derive(Debug, Clone)]
pub struct ExecutionOptions {
    /// The report, which replaces an earlier one when the suite has ended. The log is written next to it, with `.log` appended.
    pub report: PathBuf,
    /// The work of the suite.
    pub work: Work,
    /// Environment for the suite alone.
    pub environment: Vec<(&'static str, OsString)>,
}

/// The work of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The selected checks.
    Checks,
    /// Every kernel on the products of the selected models.
    Kernels,
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
    target: PathBuf,
}

impl Execution {
    /// The report of this run, until [`Self::keep_report`].
    pub fn report(&self) -> &Path {
        self.report.path()
    }

    /// Puts the report in its place; without this it is deleted. Returns the log.
    ///
    /// # Errors
    ///
    /// When the directory cannot be written.
    pub fn keep_report(self) -> Result<PathBuf, RunError> {
        let Self { report, target, log, .. } = self;
        report.persist().map_err(|source| RunError::Write { path: target, source })?;
        Ok(log)
    }
}

/// Lists the tests of the suite; `environment` decides its engines.
///
/// # Errors
///
/// When the test binary does not start or fails to list its tests.
pub fn list(suite: &Suite, environment: &[(&'static str, OsString)]) -> Result<Listing, RunError> {
    let output = command(suite)
        .envs(environment.iter().map(|(name, value)| (*name, value)))
        .args(["--list", "--format", "terse"])
        .stdin(Stdio::null())
        .output()
        .map_err(|source| RunError::Start { binary: suite.binary.clone(), source })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(RunError::List { binary: suite.binary.clone(), status: output.status, message });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// Runs the selected tests. Failing tests are not an error here; the report contains them.
///
/// # Errors
///
/// When the test binary does not start, or the report or the log cannot be written.
pub fn execute(
    suite: &Suite,
    selection: &Selection,
    options: &ExecutionOptions,
    progress: &mut Progress,
) -> Result<Execution, RunError> {
    child_process::watch_interrupts();
    // The number of products is known only to the suite.
    let (all, work) = match options.work {
        Work::Checks => (Some(selection.tests.len()), format!("{} checks", selection.tests.len())),
        Work::Kernels => (None, "every kernel".to_owned()),
    };
    progress.stage("testing", &work);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| RunError::Write { path, source }
    };
    // Absolute, because the suite runs in another directory.
    let target = std::path::absolute(&options.report).map_err(failed(&options.report))?;
    let report = TemporaryFile::new(&target).map_err(failed(&target))?;
    let log = log_path(&target);
    let log_file = TemporaryFile::new(&log).map_err(failed(&log))?;
    let output = log_file.handle().try_clone().map_err(failed(&log))?;
    // A clone shares the position in the file, so that both streams append to one log.
    let errors = output.try_clone().map_err(failed(&log))?;
    let mut command = command(suite);
    if options.work == Work::Checks {
        command.args(&selection.arguments);
    }
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    command.envs(options.environment.iter().map(|(name, value)| (*name, value))).env(REPORT, report.path());
    child_process::end_with_this_process(&mut command);
    let mut binary = command.spawn().map_err(|source| RunError::Start { binary: suite.binary.clone(), source })?;
    let mut followed = Followed::new(report.path(), log_file.path());
    let status = child_process::wait(&mut binary, || followed.show(all, progress));
    // Also of an interrupted run, to show where it was.
    log_file.persist().map_err(failed(&log))?;
    let status = status?;
    progress.end("tested", &work);
    Ok(Execution { status, log, report, target })
}

/// Starts the test binary as cargo does, in the directory of its Cargo.toml, so that relative paths work.
pub(crate) fn command(suite: &Suite) -> Command {
    let mut command = Command::new(&suite.binary);
    command.current_dir(&suite.directory).env("CARGO_MANIFEST_DIR", &suite.directory);
    command
}

/// `report.jsonl.log` for `report.jsonl`.
fn log_path(report: &Path) -> PathBuf {
    let mut name = report.as_os_str().to_owned();
    name.push(".log");
    PathBuf::from(name)
}
