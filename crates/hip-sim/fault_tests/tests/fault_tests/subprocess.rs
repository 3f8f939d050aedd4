//! Runs this binary as a subprocess, with a simulated AMD GPU and without the developer's settings
//! of testgen and ROCm.

use hip_sim_fault_tests::Installation;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use tempfile::TempDir;

/// The variable that selects what the subprocess runs.
pub(crate) const ROLE: &str = "HIP_SIM_TEST_ROLE";
/// Runs the generated suite.
pub(crate) const SUITE: &str = "suite";
/// Runs the operators on device 0.
pub(crate) const OPERATORS: &str = "operators";

/// The directory of the generated suite; paths of its checkpoints are relative to it.
pub(crate) fn suite_directory() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../generated")
        .display()
        .to_string()
}

/// The state of the cache of compiled kernels at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheState {
    /// Empty, so that every kernel is compiled.
    Empty,
    /// Filled by a run of a similar check without a fault, which saves most of the time.
    Warm,
}

/// Runs this binary in `role` on `installation`, with a temporary cache.
pub(crate) fn run(
    role: &str,
    installation: &Installation,
    state: CacheState,
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> Output {
    let cache = tempfile::tempdir().unwrap();
    if state == CacheState::Warm {
        copy(&warm_cache(), cache.path());
    }
    command(role, installation, cache.path(), variables, arguments)
        .output()
        .unwrap()
}

pub(crate) fn command(
    role: &str,
    installation: &Installation,
    cache: &Path,
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(arguments)
        .env(ROLE, role)
        .env("CARGO_MANIFEST_DIR", suite_directory())
        .env("RUST_BACKTRACE", "0");
    for name in [
        "NEXTEST",
        "TESTGEN_REQUIRE",
        "TESTGEN_REPORT",
        "TESTGEN_VERBOSE",
        "TESTGEN_CHECKPOINTS",
    ] {
        command.env_remove(name);
    }
    for name in [
        "TESTGEN_DEVICE",
        "HIP_SIM_DEVICES",
        "HIP_SIM_FAULTS",
        "HIP_SIM_VERSION",
    ] {
        command.env_remove(name);
    }
    for name in ["HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"] {
        command.env_remove(name);
    }
    command
        .env("ROCM_PATH", installation.root())
        .env("HIP_PATH", installation.root())
        .env("PATH", installation.path());
    // The faults are of one process. Tests run at the same time, so nothing is gained by more.
    command.env("TESTGEN_COMPILE_PROCESSES", "1");
    command
        .env("TESTGEN_CACHE", cache)
        .env("HIP_SIM_CACHE", kernels())
        .envs(variables.iter().copied());
    command
}

/// Runs one check of the suite without a fault, and keeps what burn wrote to `cache`.
pub(crate) fn run_without_fault(cache: &Path, variables: &[(&str, &str)]) -> Output {
    let (installation, test) = (
        Installation::new().unwrap(),
        "encoder_only::bert::rocm::output_golden_f32",
    );
    command(SUITE, &installation, cache, variables, &["--exact", test])
        .output()
        .unwrap()
}

/// The caches after a run without a fault; made once.
static WARM_CACHE: Mutex<Option<TempDir>> = Mutex::new(None);

fn warm_cache() -> PathBuf {
    let mut warm = WARM_CACHE.lock().unwrap();
    let cache = warm.get_or_insert_with(|| {
        let cache = tempfile::tempdir().unwrap();
        let output = run_without_fault(cache.path(), &[("TESTGEN_REQUIRE", "rocm-sim")]);
        assert!(
            output.status.success(),
            "without a fault: {}\n{}",
            output.status,
            text(&output)
        );
        cache
    });
    cache.path().to_path_buf()
}

/// Deletes the shared cache: a static is never dropped.
pub(crate) fn clean() {
    drop(WARM_CACHE.lock().map(|mut warm| warm.take()));
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

/// The folder of the simulator's compiled kernels: the caller's, or one in cargo's target folder.
fn kernels() -> PathBuf {
    std::env::var_os("HIP_SIM_CACHE").map_or_else(
        || Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels"),
        PathBuf::from,
    )
}

/// The output of a subprocess.
pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
