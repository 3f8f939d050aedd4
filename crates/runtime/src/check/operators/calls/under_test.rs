//! The operators of a harness on the device of a check, called as requests to their endpoint.

use super::{
    super::super::run::{Abort, CheckRun, SubjectUnderTest},
    cases,
};
use crate::{
    endpoint::Endpoint,
    recorded_request::{RecordedRequest, RequestError},
    subject::{OperatorShapes, Subject},
    task::{HandlerError, Request, Response},
};
use testgen_device::Device;
use testgen_operators::{
    calls::{Call, CallError, Computed, Element, Execute},
    cases::{Arithmetic, Case},
};
use testgen_types::{DeviceKind, Operator, Precision};

/// A real endpoint of operators.
pub(in crate::check::operators) struct OperatorsUnderTest<'t> {
    endpoint: &'t Endpoint,
    request: fn(&RecordedRequest) -> Result<Request, RequestError>,
    precision: Precision,
}

impl<'t> OperatorsUnderTest<'t> {
    /// The operators of an endpoint that the check has loaded.
    pub(in crate::check::operators) fn new(
        run: &CheckRun<'_>,
        tested: &'t SubjectUnderTest,
    ) -> Self {
        Self {
            endpoint: tested.endpoint(),
            request: run.harness.request,
            precision: run.registration.precision,
        }
    }

    /// The arithmetic of the device, which sets the bounds.
    pub(in crate::check::operators) fn arithmetic(&self) -> Arithmetic {
        Arithmetic::for_precision(if self.tf32() {
            Precision::Tf32
        } else {
            self.precision
        })
    }

    /// Whether f32 products are computed in TF32 although nothing asks for it, which a translation
    /// layer may do.
    pub(in crate::check::operators) fn tf32(&self) -> bool {
        self.precision == Precision::F32 && self.endpoint.tf32()
    }

    /// The device that computes.
    pub(in crate::check::operators) fn device(&self) -> Option<&'t Device> {
        self.endpoint.device()
    }

    /// The kind that tensors on the device have.
    pub(in crate::check::operators) fn tensor_kind(&self) -> Option<DeviceKind> {
        self.endpoint.tensor_kind()
    }
}

impl Execute for OperatorsUnderTest<'_> {
    /// Through the harness's request and its handler, which are tested with the operators.
    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        let operator = call.operator;
        let other = |message: String| CallError::NotComputed { operator, message };
        let recorded = RecordedRequest::of_calls(vec![call.clone()]);
        let request = (self.request)(&recorded).map_err(|error| other(error.to_string()))?;
        match self.endpoint.handle(request) {
            Ok(Response::Computed(computed)) => match <[Computed; 1]>::try_from(computed) {
                Ok([computed]) => Ok(computed),
                Err(several) => Err(other(format!(
                    "the response has {} results for one call",
                    several.len()
                ))),
            },
            Ok(response) => Err(other(format!("the response is {response:?}"))),
            // Passed on as it is: a check treats an unsupported call differently from a failed one.
            Err(HandlerError::Call(error)) => Err(error),
            Err(error) => Err(other(error.to_string())),
        }
    }
}

/// The operators of the spec with their shapes, without operators that the engine of this check
/// does not compute. To be called after it has loaded them. Without any operator the check is
/// ignored.
pub(in crate::check::operators) fn shapes(
    run: &CheckRun<'_>,
) -> Result<Vec<&'static OperatorShapes>, Abort> {
    let (computed, lacking) = of_spec(run);
    if computed.is_empty() {
        return Err(Abort::Skip(format!(
            "the engine does not compute {}",
            lacking.join(", ")
        )));
    }
    Ok(computed)
}

/// The cases of every operator on its first shape, for checks that do not depend on sizes.
pub(in crate::check::operators) fn first_cases(
    run: &CheckRun<'_>,
) -> Result<Vec<(Operator, Case)>, Abort> {
    let element = Element::for_precision(run.registration.precision);
    let of = |shapes: &'static OperatorShapes| {
        cases::of_first_shape(shapes, element)
            .into_iter()
            .map(|case| (shapes.operator, case))
    };
    Ok(shapes(run)?.into_iter().flat_map(of).collect())
}

/// A summary, with the operators that the engine of this check does not compute.
pub(in crate::check::operators) fn with_lacking(run: &CheckRun<'_>, summary: String) -> String {
    let (_, lacking) = of_spec(run);
    if lacking.is_empty() {
        summary
    } else {
        format!("{summary}; not in the engine: {}", lacking.join(", "))
    }
}

/// The operators of the spec that are computed, and the names of the others.
fn of_spec(run: &CheckRun<'_>) -> (Vec<&'static OperatorShapes>, Vec<&'static str>) {
    let Subject::Operators { shapes } = run.spec().subject else {
        return (Vec::new(), Vec::new());
    };
    let process = run.engine.process();
    let computes = |operator| {
        process
            .as_ref()
            // The native engine has no process and computes every operator.
            .is_none_or(|process| process.engine().computes(operator))
    };
    let (computed, lacking): (Vec<_>, Vec<_>) =
        shapes.iter().partition(|shapes| computes(shapes.operator));
    (
        computed,
        lacking
            .into_iter()
            .map(|shapes| shapes.operator.as_str())
            .collect(),
    )
}
