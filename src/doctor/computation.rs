//! Known answers, computed by every installed engine on every device.

mod external;
mod known_answer;
mod native;
mod options;
mod outcome;

pub use options::ComputationOptions;
pub use outcome::{Answer, Computation, Operation, Outcome};

use crate::doctor::facts::Facts;

/// Computes on every device, one after another.
pub fn compute(facts: &Facts, options: &ComputationOptions) -> Vec<Computation> {
    let mut names = options.engines.clone();
    if names.is_empty() {
        names = external::installed();
    }
    names.sort();
    names.dedup();
    let devices = facts.devices();
    names
        .iter()
        .flat_map(|name| match name.is_native() {
            true => native::compute(&devices, options),
            false => external::compute(name, &devices, options),
        })
        .collect()
}
