//! `forward`, `shapes`, `special_values` and `integers`: results compared with the reference, element by element.

use super::{
    super::{
        check_run::CheckRun,
        outcome::{CheckResult, Failures},
    },
    calls,
    evidence::{exact, output_error},
    under_test::{OperatorsUnderTest, shapes as of_spec},
};
use crate::subject::OperatorShapes;
use testgen_calls::{Element, Execute};
use testgen_operators::{Arithmetic, Case, evaluate, integer_cases, reference, shape_cases, special_cases};
use testgen_types::DeviceKind;

/// The operators on the shapes of the spec.
pub(super) fn forward(run: &mut CheckRun<'_>) -> CheckResult {
    compare(run, calls::of_shapes)
}

/// Odd sizes in every layout.
pub(super) fn shapes(run: &mut CheckRun<'_>) -> CheckResult {
    compare(run, |shapes, element| shape_cases(shapes.operator, element))
}

/// NaN, infinities, zeros, subnormal and the largest numbers.
pub(super) fn special_values(run: &mut CheckRun<'_>) -> CheckResult {
    compare(run, |shapes, element| special_cases(shapes.operator, element))
}

/// Integers and booleans.
pub(super) fn integers(run: &mut CheckRun<'_>) -> CheckResult {
    let cases = |shapes: &OperatorShapes, _| integer_cases(shapes.operator);
    compare_in(run, cases, |_| Arithmetic::exact(Element::I32))
}

fn compare(run: &mut CheckRun<'_>, cases: impl Fn(&OperatorShapes, Element) -> Vec<Case>) -> CheckResult {
    compare_in(run, cases, |tested| tested.arithmetic())
}

fn compare_in(
    run: &mut CheckRun<'_>,
    cases: impl Fn(&OperatorShapes, Element) -> Vec<Case>,
    arithmetic: impl Fn(&OperatorsUnderTest<'_>) -> Arithmetic,
) -> CheckResult {
    let loaded = run.model_under_test()?;
    let tested = OperatorsUnderTest::of(run, &loaded);
    let arithmetic = arithmetic(&tested);
    let on_host = tested.tensor_kind() == Some(DeviceKind::Cpu);
    let (mut failures, mut count, mut operators) = (Failures::default(), 0, 0);
    for shapes in of_spec(run) {
        let mut cases = cases(shapes, arithmetic.element());
        // burn 0.21 panics on GPUs for some operators on tensors without elements.
        cases.retain(|case| on_host || !case.is_empty());
        operators += usize::from(!cases.is_empty());
        count += cases.len();
        for case in cases {
            // All cases, also after a failure: the processes that compile kernels see nothing but failures.
            let name = || format!("`{}` of {}", shapes.operator, case.description());
            match tested.execute(&case.call) {
                Ok(computed) => {
                    let evaluation = evaluate(&reference(&case.call, arithmetic), &computed.tensor);
                    failures.extend(evaluation.failure.as_ref().map(|failure| format!("{}: {failure}", name())));
                    run.evidence.add(output_error(shapes.operator, &computed.tensor.shape, evaluation));
                }
                Err(error) => {
                    failures.push(format!("{}: {error}", name()));
                    // Without it the operator's other cases would be its result.
                    run.evidence.add(exact(shapes.operator, false));
                }
            }
        }
    }
    failures.conclude()?;
    Ok(Some(format!("{count} cases of {operators} operators")))
}
