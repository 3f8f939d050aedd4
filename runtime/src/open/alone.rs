//! A test alone in a process: a panic on a device thread voids what every other check of the process computes.

use std::process::Command;

const ALONE: &str = "TESTGEN_TEST_ALONE";

/// Starts the test of this name (`module_path!()` and the function's) once more, in a process in which no other runs, and
/// is false; in that process it is true.
pub(super) fn alone(module: &str, test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let (_, module) = module.split_once("::").expect("a module of this crate");
    let name = format!("{module}::{test}");
    let program = std::env::current_exe().expect("this test binary");
    let output = Command::new(program).args(["--exact", &name]).env(ALONE, "1").output().expect("it can be started");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}{}", String::from_utf8_lossy(&output.stderr));
    false
}
