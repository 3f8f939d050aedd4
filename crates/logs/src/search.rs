//! The training log of a directory: which file is read, and why the others are not.
//!
//! Every process of a distributed run writes a log, and most trainers print the numbers of a step
//! in one of them. Files are tried with rank 0 first. Tables of GPUs are all read.

mod candidates;
mod rank_of_path;

use super::{
    error::LogError,
    gpu_table::{GpuTable, read_gpu_table},
    metric::Metric,
    reading::read_log,
    summary::LogSummary,
};
use candidates::{candidates, is_table};
use serde::Serialize;
use std::path::Path;
use testgen_types::bounded_file::open;

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

/// Searches a directory for the log of a training run: the first one with losses, else the first
/// one with any number.
///
/// # Errors
///
/// When a directory cannot be read, has more than 10,000 candidates, or no file is a log.
pub fn search_logs(directory: &Path) -> Result<LogSearch, LogError> {
    let mut search = RunningSearch::default();
    for (path, rank) in candidates(directory)? {
        let outcome = search.outcome(&path);
        search.files.push(SearchedFile {
            path: path.display().to_string(),
            rank,
            outcome,
        });
    }
    search.finish().map_err(|files| LogError::NoLog {
        directory: directory.to_owned(),
        files,
    })
}

/// The files so far.
#[derive(Default)]
struct RunningSearch {
    log: Option<LogSummary>,
    /// The first log without a loss, and its position: Megatron-LM prints memory on each rank, and
    /// losses on the last one.
    without_loss: Option<(usize, LogSummary)>,
    gpus: Vec<GpuTable>,
    files: Vec<SearchedFile>,
}

impl RunningSearch {
    fn outcome(&mut self, path: &Path) -> SearchOutcome {
        // First, because tables are read even after the log is found.
        if is_table(path) {
            return table(path, &mut self.gpus);
        }
        if self.log.is_some() {
            return SearchOutcome::NotRead;
        }
        let read = open(path).map_err(LogError::from);
        match read.and_then(|file| read_log(path, file)) {
            Ok(summary) if summary.metric(Metric::Loss).is_some() => {
                self.log = Some(summary);
                SearchOutcome::Taken
            }
            Ok(summary) => {
                let position = self.files.len();
                // The first one, because files are in the order of ranks.
                self.without_loss.get_or_insert((position, summary));
                SearchOutcome::NotALog("no line has a loss".to_owned())
            }
            Err(error) => SearchOutcome::NotALog(error.to_string()),
        }
    }

    /// The result, or the number of files if no file is a log.
    fn finish(mut self) -> Result<LogSearch, usize> {
        let log = match (self.log, self.without_loss) {
            (Some(log), _) => log,
            (None, Some((position, log))) => {
                self.files[position].outcome = SearchOutcome::Taken;
                log
            }
            (None, None) => return Err(self.files.len()),
        };
        Ok(LogSearch {
            log,
            gpus: self.gpus,
            files: self.files,
        })
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

#[cfg(test)]
mod tests {
    use super::{SearchOutcome, search_logs};
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
    fn a_log_with_losses_is_preferred_to_one_with_memory() {
        let directory = TempDir::new().expect("a directory");
        let root = directory.path();
        let memory = "[Rank 0] (after 1 iterations) memory (MB) | allocated: 1.0 | max allocated: 2.0 | reserved: 3.0\n";
        write(root, "rank0.log", memory);
        let taken = |directory: &Path| -> Vec<String> {
            let found = outcomes(directory).into_iter();
            let taken = found.filter(|(_, outcome)| *outcome == SearchOutcome::Taken);
            taken.map(|(name, _)| name).collect()
        };
        assert_eq!(taken(root), ["rank0.log"]);
        write(root, "rank7.log", NUMBERS);
        assert_eq!(taken(root), ["rank7.log"]);
    }

    #[test]
    fn without_a_log_it_is_an_error_with_the_number_of_files() {
        let directory = TempDir::new().expect("a directory");
        write(directory.path(), "a.txt", "hello\n");
        let error = search_logs(directory.path()).expect_err("it has no log");
        assert!(error.to_string().contains("(files tried: 1)"), "{error}");
    }
}
