//! A simulated ROCm installation, and this binary as a subprocess on it: faults are those of a
//! process.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The variable that selects what the subprocess runs.
pub(crate) const ROLE: &str = "LIBRARIES_TEST_ROLE";

/// Files that cargo built as this crate's dependencies, with their names in ROCm.
const FILES: &[(&str, &str)] = &[
    ("libhip_sim_amdhip64.so", "libamdhip64.so"),
    ("libhip_sim_rocblas.so", "librocblas.so.5"),
    ("libhip_sim_hipblaslt.so", "libhipblaslt.so.1"),
    ("libhip_sim_miopen.so", "libMIOpen.so.1"),
];

/// A folder with `lib/`, for `ROCM_PATH`.
fn installation() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let lib = folder.path().join("lib");
    std::fs::create_dir(&lib).expect("is writable");
    for (from, to) in FILES {
        std::fs::copy(built(from), lib.join(to))
            .unwrap_or_else(|error| panic!("cargo has not built {from}: {error}"));
    }
    folder
}

/// A file in the folder of the test binary.
fn built(name: &str) -> PathBuf {
    let program = std::env::current_exe().expect("has a path");
    program.parent().unwrap_or(Path::new(".")).join(name)
}

/// Runs the worker in `role`, with faults as `HIP_SIM_FAULTS` has them.
pub(crate) fn run(role: &str, faults: &str) -> Output {
    run_with(role, faults, &[])
}

/// Like [`run`], with other variables.
pub(crate) fn run_with(role: &str, faults: &str, variables: &[(&str, &str)]) -> Output {
    let folder = installation();
    let mut command = Command::new(std::env::current_exe().expect("has a path"));
    command
        .args(["worker::worker", "--exact", "--nocapture"])
        .env(ROLE, role)
        .env("HIP_SIM_FAULTS", faults);
    for name in [
        "HIP_SIM_DEVICES",
        "HIP_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
        "CUDA_VISIBLE_DEVICES",
        "TESTGEN_LIBRARIES",
    ] {
        command.env_remove(name);
    }
    command
        .env("ROCM_PATH", folder.path())
        .env("HIP_PATH", folder.path())
        // Without databases of MIOpen.
        .env("HOME", folder.path())
        .envs(variables.iter().copied());
    command.output().expect("starts")
}
