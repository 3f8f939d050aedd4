//! The `hipconfig` of a simulated ROCm installation: burn's ROCm backend runs it for each kernel
//! that it compiles.
//!
//! It is installed in `<root>/bin` and prints `<root>`. Any output on standard error would make
//! burn panic; only `--check`, an option of this `hipconfig` alone, writes there. `--check`
//! validates the simulator's variables and prints the architecture of each simulated device.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(root) = root() else {
        return ExitCode::FAILURE;
    };
    let root = root.display();
    match std::env::args().nth(1).as_deref() {
        None => println!(
            "HIP version: 6.4.2-hip-sim\nHIP_PATH: {root}\nROCM_PATH: {root}\nHIP_PLATFORM: amd"
        ),
        Some("-p" | "--path" | "-R" | "--rocmpath") => println!("{root}"),
        Some("-v" | "--version") => println!("6.4.2-hip-sim"),
        Some("--check") => return check(),
        Some("-P" | "--platform") => println!("amd"),
        Some(_) => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

fn check() -> ExitCode {
    match hip_sim::Configuration::from_environment() {
        Ok(configuration) => {
            configuration
                .devices
                .iter()
                .for_each(|device| println!("{}", device.architecture.as_str()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program
        .parent()
        .and_then(Path::parent)
        .map(Path::to_path_buf)
}
