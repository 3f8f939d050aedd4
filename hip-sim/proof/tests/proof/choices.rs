//! The choices of the autotuner that the repository keeps are taken by the burn that it is built with: a simulated check with
//! them measures nothing. Without this test a new version of burn would make simulated runs slow again, and nobody would know.

use crate::child;
use std::fs;
use std::path::Path;

/// The architectures whose choices are kept.
pub(crate) const ARCHITECTURES: &[&str] = &["gfx1100", "gfx90a"];

pub(crate) fn check(architecture: &str) {
    let kept = child::choices(architecture);
    let cache = tempfile::tempdir().unwrap();
    let choices = kept.display().to_string();
    let variables =
        [("TESTGEN_REQUIRE", "rocm-sim"), ("HIP_SIM_DEVICES", architecture), ("TESTGEN_AUTOTUNE", choices.as_str())];
    let output = child::run_whole(cache.path(), &variables);
    assert!(output.status.success(), "{}", child::text(&output));
    let left = only(&cache.path().join("autotune"));
    assert_same(&kept, &left);
}

/// The only folder in `folder`.
fn only(folder: &Path) -> std::path::PathBuf {
    let entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries[0].clone()
}

/// Every file below `kept` stands below `left` as it was.
#[track_caller]
fn assert_same(kept: &Path, left: &Path) {
    for entry in fs::read_dir(kept).unwrap() {
        let path = entry.unwrap().path();
        let other = left.join(path.file_name().unwrap());
        if path.is_dir() {
            assert_same(&path, &other);
        } else {
            let lines = |path: &Path| fs::read_to_string(path).unwrap().lines().count();
            let (before, after) = (lines(&path), lines(&other));
            assert!(
                fs::read(&path).unwrap() == fs::read(&other).unwrap(),
                "`{}` had {before} choices, and {after} after the check: keep them anew (docs/hip-sim.md)",
                path.display()
            );
        }
    }
}
