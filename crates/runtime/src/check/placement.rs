//! `placement`: the output tensors are on the device and in the precision that the endpoint names.

use super::{
    check_run::CheckRun,
    outcome::{Abort, CheckResult, Failures},
};

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.model_under_test()?;
    let forward = tested.model().forward_traced(&golden.main().inputs)?;
    let Some(device) = tested.endpoint().tensor_kind() else {
        return Err(Abort::Fail("the endpoint names no device".to_owned()));
    };
    let mut failures = Failures::default();
    // In tf32, tensors are f32: only the factors of products are rounded, within a kernel. `half_probe` proves that they are.
    let precision = run.registration.precision.storage();
    for (name, placement) in &forward.placements {
        if placement.device != device {
            failures.push(format!("`{name}` is on {}, not on {device}", placement.device));
        }
        if placement.precision != precision {
            failures.push(format!("`{name}` is {}, not {precision}", placement.precision));
        }
    }
    // A result that was computed on the host has no tensor on the device; without this, it would not be noticed.
    for name in forward.outputs.keys().filter(|name| forward.placements.iter().all(|(placed, _)| placed != *name)) {
        failures.push(format!("the device of `{name}` was not read from its tensor"));
    }
    if forward.outputs.is_empty() {
        failures.push("the model returned no output");
    }
    failures.conclude()?;
    Ok(Some(format!("{} tensors on {device} in {precision}", forward.placements.len())))
}
