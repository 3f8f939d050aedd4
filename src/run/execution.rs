//! Running the test binary of a suite: what it lists, what it records, how it ends.

use super::{Progress, RunError, Selection, Suite, child};
use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

/// The environment variable that names the report to the suite.
const REPORT: &str = "TESTGEN_REPORT";

/// The names of all tests of a suite.
pub type Listing = BTreeSet<String>;

/// How a suite is run.
#[derive(Debug, Clone)]
pub struct ExecutionOptions {
    /// Where the suite appends its records; replaced when it exists. The log is beside it, with `.log` added.
    pub report: PathBuf,
    /// Environment for the suite alone.
    pub environment: Vec<(&'static str, OsString)>,
}

/// A suite that has run.
#[derive(Debug)]
pub struct Execution {
    /// How the test binary ended.
    pub status: ExitStatus,
    /// What it printed.
    pub log: PathBuf,
}

/// Asks the suite for its tests.
///
/// # Errors
///
/// When the test binary does not start or does not list.
pub fn list(suite: &Suite) -> Result<Listing, RunError> {
    let output = command(suite)
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

/// Runs the selected tests. How many of them fail does not matter here: the report says it.
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
    child::watch_interrupts();
    let all = selection.tests.len();
    progress.stage("testing", &format!("{all} checks"));
    let report = fresh_report(&options.report)?;
    let log = beside(&report);
    let output = File::create(&log).map_err(|source| RunError::Write { path: log.clone(), source })?;
    let errors = output.try_clone().map_err(|source| RunError::Write { path: log.clone(), source })?;
    let mut command = command(suite);
    command.args(&selection.arguments).stdin(Stdio::null()).stdout(output).stderr(errors);
    command.envs(options.environment.iter().map(|(name, value)| (*name, value))).env(REPORT, &report);
    let mut binary = command.spawn().map_err(|source| RunError::Start { binary: suite.binary.clone(), source })?;
    let mut tail = Tail::new(&report);
    let status = child::wait(&mut binary, || {
        tail.read();
        progress.tests(tail.records, all, &tail.last);
    })?;
    progress.end("tested", &format!("{all} checks"));
    Ok(Execution { status, log })
}

/// The test binary as cargo would start it: in the directory of its Cargo.toml.
fn command(suite: &Suite) -> Command {
    let mut command = Command::new(&suite.binary);
    command.current_dir(&suite.directory).env("CARGO_MANIFEST_DIR", &suite.directory);
    command
}

/// The absolute path of an empty report; records of an earlier run are gone.
fn fresh_report(path: &Path) -> Result<PathBuf, RunError> {
    let error = |source| RunError::Write { path: path.to_path_buf(), source };
    let path = std::path::absolute(path).map_err(error)?;
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(error)?;
    }
    File::create(&path).map_err(error)?;
    Ok(path)
}

/// `report.jsonl.log` for `report.jsonl`.
fn beside(report: &Path) -> PathBuf {
    let mut name = report.as_os_str().to_owned();
    name.push(".log");
    PathBuf::from(name)
}

/// Follows a growing report, to show how far the suite is. Judging reads the file anew.
struct Tail {
    file: Option<File>,
    records: usize,
    last: String,
}

impl Tail {
    fn new(report: &Path) -> Self {
        Self { file: File::open(report).ok(), records: 0, last: String::new() }
    }

    fn read(&mut self) {
        let mut added = String::new();
        let Some(file) = &mut self.file else { return };
        if io::Read::read_to_string(file, &mut added).is_err() || added.is_empty() {
            return;
        }
        self.records += added.matches('\n').count();
        let records = crate::report::parse_lines(&added).records;
        if let Some(record) = records.last() {
            self.last = record.test_name();
        }
    }
}
