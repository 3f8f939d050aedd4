//! Computes the products and convolutions of the vendor libraries on the first GPU, and prints a
//! JSON line for each library.
//!
//!     cargo run --release -p testgen-libraries --example products -- [--reduced] [--sums-as-result] [LIBRARY]...
//!
//! Exit code 0: all computed results are right. 1: one is not. 2: no library could be opened, or
//! an argument is unknown.

use std::process::ExitCode;
use testgen_device::{Device, System, cuda_driver, hip_runtime};
use testgen_libraries::{LibraryName, PartialSums, compare_algorithms, open};

fn main() -> ExitCode {
    let (mut reduced, mut sums, mut libraries) = (false, PartialSums::Single, Vec::new());
    for argument in std::env::args().skip(1) {
        match LibraryName::ALL
            .iter()
            .find(|library| library.as_str() == argument)
        {
            Some(library) => libraries.push(*library),
            None if argument == "--reduced" => reduced = true,
            None if argument == "--sums-as-result" => sums = PartialSums::AsResult,
            None => {
                let names: Vec<&str> = LibraryName::ALL.iter().map(|name| name.as_str()).collect();
                eprintln!(
                    "unknown argument `{argument}`; write --reduced, --sums-as-result, or {}",
                    names.join(", ")
                );
                return ExitCode::from(2);
            }
        }
    }
    if libraries.is_empty() {
        libraries.extend(LibraryName::ALL);
    }
    let system = System::host();
    let devices: Vec<Device> = [cuda_driver(&system), hip_runtime(&system)]
        .into_iter()
        .filter_map(Result::ok)
        .flatten()
        .collect();
    let passes: Vec<bool> = libraries
        .into_iter()
        .filter_map(|library| passes(&system, library, &devices, reduced, sums))
        .collect();
    match passes.iter().all(|passes| *passes) {
        _ if passes.is_empty() => ExitCode::from(2),
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Whether all results of a library are right; `None` when it could not be opened.
fn passes(
    system: &System,
    library: LibraryName,
    devices: &[Device],
    reduced: bool,
    sums: PartialSums,
) -> Option<bool> {
    let Some(device) = devices
        .iter()
        .find(|device| device.kind == library.device())
    else {
        eprintln!("{library}: no {} device", library.device());
        return None;
    };
    let opened = open(system, library, device, sums)
        .inspect_err(|error| eprintln!("{library}: {error}"))
        .ok()?;
    let start = std::time::Instant::now();
    let report = compare_algorithms(&opened, library.operators(), reduced, None);
    let failed: usize = report.rows.iter().map(|row| row.failed).sum();
    eprintln!(
        "{library} {} on {}: {} results in {} rows, {failed} failed, {:.1} s",
        report.version,
        device.name,
        report.results(),
        report.rows.len(),
        start.elapsed().as_secs_f64()
    );
    match serde_json::to_string(&report) {
        Ok(line) => println!("{line}"),
        Err(error) => eprintln!("{library}: {error}"),
    }
    Some(report.passes())
}
