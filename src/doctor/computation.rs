//! Known answers, computed by every installed engine on every device.

mod external;
mod known_answer;
mod native;
mod options;
mod outcome;

pub use options::ComputationOptions;
pub use outcome::{ComputationOutcome, EngineAnswer, EngineComputation, KnownOperation};

use crate::doctor::facts::MachineFacts;

/// Computes on every device, one after another.
pub fn compute(facts: &MachineFacts, options: &ComputationOptions) -> Vec<EngineComputation> {
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
