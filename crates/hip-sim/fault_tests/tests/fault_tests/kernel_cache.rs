//! The cache of compiled kernels after kill -9, damage and a clock that was set back: the next run
//! passes and repairs it.

use crate::subprocess;
use hip_sim_fault_tests::Installation;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

const VARIABLES: &[(&str, &str)] = &[
    ("TESTGEN_REQUIRE", "rocm-sim"),
    ("HIP_SIM_DEVICES", "gfx1100"),
    ("TESTGEN_COMPILE_PROCESSES", "2"),
];
const FILTER: &[&str] = &["encoder_only::bert::rocm::output_golden"];

/// The file that cubecl writes, and what is left of a killed run: half a line, and locks that
/// cubecl never deletes.
pub(crate) fn check() {
    let cache = tempfile::tempdir().unwrap();
    run(cache.path());
    let all = kernels(cache.path());
    for seed in 0..kills() {
        fs::remove_dir_all(cache.path().join("kernels")).unwrap();
        kill_after(cache.path(), (all as f64 * fraction(seed)) as usize);
        damage(cache.path(), seed);
        run(cache.path());
        // While a lock remains, every process waits 30 s for it and then has no cache.
        assert_eq!(
            files(cache.path(), "lock"),
            Vec::<PathBuf>::new(),
            "kill {seed}"
        );
        // The first kernel after half a line is lost with it, and stored once more.
        run(cache.path());
        let repaired = kernels(cache.path());
        run(cache.path());
        assert!(repaired > 20, "kill {seed}: {repaired} kernels");
        assert_eq!(
            kernels(cache.path()),
            repaired,
            "kill {seed}: a kernel was compiled although it was stored"
        );
    }
}

/// `TESTGEN_KILLS` as for the commands, of which one in six: a run takes many times longer than
/// they do.
fn kills() -> u32 {
    std::env::var("TESTGEN_KILLS")
        .ok()
        .and_then(|count| count.parse::<u32>().ok())
        .map_or(1, |count| count.div_ceil(6))
}

/// Between 0 and 1, spread evenly over the seeds.
fn fraction(seed: u32) -> f64 {
    (f64::from(seed) + 0.5) * 0.618_034 % 1.0
}

fn run(cache: &Path) {
    let installation = Installation::new().unwrap();
    let output = subprocess::command(subprocess::SUITE, &installation, cache, VARIABLES, FILTER)
        .output()
        .unwrap();
    let text = subprocess::text(&output);
    assert!(
        output.status.success() && text.contains("3 passed"),
        "{text}"
    );
}

/// Kills a run that has stored so many kernels.
fn kill_after(cache: &Path, stored: usize) {
    let installation = Installation::new().unwrap();
    let mut command =
        subprocess::command(subprocess::SUITE, &installation, cache, VARIABLES, FILTER);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while child.try_wait().unwrap().is_none() && kernels(cache) < stored {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Cuts a file in the middle of a line, and leaves an empty lock and one of a time to come.
fn damage(cache: &Path, seed: u32) {
    for (number, file) in files(cache, "log").iter().enumerate() {
        let bytes = fs::read(file).unwrap();
        let kept = (bytes.len() as f64 * fraction(seed)) as usize;
        fs::write(file, &bytes[..kept]).unwrap();
        let time = if number % 2 == 0 {
            ""
        } else {
            r#"{"secs_since_epoch":9000000000,"nanos_since_epoch":0}"#
        };
        fs::write(file.with_extension("log.lock"), time).unwrap();
    }
}

/// The lines of all files, one for each kernel that was stored.
fn kernels(cache: &Path) -> usize {
    let texts = files(cache, "log")
        .into_iter()
        .map(|file| fs::read(file).unwrap());
    texts
        .map(|text| text.iter().filter(|byte| **byte == b'\n').count())
        .sum()
}

/// The files with an extension, sorted.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
    {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort_unstable();
    found
}
