//! Results compared with the reference, element by element, for the checks of the numbers.

use super::{
    super::super::run::{Abort, CheckResult, CheckRun, Failures},
    cases::of_shapes,
    evidence::{exact, output_error},
    failed::{FailedCalls, Failing},
    under_test::{OperatorsUnderTest, shapes as of_spec, with_lacking},
    unsupported::UnsupportedCalls,
};
use crate::subject::{OperatorSet, OperatorShapes};
use testgen_operators::{
    calls::{CallError, Computed, Element, Execute},
    cases::{Arithmetic, Case, evaluate, reference},
};
use testgen_types::{DeviceKind, OutputError};

pub(in crate::check::operators) fn compare(
    run: &mut CheckRun<'_>,
    cases: impl Fn(&OperatorShapes, Element) -> Vec<Case>,
) -> CheckResult {
    compare_in(run, cases, |tested| tested.arithmetic())
}

pub(in crate::check::operators) fn compare_in(
    run: &mut CheckRun<'_>,
    cases: impl Fn(&OperatorShapes, Element) -> Vec<Case>,
    arithmetic: impl Fn(&OperatorsUnderTest<'_>) -> Arithmetic,
) -> CheckResult {
    let loaded = run.subject_under_test()?;
    let tested = OperatorsUnderTest::new(run, &loaded);
    let arithmetic = arithmetic(&tested);
    // burn 0.21 panics on GPUs for some operators on tensors without elements.
    let empty_panics =
        run.engine.process_name().is_none() && tested.tensor_kind() != Some(DeviceKind::Cpu);
    let (mut failures, mut count, mut operators) = (Failures::default(), 0, 0);
    let (mut unsupported, mut failed) =
        (UnsupportedCalls::default(), FailedCalls::new(run, &tested));
    for shapes in of_spec(run)? {
        let mut cases = cases(shapes, arithmetic.element());
        cases.retain(|case| !(empty_panics && case.is_empty()));
        let before = count;
        for case in cases {
            // All cases, also after a failure: the processes that compile kernels see nothing but
            // failures.
            let result = tested.execute(&case.call);
            if let Err(CallError::Unsupported { operator, message }) = &result {
                unsupported.add(*operator, message);
                continue;
            }
            count += 1;
            let (failure, error) = evaluated(&case, arithmetic, result.as_ref());
            run.evidence.add(error);
            failures.extend(failure.map(|failure| {
                let name = format!("`{}` of {}", shapes.operator, case.description());
                let failing = Failing {
                    case: name,
                    call: &case.call,
                    result: result.as_ref(),
                    failure: &failure,
                };
                let kept = failed.keep(&failing, &tested);
                format!("{}: {failure}{kept}", failing.case)
            }));
        }
        // An operator whose calls are all unsupported was not compared.
        operators += usize::from(count > before);
    }
    failures.conclude()?;
    unsupported.conclude(count)?;
    let summary = format!("{count} cases of {operators} operators{unsupported}");
    Ok(Some(with_lacking(run, summary)))
}

/// Whether the result of a case agrees with the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// Every element is within its bound.
    Agrees,
    /// It is wrong, or was not computed, for this reason.
    Differs(String),
    /// The operator is not computed for these inputs, for this reason.
    NotComputed(String),
}

/// Computes every case on the shapes of the spec, and calls `visit` with what has computed it and
/// how its result compares with the reference.
pub(in crate::check) fn compare_each(
    run: &mut CheckRun<'_>,
    mut visit: impl FnMut(&OperatorSet, &Case, Agreement),
) -> CheckResult {
    let loaded = run.subject_under_test()?;
    let tested = OperatorsUnderTest::new(run, &loaded);
    let arithmetic = tested.arithmetic();
    let Some(operators) = loaded.loaded().operators() else {
        return Err(Abort::Fail("the harness has no operators".to_owned()));
    };
    for shapes in of_spec(run)? {
        let cases = of_shapes(shapes, arithmetic.element());
        // A call without elements computes nothing that could be timed.
        for case in cases.iter().filter(|case| !case.is_empty()) {
            let agreement = match &tested.execute(&case.call) {
                Err(CallError::Unsupported { message, .. }) => {
                    Agreement::NotComputed(message.clone())
                }
                result => evaluated(case, arithmetic, result.as_ref())
                    .0
                    .map_or(Agreement::Agrees, Agreement::Differs),
            };
            visit(operators, case, agreement);
        }
    }
    Ok(None)
}

/// Why the result of a case is wrong, if it is, and its error as a report has it.
fn evaluated(
    case: &Case,
    arithmetic: Arithmetic,
    result: Result<&Computed, &CallError>,
) -> (Option<String>, OutputError) {
    let operator = case.call.operator;
    match result {
        Ok(computed) => {
            let evaluation = evaluate(&reference(&case.call, arithmetic), &computed.tensor);
            (
                evaluation.failure.clone(),
                output_error(operator, &computed.tensor.shape, evaluation),
            )
        }
        // Without it the operator's other cases would be its result.
        Err(error) => (Some(error.to_string()), exact(operator, false)),
    }
}
