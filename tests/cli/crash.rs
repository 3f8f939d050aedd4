//! Crash safety: after kill -9 at seeded moments, a full disk, a read-only directory, two processes
//! at once or a clock that jumps, every file is the old or the new one, and the next run succeeds
//! without manual clean-up.
//!
//! `TESTGEN_KILLS=200` kills each command that often.

mod at_once;
mod clock;
mod full_disk;
mod kill;
mod read_only;

use crate::project::{BERT, Project};
use std::{collections::BTreeMap, fs};

/// The models of a suite that is large enough to be killed while it is written.
const MODELS: usize = 12;

/// Writes specs below `directory`; every generated harness contains `word`.
fn write_specs(project: &Project, directory: &str, word: &str) {
    for model in 0..MODELS {
        let spec = BERT.replace("name: bert", &format!("name: m{model}"));
        let skip = format!(
            "checks: {{ skip: [ {{ check: determinism, device: rocm, reason: \"{word}\" }} ] }}\n"
        );
        project.write(format!("{directory}/m{model}.yaml"), spec + &skip);
    }
}

/// Every file below `directory` with its content.
fn contents(project: &Project, directory: &str) -> BTreeMap<String, Vec<u8>> {
    let read =
        |path: &String| fs::read(project.path(directory).join(path)).expect("a file can be read");
    project
        .files(directory)
        .into_iter()
        .map(|path| (path.clone(), read(&path)))
        .collect()
}

/// The files of `directory` without temporary ones, each of which must be in `allowed`.
#[track_caller]
fn assert_old_or_new(
    project: &Project,
    directory: &str,
    allowed: &[&BTreeMap<String, Vec<u8>>],
    case: &str,
) {
    for (path, content) in contents(project, directory) {
        if path.starts_with(".testgen-") || path.contains("/.testgen-") {
            continue;
        }
        let is_known = allowed
            .iter()
            .any(|files| files.get(&path) == Some(&content));
        assert!(
            is_known,
            "{case}: `{path}` is neither the old nor the new file: {} bytes",
            content.len()
        );
    }
    let missing = |files: &&BTreeMap<String, Vec<u8>>| {
        files
            .keys()
            .any(|path| !project.path(directory).join(path).exists())
    };
    assert!(
        !allowed.iter().all(missing),
        "{case}: an old file is missing, and so is a new one"
    );
}

/// A report with `entries` lines for models whose names begin with `word`.
fn write_report(project: &Project, path: &str, word: &str, entries: usize) {
    let line = |index: usize| {
        crate::seeded::line(
            &format!("{word}{index}"),
            "cpu",
            "finite",
            "f32",
            "pass",
            "\"device_name\":\"x\",",
        )
    };
    project.write(path, (0..entries).map(line).collect::<String>());
}
