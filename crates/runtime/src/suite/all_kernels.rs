//! `TESTGEN_KERNELS`: every product of the selected models with every kernel that an autotuner
//! could choose, instead of checks.
//!
//! `collect` runs the checks and records their products; `pool` starts a process for each kernel,
//! which is `worker`: a kernel that ends its process, or leaves the device unusable, loses one
//! result. `entry` makes the lines of the report.

mod collect;
mod entry;
mod pool;
mod process;
mod protocol;
mod worker;

use super::environment::Environment;
use crate::{detect, harness::Harness, open::open};
use collect::Selected;
use entry::Examined;
use std::process::ExitCode;
use testgen_engine::EngineName;
use testgen_kernels::Candidate;
use testgen_types::DeviceKind;

/// The variable: `<architecture>::<model>::<device>`, separated by commas.
const KERNELS_VARIABLE: &str = "TESTGEN_KERNELS";

/// The variable with a part of the names of the kernels that compute; without it, all do.
const NAMED_VARIABLE: &str = "TESTGEN_KERNELS_NAMED";

/// Computes what the variables request, or `None` without them. Exit codes: 0 every line was
/// written, 101 a device or a product is missing, or the report cannot be written.
pub(super) fn run(harnesses: &[&'static Harness], environment: &Environment) -> Option<ExitCode> {
    // First, because a worker inherits the variables of the suite that started it.
    if worker::is_requested() {
        return Some(exit_code(worker::run()));
    }
    let requested = std::env::var(KERNELS_VARIABLE).ok()?;
    let computed = Selected::parse(&requested, harnesses)
        .and_then(|selected| compute_all(&selected, environment));
    Some(exit_code(computed))
}

fn exit_code(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            // As a test binary that fails.
            ExitCode::from(101)
        }
    }
}

fn compute_all(selected: &Selected, environment: &Environment) -> Result<(), String> {
    // Before the checks that record products, which take minutes.
    let kernels = kernels(&std::env::var(NAMED_VARIABLE).unwrap_or_default())?;
    for kind in [DeviceKind::Cuda, DeviceKind::Rocm]
        .into_iter()
        .filter(|kind| selected.has(*kind))
    {
        compute_on(kind, &kernels, selected, environment)?;
    }
    Ok(())
}

fn compute_on(
    kind: DeviceKind,
    kernels: &[usize],
    selected: &Selected,
    environment: &Environment,
) -> Result<(), String> {
    // Before the products are collected, which takes minutes, and opened in this process only for
    // its facts.
    let device = detect::detect(kind, environment.devices.index(kind), &EngineName::native())
        .map_err(|error| error.to_string())?;
    let device = open(device).map_err(|error| error.to_string())?;
    let products = collect::products(kind, selected, environment)?;
    println!(
        "{kind}: {}, {} products",
        device.facts().name,
        products.len()
    );
    let examined = Examined::new(&device, &products)?;
    pool::run(&device, kernels, &products, |found| {
        let entry = examined.entry(found)?;
        environment
            .report
            .append_line(&entry)
            .map_err(|error| error.to_string())
    })
}

/// The numbers of the kernels whose names contain `part`.
fn kernels(part: &str) -> Result<Vec<usize>, String> {
    let named = Candidate::all()
        .into_iter()
        .enumerate()
        .filter(|(_, candidate)| candidate.name().contains(part));
    let kernels: Vec<usize> = named.map(|(number, _)| number).collect();
    if kernels.is_empty() {
        let names: Vec<String> = Candidate::all().iter().map(Candidate::name).collect();
        return Err(format!(
            "no kernel is named `{part}`; they are {}",
            names.join(", ")
        ));
    }
    Ok(kernels)
}
