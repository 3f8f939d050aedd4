//! Generated harnesses on a simulated AMD GPU with faults, and its kernels compared with the CPU.
//!
//! The tests run this binary again as a subprocess that uses the simulator: as the generated suite,
//! or for the operators.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod all_kernels;
mod device_selection;
mod docs_table;
mod engine_fallback;
mod engine_without_burn;
mod faults;
mod kernel_cache;
mod operators;
mod out_of_memory;
mod precompile;
mod replay;
mod same_kernels;
mod several_devices;
mod subprocess;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(exit) = all_kernels::with_faults() {
        return exit;
    }
    match std::env::var(subprocess::ROLE).as_deref() {
        Ok(subprocess::SUITE) => {
            return testgen_runtime::suite::main(
                generated::HARNESSES,
                &subprocess::suite_directory(),
            );
        }
        Ok(subprocess::OPERATORS) => return operators::main(),
        _ => {}
    }
    let mut trials: Vec<Trial> = faults::CASES
        .iter()
        .map(|case| test(format!("fault::{}", case.name), || faults::check(case)))
        .collect();
    trials.push(test(
        "docs_table::the_documentation_has_every_fault".to_owned(),
        docs_table::check,
    ));
    trials.extend(operators::ARCHITECTURES.iter().map(|architecture| {
        test(format!("operators::{architecture}"), || {
            operators::check(architecture)
        })
    }));
    trials.extend(operators::SUITE_ARCHITECTURES.iter().map(|architecture| {
        test(format!("operators_of_suite::{architecture}"), || {
            operators::check_suite(architecture)
        })
    }));
    trials.extend(same_kernels::ARCHITECTURES.iter().map(|architecture| {
        test(format!("same_kernels::{architecture}"), || {
            same_kernels::check(architecture)
        })
    }));
    trials.extend(replay::SEEDED.iter().map(|seeded| {
        test(format!("replay::{}", seeded.fault), || {
            replay::check(seeded)
        })
    }));
    trials.push(test(
        "precompile::the_checks_find_their_kernels_in_the_cache".to_owned(),
        precompile::check,
    ));
    trials.push(test(
        "kernel_cache::after_a_crash".to_owned(),
        kernel_cache::check,
    ));
    trials.push(test("all_kernels::naive".to_owned(), all_kernels::check));
    trials.push(test(
        "out_of_memory::each_check_names_the_sizes".to_owned(),
        out_of_memory::check,
    ));
    trials.push(test(
        "device_selection::one_of_two_devices".to_owned(),
        device_selection::check,
    ));
    trials.push(test(
        "device_selection::one_broken_of_four".to_owned(),
        device_selection::check_broken,
    ));
    trials.push(test(
        "several_devices::layers_and_collectives".to_owned(),
        several_devices::check,
    ));
    trials.push(test(
        "several_devices::one_broken_of_four".to_owned(),
        several_devices::check_broken,
    ));
    trials.push(test(
        "engine_fallback::a_hip_build_that_computes_on_the_cpu".to_owned(),
        engine_fallback::check,
    ));
    trials.push(test(
        "engine_without_burn::on_gfx950".to_owned(),
        engine_without_burn::check,
    ));
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    subprocess::clean();
    conclusion.exit_code()
}

fn test(name: String, body: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        body();
        Ok(())
    })
}
