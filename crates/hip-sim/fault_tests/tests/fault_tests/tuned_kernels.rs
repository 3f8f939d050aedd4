//! The tuned kernels in the repository are valid for the version of burn: a simulated check with them measures nothing.
//! Without this test, upgrading burn could silently make simulated runs slow.

use crate::subprocess;
use std::fs;
use std::path::Path;

/// The architectures that have tuned kernels in the repository.
pub(crate) const ARCHITECTURES: &[&str] = &["gfx1100", "gfx90a"];

pub(crate) fn check(architecture: &str) {
    let stored = subprocess::tuned_kernels(architecture);
    let cache = tempfile::tempdir().unwrap();
    let folder = stored.display().to_string();
    let variables =
        [("TESTGEN_REQUIRE", "rocm-sim"), ("HIP_SIM_DEVICES", architecture), ("TESTGEN_AUTOTUNE", folder.as_str())];
    let output = subprocess::run_without_fault(cache.path(), &variables);
    assert!(output.status.success(), "{}", subprocess::text(&output));
    let used = only_entry(&cache.path().join("autotune"));
    assert_same(&stored, &used);
}

/// The only entry of `folder`.
fn only_entry(folder: &Path) -> std::path::PathBuf {
    let entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries[0].clone()
}

/// Asserts that every file in `stored` is unchanged in `used`: the autotuner would have appended what it measured.
#[track_caller]
fn assert_same(stored: &Path, used: &Path) {
    for entry in fs::read_dir(stored).unwrap() {
        let path = entry.unwrap().path();
        let other = used.join(path.file_name().unwrap());
        if path.is_dir() {
            assert_same(&path, &other);
        } else {
            let lines = |path: &Path| fs::read_to_string(path).unwrap().lines().count();
            let (before, after) = (lines(&path), lines(&other));
            assert!(
                fs::read(&path).unwrap() == fs::read(&other).unwrap(),
                "`{}` had {before} choices, and {after} after the check: tune them again (docs/hip-sim.md)",
                path.display()
            );
        }
    }
}
