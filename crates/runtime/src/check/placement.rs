//! `placement`: the output tensors are on the device and in the precision that the endpoint names.

use super::run::{Abort, CheckResult, CheckRun, Failures};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use testgen_types::{Precision, ProviderShares};

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::OutputOnOtherDevice,
    "outputs on another device",
    "is on cuda, not on cpu",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    let forward = tested.model().forward_traced(&golden.main().inputs)?;
    let Some(device) = tested.endpoint().tensor_kind() else {
        return Err(Abort::Fail("the endpoint names no device".to_owned()));
    };
    let mut failures = Failures::default();
    let mut wider = 0;
    // In tf32, tensors are f32: only the factors of products are rounded, within a kernel.
    // `half_probe` proves that they are.
    let precision = run.registration.precision.storage();
    for (name, placement) in &forward.placements {
        if placement.device != device {
            failures.push(format!(
                "`{name}` is on {}, not on {device}",
                placement.device
            ));
        }
        if placement.precision == precision {
            continue;
        }
        if may_be_f32(run) && placement.precision == Precision::F32 {
            wider += 1;
        } else {
            failures.push(format!(
                "`{name}` is {}, not {precision}",
                placement.precision
            ));
        }
    }
    // A result that was computed on the host has no tensor on the device; without this, it would
    // not be noticed.
    for name in forward
        .outputs
        .keys()
        .filter(|name| forward.placements.iter().all(|(placed, _)| placed != *name))
    {
        failures.push(format!(
            "the device of `{name}` was not read from its tensor"
        ));
    }
    if forward.outputs.is_empty() {
        failures.push("the model returned no output");
    }
    // A model that is f32 throughout would pass in the name of a precision in which nothing was
    // computed.
    if wider > 0 && wider == forward.placements.len() {
        failures.push(format!("no tensor is {precision}, all are f32"));
    }
    failures.conclude()?;
    let count = forward.placements.len();
    let of_them = if wider == 0 {
        String::new()
    } else {
        format!(", {wider} of them in f32 as the engine computes them")
    };
    let nodes = nodes_by_provider(run);
    Ok(Some(format!(
        "{count} tensors on {device} in {precision}{of_them}{nodes}"
    )))
}

/// Whether the engine may have tensors in f32 in a run of any precision.
fn may_be_f32(run: &CheckRun<'_>) -> bool {
    // Parts of transformers compute in f32 whatever the type of the model is: routers, the state of
    // Mamba, T5's hidden states.
    run.engine.process_name().is_some()
}

/// The nodes of a graph that each execution provider computed; empty if the engine has no
/// providers.
fn nodes_by_provider(run: &CheckRun<'_>) -> String {
    let providers = run.engine.providers();
    if providers.is_empty() {
        String::new()
    } else {
        format!("; {}", ProviderShares(&providers))
    }
}
