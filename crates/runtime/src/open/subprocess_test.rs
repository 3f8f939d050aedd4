//! Tests that run in a separate process: a panic on a device thread invalidates the results of
//! every other test.

use std::process::Command;

/// Set in the subprocess.
const SUBPROCESS_VARIABLE: &str = "TESTGEN_TEST_SUBPROCESS";

/// Whether this process runs only this test. If it does not, runs the test (`module_path!()` and
/// the function's name) in a subprocess, asserts that it passes there, and returns false: the
/// caller then has nothing left to do.
pub(super) fn in_subprocess(module: &str, test: &str) -> bool {
    if std::env::var_os(SUBPROCESS_VARIABLE).is_some() {
        return true;
    }
    let (_, module) = module.split_once("::").expect("a module of this crate");
    let name = format!("{module}::{test}");
    let program = std::env::current_exe().expect("this test binary");
    let mut command = Command::new(program);
    let output = command
        .args(["--exact", &name])
        .env(SUBPROCESS_VARIABLE, "1")
        .output()
        .expect("it can be started");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    // A wrong name would select no test, and succeed.
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{stdout}{stderr}"
    );
    false
}
