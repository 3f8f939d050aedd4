//! What generated harnesses make of a simulated AMD GPU, whole and broken; and burn's operators on it against the CPU.
//!
//! This binary is also what its tests start, with the simulator in the environment: the generated suite, or the operators.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod child;
mod choices;
mod chosen;
mod faults;
mod operators;
mod table;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::var(child::ROLE).as_deref() {
        Ok(child::SUITE) => return testgen_runtime::suite::main(generated::HARNESSES, &child::suite_directory()),
        Ok(child::OPERATORS) => return operators::main(),
        _ => {}
    }
    let mut trials: Vec<Trial> =
        faults::ROWS.iter().map(|row| test(format!("fault::{}", row.name), || faults::check(row))).collect();
    trials.push(test("table::the_documentation_has_every_fault".to_owned(), table::check));
    trials.extend(
        operators::ARCHITECTURES
            .iter()
            .map(|architecture| test(format!("operators::{architecture}"), || operators::check(architecture))),
    );
    trials.extend(
        choices::ARCHITECTURES
            .iter()
            .map(|architecture| test(format!("choices::{architecture}"), || choices::check(architecture))),
    );
    trials.push(test("chosen::one_of_two_devices".to_owned(), chosen::check));
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    child::clean();
    conclusion.exit_code()
}

fn test(name: String, body: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        body();
        Ok(())
    })
}
