//! Computes a failed call on a device, and searches for a smaller one.

use super::{super::environment::Environment, request::ReplayRequest};
use crate::{
    detect,
    load::executor,
    open::{DeviceExecutor, open_on},
    repetition::{Runs, arithmetic, expected, repetition, run, run_twice},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};
use testgen_device::Device;
use testgen_engine::EngineName;
use testgen_operators::{
    calls::{
        Actual, Again, Call, Execute, FailedCall, HostTensor, Reduced, ReplayOutcome, Replayed,
        WorstOf,
    },
    cases::{Arithmetic, Reference, evaluate, reduce, reference, result_elements},
};
use testgen_types::{DeviceKind, Operator};

/// The longest search for a smaller call.
// A simulated device computes a call in milliseconds to seconds.
const LONGEST_SEARCH: Duration = Duration::from_secs(300);

/// Computes the call of a request.
pub(super) fn compute(request: ReplayRequest, environment: &Environment) -> ReplayOutcome {
    let ReplayRequest {
        failed,
        device: kind,
        reduce,
    } = request;
    let arithmetic = arithmetic(failed.check, failed.precision, failed.tf32);
    // Before the device is opened, because a damaged file needs none.
    let reference = match reference_of(&failed, arithmetic) {
        Ok(reference) => reference,
        Err(problem) => return ReplayOutcome::Refused(problem),
    };
    let engine = native_engine(&failed, kind);
    let device = match detect::detect(kind, environment.devices.index(kind), &engine) {
        Ok(device) => device,
        Err(unavailable) => return ReplayOutcome::NoDevice(unavailable.to_string()),
    };
    let device = match open_on(&engine, device) {
        Ok(device) => device,
        Err(error) => return ReplayOutcome::NoDevice(error.to_string()),
    };
    let DeviceExecutor::Native(backend) = &device.executor else {
        return ReplayOutcome::Refused("only the native engine computes calls again".to_owned());
    };
    let executor = match executor(backend, device.residency.devices(), failed.precision) {
        Ok(executor) => executor,
        Err(error) => return ReplayOutcome::Refused(error.to_string()),
    };
    let replay = DeviceReplay {
        failed: &failed,
        arithmetic,
        executor: executor.as_ref(),
        device: device.facts(),
    };
    ReplayOutcome::Replayed(Box::new(replay.compute(&reference, reduce)))
}

/// The native engine that computes the call: on a GPU the one of the file.
fn native_engine(failed: &FailedCall, kind: DeviceKind) -> EngineName {
    let recorded = failed.engine.as_deref().and_then(|name| name.parse().ok());
    recorded
        // A collective needs all devices of `native/split`.
        .filter(|engine: &EngineName| engine.is_native() && kind != DeviceKind::Cpu)
        .unwrap_or_else(EngineName::native)
}

/// The reference of the call, which must have the shape of the one in the file.
fn reference_of(failed: &FailedCall, arithmetic: Arithmetic) -> Result<Reference, String> {
    // Another shape says that the file was damaged or made by hand.
    let operator = failed.call.operator;
    let elements =
        result_elements(&failed.call).map_err(|problem| other_call(problem, operator))?;
    let (shape, recorded) = (&failed.expected.shape, failed.expected.values.len());
    // Before the reference, which computes every element in f64.
    if elements != recorded {
        return Err(other_call(
            format!("its result has {elements} elements, the file expects {recorded}"),
            operator,
        ));
    }
    // The reference panics on inputs that do not fit, which a damaged file may have.
    let reference = catch_unwind(AssertUnwindSafe(|| reference(&failed.call, arithmetic)));
    let reference =
        reference.map_err(|_| other_call("its inputs do not fit together".to_owned(), operator))?;
    if reference.shape != *shape || reference.element != failed.expected.element {
        let (element, other) = (reference.element, failed.expected.element);
        return Err(other_call(
            format!(
                "its result is {element} {:?}, the file expects {other} {shape:?}",
                reference.shape
            ),
            operator,
        ));
    }
    Ok(reference)
}

/// A failed call on a device.
struct DeviceReplay<'a> {
    failed: &'a FailedCall,
    arithmetic: Arithmetic,
    executor: &'a dyn Execute,
    device: &'a Device,
}

impl DeviceReplay<'_> {
    fn compute(&self, reference: &Reference, reduce: bool) -> Replayed {
        let earlier = &self.failed.actual;
        let runs = run_twice(self.executor, &self.failed.call);
        let failure = failure(reference, &runs.plain);
        Replayed {
            device_name: self.device.name.clone(),
            simulated: self.device.simulated,
            repetition: repetition(reference, earlier, &runs.plain),
            blocking: runs
                .blocking
                .as_ref()
                .map(|blocking| repetition(reference, earlier, blocking)),
            differing: differing(earlier, &runs.plain),
            elements: reference.numbers.len(),
            worst: worst(reference, earlier, &runs.plain),
            kernels: runs.kernels.clone(),
            reduced: (reduce && failure.is_some()).then(|| self.reduced(&runs)),
            failure,
        }
    }

    /// The smallest call that fails as this one does: with a wrong result, or with an error of the
    /// device.
    fn reduced(&self, runs: &Runs) -> Reduced {
        let end = Instant::now() + LONGEST_SEARCH;
        let reduction = reduce(&self.failed.call, |call: &Call| {
            (Instant::now() < end).then(|| {
                // A smaller call that panics has another fault than the one that is searched for.
                catch_unwind(AssertUnwindSafe(|| self.fails(call, &runs.plain))).unwrap_or(false)
            })
        });
        let failed = self.described(reduction.call);
        Reduced {
            failed,
            runs: reduction.runs,
            incomplete: reduction.incomplete,
        }
    }

    fn fails(&self, call: &Call, whole: &Actual) -> bool {
        match (whole, run(self.executor, call)) {
            (Actual::Computed(_), result @ Actual::Computed(_)) => {
                failure(&reference(call, self.arithmetic), &result).is_some()
            }
            // The text of an error may name sizes, so that any error of the device counts as the
            // same.
            (Actual::Error(_), Actual::Error(_)) => true,
            // Another kind of failure is another fault.
            _ => false,
        }
    }

    /// The file of another call on this device.
    fn described(&self, call: Call) -> FailedCall {
        let reference = reference(&call, self.arithmetic);
        let runs = run_twice(self.executor, &call);
        // A second plain run shows whether the result repeats.
        let again = run(self.executor, &call);
        let compared = |result: &Actual| repetition(&reference, &runs.plain, result);
        FailedCall {
            case: format!("`{}` of {}, reduced", call.operator, call.shapes()),
            device: self.device.kind,
            device_name: Some(self.device.name.clone()),
            simulated: self.device.simulated,
            failure: failure(&reference, &runs.plain)
                .unwrap_or_else(|| "it failed during the search only".to_owned()),
            again: Again {
                plain: compared(&again),
                blocking: runs.blocking.as_ref().map(compared),
            },
            kernels: runs.kernels.clone(),
            expected: expected(&reference),
            actual: runs.plain.clone(),
            call,
            ..self.failed.clone()
        }
    }
}

/// Why a result is wrong, or `None` if it is correct.
fn failure(reference: &Reference, result: &Actual) -> Option<String> {
    match result {
        Actual::Computed(tensor) => evaluate(reference, tensor).failure,
        Actual::Error(error) => Some(error.clone()),
    }
}

/// The number of elements that differ from the elements of the file.
fn differing(earlier: &Actual, result: &Actual) -> Option<usize> {
    let (Actual::Computed(earlier), Actual::Computed(result)) = (earlier, result) else {
        return None;
    };
    (earlier.shape == result.shape).then(|| result.differing(earlier).count())
}

/// The element with the least headroom; where all are correct, the one with the largest error in
/// units of its bound.
fn worst(reference: &Reference, earlier: &Actual, result: &Actual) -> Option<WorstOf> {
    let Actual::Computed(tensor) = result else {
        return None;
    };
    // Elements of another shape have no counterpart.
    if tensor.shape != reference.shape {
        return None;
    }
    let ratio = |flat: &usize| {
        (tensor.values[*flat] - reference.numbers[*flat].value).abs()
            / reference.numbers[*flat].error
    };
    let flat = evaluate(reference, tensor)
        .worst
        .first()
        .map(|worst| worst.0)
        .or_else(|| {
            (0..tensor.len())
                // A bound of zero with no error has no ratio.
                .filter(|flat| !ratio(flat).is_nan())
                .max_by(|a, b| ratio(a).total_cmp(&ratio(b)))
        })?;
    let recorded =
        |earlier: &HostTensor| earlier.values.get(flat).map(|value| format!("{value:?}"));
    Some(WorstOf {
        index: tensor.position(flat),
        expected: format!("{:?}", reference.numbers[flat].value),
        bound: format!("{:?}", reference.numbers[flat].error),
        recorded: match earlier {
            Actual::Computed(earlier) if earlier.shape == tensor.shape => recorded(earlier),
            _ => None,
        },
        got: format!("{:?}", tensor.values[flat]),
    })
}

#[cfg(test)]
#[path = "computation/tests.rs"]
mod tests;

fn other_call(problem: String, operator: Operator) -> String {
    format!("the call is not one of `{operator}`: {problem}")
}
