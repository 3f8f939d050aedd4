//! Where reports come from: files of JSON lines, or directories of them.

use super::{Problem, ReportError, read_lines};
use std::path::{Path, PathBuf};
use testgen_contract::Record;
use walkdir::WalkDir;

/// The ending of report files.
const EXTENSION: &str = "jsonl";

/// One report.
#[derive(Debug)]
pub struct Source {
    /// The path below the directory that was given, or the name of the file that was given.
    pub name: String,
    /// Its records.
    pub records: Vec<Record>,
    /// Lines that are none.
    pub problems: Vec<Problem>,
}

/// Reads every report of `places`: a directory stands for all `*.jsonl` below it.
///
/// # Errors
///
/// When a place does not exist or cannot be read, or a directory has no report.
pub fn read_sources(places: &[PathBuf]) -> Result<Vec<Source>, ReportError> {
    let mut sources = Vec::new();
    for place in places {
        for path in report_files(place)? {
            let lines = read_lines(&path)?;
            let name = unique_name(&sources, name(place, &path, places.len() > 1));
            sources.push(Source { name, records: lines.records, problems: lines.problems });
        }
    }
    Ok(sources)
}

fn report_files(place: &Path) -> Result<Vec<PathBuf>, ReportError> {
    if !place.is_dir() {
        return Ok(vec![place.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in WalkDir::new(place).sort_by_file_name() {
        let entry = entry.map_err(|error| ReportError::Read { path: place.to_owned(), source: error.into() })?;
        if entry.file_type().is_file() && entry.path().extension().is_some_and(|kind| kind == EXTENSION) {
            files.push(entry.into_path());
        }
    }
    if files.is_empty() { Err(ReportError::NoReports { directory: place.to_owned() }) } else { Ok(files) }
}

/// With several places the name of the directory goes first. Never an absolute path: reports of two machines are alike.
fn name(place: &Path, file: &Path, several: bool) -> String {
    let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match file.strip_prefix(place) {
        Ok(below) if below.as_os_str().is_empty() => last(file),
        Ok(below) if several => format!("{}/{}", last(place), below.display()),
        Ok(below) => below.display().to_string(),
        Err(_) => last(file),
    }
}

fn unique_name(known: &[Source], name: String) -> String {
    let taken = |name: &str| known.iter().any(|source| source.name == name);
    if !taken(&name) {
        return name;
    }
    (2..).map(|count| format!("{name} ({count})")).find(|name| !taken(name)).unwrap_or(name)
}
