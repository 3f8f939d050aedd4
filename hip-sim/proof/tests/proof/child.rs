//! Starting this binary again, with a simulated AMD GPU and nothing else of the developer's environment.

use hip_sim_proof::Installation;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use tempfile::TempDir;

/// Says what this binary is.
pub(crate) const ROLE: &str = "HIP_SIM_PROOF_ROLE";
/// The generated suite.
pub(crate) const SUITE: &str = "suite";
/// The operators, on the device 0.
pub(crate) const OPERATORS: &str = "operators";

/// The directory of the generated suite, which its checkpoints are relative to.
pub(crate) fn suite_directory() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../generated").display().to_string()
}

/// The choices of burn's autotuner that the repository keeps for a simulated device.
pub(crate) fn choices(architecture: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../choices").join(architecture)
}

/// What burn has kept from earlier runs: kernels and the choices of its tuner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Nothing, so that every kernel is compiled.
    Nothing,
    /// What a healthy run of the same checks leaves, so that there is little to wait for.
    Healthy,
}

/// Runs this binary in `role` on `installation`. What it leaves is thrown away.
pub(crate) fn run(
    role: &str,
    installation: &Installation,
    kept: Kept,
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> Output {
    let cache = tempfile::tempdir().unwrap();
    if kept == Kept::Healthy {
        copy(&healthy(), cache.path());
    }
    command(role, installation, cache.path(), variables, arguments).output().unwrap()
}

fn command(
    role: &str,
    installation: &Installation,
    cache: &Path,
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).env(ROLE, role).env("CARGO_MANIFEST_DIR", suite_directory()).env("RUST_BACKTRACE", "0");
    for name in ["NEXTEST", "TESTGEN_REQUIRE", "TESTGEN_REPORT", "TESTGEN_VERBOSE", "TESTGEN_CHECKPOINTS"] {
        command.env_remove(name);
    }
    for name in ["TESTGEN_AUTOTUNE", "TESTGEN_DEVICE", "HIP_SIM_DEVICES", "HIP_SIM_FAULTS", "HIP_SIM_VERSION"] {
        command.env_remove(name);
    }
    for name in ["HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"] {
        command.env_remove(name);
    }
    command.env("ROCM_PATH", installation.root()).env("HIP_PATH", installation.root()).env("PATH", installation.path());
    if role == SUITE {
        // As `testgen run --simulate` does; operators show that the autotuner works.
        command.env("TESTGEN_AUTOTUNE", choices("gfx1100"));
    }
    command.env("TESTGEN_CACHE", cache).env("HIP_SIM_CACHE", kernels()).envs(variables.iter().copied());
    command
}

/// Runs one check of the suite without a fault, and leaves `cache` as burn does.
pub(crate) fn run_whole(cache: &Path, variables: &[(&str, &str)]) -> Output {
    let (installation, test) = (Installation::new().unwrap(), "encoder_only::bert::rocm::output_golden_f32");
    command(SUITE, &installation, cache, variables, &["--exact", test]).output().unwrap()
}

/// What a run without a fault leaves; made once.
static HEALTHY: Mutex<Option<TempDir>> = Mutex::new(None);

fn healthy() -> PathBuf {
    let mut healthy = HEALTHY.lock().unwrap();
    let made = healthy.get_or_insert_with(|| {
        let cache = tempfile::tempdir().unwrap();
        let output = run_whole(cache.path(), &[("TESTGEN_REQUIRE", "rocm-sim")]);
        assert!(output.status.success(), "without a fault: {}\n{}", output.status, text(&output));
        cache
    });
    made.path().to_path_buf()
}

/// Removes what the tests shared; a static is never dropped.
pub(crate) fn clean() {
    drop(HEALTHY.lock().map(|mut healthy| healthy.take()));
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Where compiled kernels are kept: with what cargo built, or where the caller wants them.
fn kernels() -> PathBuf {
    std::env::var_os("HIP_SIM_CACHE")
        .map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels"), PathBuf::from)
}

/// Everything that a child said.
pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
