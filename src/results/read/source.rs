//! Finds the report files among the given paths: files of JSON lines, packed or not, or directories
//! of them.

use super::{ReportError, ReportProblem, read_lines};
use std::path::{Path, PathBuf};
use testgen_types::{ReportEntry, bounded_file::FileProblem};
use walkdir::WalkDir;

/// The ends of the names of report files; a packed one is read as well.
const EXTENSIONS: [&str; 2] = [".jsonl", ".jsonl.gz"];

/// One report.
#[derive(Debug)]
pub struct ReportSource {
    /// The path below the given directory, or the name of the given file.
    pub name: String,
    /// Its entries.
    pub entries: Vec<ReportEntry>,
    /// Its bad lines.
    pub problems: Vec<ReportProblem>,
}

/// Reads every report of `paths`; a directory contributes all `*.jsonl` and `*.jsonl.gz` files
/// below it.
///
/// # Errors
///
/// When a path does not exist or cannot be read, or a directory contains no report.
pub fn read_sources(paths: &[PathBuf]) -> Result<Vec<ReportSource>, ReportError> {
    let mut sources = Vec::new();
    for path in paths {
        for file in report_files(path)? {
            let lines = read_lines(&file)?;
            let name = unique_name(&sources, name(path, &file, paths.len() > 1));
            sources.push(ReportSource {
                name,
                entries: lines.entries,
                problems: lines.problems,
            });
        }
    }
    Ok(sources)
}

/// The reports that a path names: itself, or those below it.
pub(crate) fn report_files(path: &Path) -> Result<Vec<PathBuf>, ReportError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    // Sorted, because the order of a directory differs between machines.
    for entry in WalkDir::new(path).sort_by_file_name() {
        let entry = entry.map_err(|error| ReportError::Read {
            path: path.to_owned(),
            problem: FileProblem::System(error.into()),
        })?;
        // A FIFO or a dangling link of that name is an error when it is read.
        let name = entry.file_name().to_string_lossy();
        let is_report = EXTENSIONS.iter().any(|end| name.ends_with(end));
        if is_report && !entry.file_type().is_dir() {
            files.push(entry.into_path());
        }
    }
    if files.is_empty() {
        Err(ReportError::NoReports {
            directory: path.to_owned(),
        })
    } else {
        Ok(files)
    }
}

/// With several paths the name begins with the directory's, so that it stays unique.
fn name(path: &Path, file: &Path, several: bool) -> String {
    // Never an absolute path: the merged report must not depend on the machine that merges.
    match file.strip_prefix(path) {
        Ok(below) if below.as_os_str().is_empty() => file_name(file),
        // Files below different directories may have one name.
        Ok(below) if several => format!("{}/{}", file_name(path), below.display()),
        Ok(below) => below.display().to_string(),
        Err(_) => file_name(file),
    }
}

fn unique_name(known: &[ReportSource], name: String) -> String {
    // Directories in different places may have one name.
    let taken = |name: &str| known.iter().any(|source| source.name == name);
    if !taken(&name) {
        return name;
    }
    (2..)
        .map(|count| format!("{name} ({count})"))
        .find(|name| !taken(name))
        .unwrap_or(name)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
