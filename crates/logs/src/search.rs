//! The training log of a directory: which file is read, and why the others are not.
//!
//! Every process of a distributed run writes a log, and most trainers print the numbers of a step
//! in one of them. Files are tried with rank 0 first. Tables of GPUs are all read.

mod rank_of_path;

use super::{
    error::LogError,
    gpu_table::{GpuTable, read_gpu_table},
    reading::read_log,
    summary::LogSummary,
};
use rank_of_path::rank_of_path;
use serde::Serialize;
use std::path::{Path, PathBuf};
use testgen_types::bounded_file::open;
use walkdir::{DirEntry, WalkDir};

/// The depth that is searched: `RUN/attempt_0/RANK/stdout.log` of torchrun, and two directories
/// above.
const DEPTH: usize = 6;
/// The files that are considered.
const FILES: usize = 10_000;
/// The ends of names of logs. torchrun and the launchers of clusters write the last ones.
const LOGS: [&str; 6] = ["log", "txt", "out", "err", "stdout", "stderr"];
/// Directories that contain code and no logs, some of them with many thousands of files.
const SKIPPED: [&str; 4] = ["__pycache__", "node_modules", "site-packages", "target"];

/// The files of a directory: the log that was read, the tables, and the others.
#[derive(Debug, Clone)]
pub struct LogSearch {
    /// The log.
    pub log: LogSummary,
    /// The tables of GPUs.
    pub gpus: Vec<GpuTable>,
    /// Each file that was considered, in the order in which it was.
    pub files: Vec<SearchedFile>,
}

/// A file of a searched directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchedFile {
    /// The file.
    pub path: String,
    /// The rank of the process that wrote it, if its name has one.
    pub rank: Option<u32>,
    /// Its use, or why it has none.
    pub outcome: SearchOutcome,
}

/// The use of a file of a searched directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchOutcome {
    /// The log.
    Taken,
    /// A table of GPUs.
    TakenAsGpuTable,
    /// Not read, because another file is the log.
    NotRead,
    /// Read, and not a log: the reason.
    NotALog(String),
}

/// Searches a directory for the log of a training run.
///
/// # Errors
///
/// When a directory cannot be read, has more than 10,000 candidates, or no file is a log.
pub fn search_logs(directory: &Path) -> Result<LogSearch, LogError> {
    let mut gpus = Vec::new();
    let mut files = Vec::new();
    let mut log = None;
    for (path, rank) in candidates(directory)? {
        let outcome = if is_table(&path) {
            table(&path, &mut gpus)
        } else if log.is_some() {
            SearchOutcome::NotRead
        } else {
            match open(&path)
                .map_err(LogError::from)
                .and_then(|file| read_log(&path, file))
            {
                Ok(summary) => {
                    log = Some(summary);
                    SearchOutcome::Taken
                }
                Err(error) => SearchOutcome::NotALog(error.to_string()),
            }
        };
        files.push(SearchedFile {
            path: path.display().to_string(),
            rank,
            outcome,
        });
    }
    match log {
        Some(log) => Ok(LogSearch { log, gpus, files }),
        None => Err(LogError::NoLog {
            directory: directory.to_owned(),
            files: files.len(),
        }),
    }
}

fn table(path: &Path, gpus: &mut Vec<GpuTable>) -> SearchOutcome {
    let read = open(path)
        .map_err(LogError::from)
        .and_then(|file| read_gpu_table(path, file));
    match read {
        Ok(Some(table)) => {
            gpus.push(table);
            SearchOutcome::TakenAsGpuTable
        }
        Ok(None) => SearchOutcome::NotALog("no heading of a table of GPUs".to_owned()),
        Err(error) => SearchOutcome::NotALog(error.to_string()),
    }
}

/// The files with names of logs and tables: rank 0 first, then files without a rank, then the other
/// ranks; alike ones by path.
fn candidates(directory: &Path) -> Result<Vec<(PathBuf, Option<u32>)>, LogError> {
    let walk = WalkDir::new(directory)
        .max_depth(DEPTH)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_skipped(entry));
    let mut found = Vec::new();
    for entry in walk {
        let entry = entry.map_err(|error| LogError::Search {
            directory: directory.to_owned(),
            source: error.into(),
        })?;
        // Links are not followed: a log of another directory is not a log of this one.
        if entry.file_type().is_file() && is_candidate(entry.path()) {
            let path = entry.into_path();
            let below = path.strip_prefix(directory).unwrap_or(&path);
            let rank = rank_of_path(below);
            found.push((path, rank));
        }
        if found.len() > FILES {
            return Err(LogError::TooManyFiles {
                directory: directory.to_owned(),
                limit: FILES,
            });
        }
    }
    found.sort_by_key(|(path, rank)| (order(*rank), path.clone()));
    Ok(found)
}

fn order(rank: Option<u32>) -> (u8, u32) {
    match rank {
        Some(0) => (0, 0),
        None => (1, 0),
        Some(rank) => (2, rank),
    }
}

fn is_skipped(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    name.starts_with('.') || entry.file_type().is_dir() && SKIPPED.contains(&name.as_ref())
}

fn is_candidate(path: &Path) -> bool {
    is_table(path) || LOGS.iter().any(|end| has_end(path, end))
}

fn is_table(path: &Path) -> bool {
    has_end(path, "csv")
}

/// Whether the extension is `end`, or the whole name, as of `stdout`.
fn has_end(path: &Path, end: &str) -> bool {
    let is_end = |text: &std::ffi::OsStr| text.eq_ignore_ascii_case(end);
    path.extension().is_some_and(is_end) || path.file_name().is_some_and(is_end)
}

#[cfg(test)]
mod tests {
    use super::{SearchOutcome, order, search_logs};
    use std::{fs, path::Path};
    use tempfile::TempDir;

    const NUMBERS: &str = "iter 3: loss 2.5, time 1.0ms, mfu 1.00%\n";

    fn write(directory: &Path, name: &str, text: &str) {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().expect("it has a parent")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    }

    fn outcomes(directory: &Path) -> Vec<(String, SearchOutcome)> {
        let search = search_logs(directory).expect("it has a log");
        let names = search.files.into_iter().map(|file| {
            let below = Path::new(&file.path).strip_prefix(directory);
            let name = below.expect("it is below").display().to_string();
            (name, file.outcome)
        });
        names.collect()
    }

    #[test]
    fn rank_0_is_first_and_a_log_without_numbers_is_passed_over() {
        let directory = TempDir::new().expect("a directory");
        let root = directory.path();
        for name in ["run/attempt_0/1/stdout.log", "run/attempt_0/7/stdout.log"] {
            write(root, name, NUMBERS);
        }
        write(root, "run/attempt_0/0/stdout.log", "hello\n");
        write(root, "a.log", NUMBERS);
        write(root, "gpus.csv", "gpu,gfx\n0,10\n");
        write(root, "data.csv", "a,b\n1,2\n");
        write(root, ".hidden/a.log", NUMBERS);
        write(root, "target/a.log", NUMBERS);
        write(root, "code.py", NUMBERS);
        let found = outcomes(root);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let expected = [
            "run/attempt_0/0/stdout.log",
            "a.log",
            "data.csv",
            "gpus.csv",
            "run/attempt_0/1/stdout.log",
            "run/attempt_0/7/stdout.log",
        ];
        assert_eq!(names, expected);
        let [zero, taken, data, gpus, one, seven] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert!(matches!(&zero.1, SearchOutcome::NotALog(reason) if reason.contains("known form")));
        assert_eq!(taken.1, SearchOutcome::Taken);
        assert!(matches!(&data.1, SearchOutcome::NotALog(reason) if reason.contains("heading")));
        assert_eq!(gpus.1, SearchOutcome::TakenAsGpuTable);
        assert_eq!([&one.1, &seven.1], [&SearchOutcome::NotRead; 2]);
    }

    #[test]
    fn without_a_log_it_is_an_error_with_the_number_of_files() {
        let directory = TempDir::new().expect("a directory");
        write(directory.path(), "a.txt", "hello\n");
        let error = search_logs(directory.path()).expect_err("it has no log");
        assert!(error.to_string().contains("(files tried: 1)"), "{error}");
    }

    #[test]
    fn ranks_are_ordered() {
        let mut ranks = [Some(3), None, Some(0), Some(12)];
        ranks.sort_by_key(|rank| order(*rank));
        assert_eq!(ranks, [Some(0), None, Some(3), Some(12)]);
    }
}
