//! Kernels are compiled in several processes before the first check, and the checks find them in
//! the cache.

use crate::subprocess;
use hip_sim_fault_tests::Installation;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;

const VARIABLES: &[(&str, &str)] = &[
    ("TESTGEN_REQUIRE", "rocm-sim"),
    ("HIP_SIM_DEVICES", "gfx1100"),
    ("TESTGEN_COMPILE_PROCESSES", "3"),
];

pub(crate) fn check() {
    let cache = tempfile::tempdir().unwrap();
    let first = run(cache.path());
    let (before, after) = (first.stored_before_checks.unwrap(), stored(cache.path()));
    assert!(before > 20, "{before} kernels: {}", first.errors);
    assert_eq!(
        before, after,
        "the checks compiled kernels that the processes had not: {}",
        first.errors
    );
    // The marker of the model is in the cache, so nothing is compiled again.
    let second = run(cache.path());
    assert_eq!(second.stored_before_checks, None, "{}", second.errors);
    assert_eq!(stored(cache.path()), after);
}

struct Finished {
    /// The kernels in the cache when the suite said that they are compiled, if it did.
    stored_before_checks: Option<usize>,
    errors: String,
}

/// Runs one check in every precision; it must pass.
fn run(cache: &Path) -> Finished {
    let installation = Installation::new().unwrap();
    let filter = ["encoder_only::bert::rocm::output_golden"];
    let mut command =
        subprocess::command(subprocess::SUITE, &installation, cache, VARIABLES, &filter);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut finished = Finished {
        stored_before_checks: None,
        errors: String::new(),
    };
    for line in BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok)
    {
        if line.starts_with("GPU kernels compiled for 1 of 1 harnesses") {
            finished.stored_before_checks = Some(stored(cache));
        }
        finished.errors.push_str(&line);
        finished.errors.push('\n');
    }
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    assert!(
        child.wait().unwrap().success() && text.contains("3 passed"),
        "{text}\n{}",
        finished.errors
    );
    finished
}

/// The number of kernels in cubecl's files: one in each line.
fn stored(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let count = |path: std::path::PathBuf| match path.is_dir() {
        true => stored(&path),
        false if path.extension().is_some_and(|extension| extension == "log") => {
            std::fs::read(path)
                .unwrap()
                .iter()
                .filter(|byte| **byte == b'\n')
                .count()
        }
        false => 0,
    };
    entries.map(count).sum()
}
