//! Failed calls computed again on the same device: plainly, and with a wait for the device after
//! every launch.

use crate::{kernels, open};
use testgen_operators::{
    calls::{Actual, Call, CallError, Element, Execute, Expected, LaunchedKernel, Repetition},
    cases::{Arithmetic, Reference, evaluate},
};
use testgen_types::{Check, Precision};

/// Two runs of a call.
#[derive(Debug)]
pub(crate) struct Runs {
    /// The result as every check computes it.
    pub(crate) plain: Actual,
    /// The result with blocking launches, or `None` if nothing is launched on a GPU.
    pub(crate) blocking: Option<Actual>,
    /// The kernels of the second run.
    pub(crate) kernels: Vec<LaunchedKernel>,
}

/// Computes a call twice.
pub(crate) fn run_twice(executor: &dyn Execute, call: &Call) -> Runs {
    let plain = run(executor, call);
    let (result, launches) = kernels::blocking_launches(|| run(executor, call));
    // The wait after a launch takes its error, which the read of the result does not report any
    // more.
    let blocking = launches.error.map_or(result, |error| {
        // After the device's own words, which a plain run has as well.
        let (kernel, message) = error.split_once(": ").unwrap_or(("unknown", &error));
        failed_on_device(call, format!("{message}\nkernel: {kernel}"))
    });
    let launched = !launches.kernels.is_empty();
    Runs {
        plain,
        blocking: launched.then_some(blocking),
        kernels: launches.kernels,
    }
}

/// Computes a call.
pub(crate) fn run(executor: &dyn Execute, call: &Call) -> Actual {
    // A panic on the device's own thread is an error, because the result that the call returns was
    // never written.
    let panics = open::device_panics();
    let result = executor.execute(call).map(|computed| computed.tensor);
    // Compared and not reset, because other threads count their panics, too.
    if open::device_panics() == panics {
        return Actual::from_result(result);
    }
    failed_on_device(call, open::device_panic_messages(panics).join("; "))
}

fn failed_on_device(call: &Call, message: String) -> Actual {
    Actual::Error(
        CallError::Device {
            operator: call.operator,
            message,
        }
        .to_string(),
    )
}

/// The arithmetic that sets the bounds of a check; `tf32` if a device computes f32 products in
/// TF32.
pub(crate) fn arithmetic(check: Check, precision: Precision, tf32: bool) -> Arithmetic {
    match check {
        Check::Integers => Arithmetic::exact(Element::I32),
        _ => Arithmetic::for_precision(if tf32 { Precision::Tf32 } else { precision }),
    }
}

/// Compares a result with an earlier one, which was wrong.
pub(crate) fn repetition(reference: &Reference, earlier: &Actual, result: &Actual) -> Repetition {
    match result {
        Actual::Computed(tensor) if evaluate(reference, tensor).failure.is_none() => {
            Repetition::Correct
        }
        result if result.is_same(earlier) => Repetition::Same,
        _ => Repetition::OtherFailure,
    }
}

/// The reference as a file has it.
pub(crate) fn expected(reference: &Reference) -> Expected {
    Expected {
        shape: reference.shape.clone(),
        element: reference.element,
        values: reference
            .numbers
            .iter()
            .map(|number| number.value)
            .collect(),
        bounds: reference
            .numbers
            .iter()
            .map(|number| number.error)
            .collect(),
    }
}
