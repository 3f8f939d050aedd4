//! Known answers, computed by every installed engine on every device.

mod external;
mod known_answer;
mod options;
mod outcome;

pub use options::ComputationOptions;
pub use outcome::{ComputationOutcome, EngineAnswer, EngineComputation, KnownOperation};

use crate::facts::MachineFacts;
use testgen_device::Device;

/// Computes on every device, one after another. `native` computes with the native engine, which is
/// part of a suite: this crate does not know suites.
pub fn compute(
    facts: &MachineFacts,
    options: &ComputationOptions,
    native: impl Fn(&[&Device]) -> Vec<EngineComputation>,
) -> Vec<EngineComputation> {
    let mut names = options.engines.clone();
    if names.is_empty() {
        names = external::installed();
    }
    names.sort();
    // A variable can replace the program of a built-in engine, which is then listed twice.
    names.dedup();
    let devices = facts.devices();
    names
        .iter()
        .flat_map(|name| match name.is_native() {
            true => native(&devices),
            false => external::compute(name, &devices, options),
        })
        .collect()
}
