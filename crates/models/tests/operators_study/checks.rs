//! The checks of one operator, as the suite runs them.

use testgen_operators::{
    calls::{CallError, Computed, Element, Execute},
    cases::{
        Arithmetic, Case, cases, evaluate, integer_cases, reference, relations, shape_cases,
        special_cases,
    },
};
use testgen_types::{DeviceKind, Operator, Precision};

/// The names of the checks with their failures.
pub(crate) type Failures = Vec<(&'static str, String)>;

/// The first failure of each check of `operator` on what `executor` computes.
pub(crate) fn failures(
    operator: Operator,
    precision: Precision,
    executor: &dyn Execute,
) -> Failures {
    CHECKS
        .iter()
        .filter_map(|check| Some((*check, failure(check, operator, precision, executor)?)))
        .collect()
}

/// The first check that fails. The later ones do not run.
pub(crate) fn detected(
    operator: Operator,
    precision: Precision,
    executor: &dyn Execute,
) -> Option<(&'static str, String)> {
    CHECKS
        .iter()
        .find_map(|check| Some((*check, failure(check, operator, precision, executor)?)))
}

const CHECKS: [&str; 6] = [
    "forward",
    "shapes",
    "special_values",
    "integers",
    "relations",
    "determinism",
];

fn failure(
    check: &str,
    operator: Operator,
    precision: Precision,
    executor: &dyn Execute,
) -> Option<String> {
    match check {
        "relations" => relation(operator, precision, executor),
        "determinism" => repeated(operator, precision, executor),
        _ => compare(check, operator, precision, executor),
    }
}

fn compare(
    check: &str,
    operator: Operator,
    precision: Precision,
    executor: &dyn Execute,
) -> Option<String> {
    let float = Arithmetic::for_precision(precision);
    let element = float.element();
    let (cases, arithmetic) = match check {
        "forward" => (
            crate::shapes::for_operator(operator)
                .iter()
                .flat_map(|sizes| cases(operator, sizes, element))
                .collect(),
            float,
        ),
        "shapes" => (shape_cases(operator, element), float),
        "special_values" => (special_cases(operator, element), float),
        _ => (integer_cases(operator), Arithmetic::exact(Element::I32)),
    };
    cases.into_iter().find_map(|case: Case| {
        let failure = match executor.execute(&case.call) {
            Ok(computed) => evaluate(&reference(&case.call, arithmetic), &computed.tensor).failure,
            Err(error) => Some(error.to_string()),
        };
        failure.map(|failure| {
            format!(
                "{operator} {precision} of {}: {failure}",
                case.description()
            )
        })
    })
}

fn relation(operator: Operator, precision: Precision, executor: &dyn Execute) -> Option<String> {
    relations(operator, precision).iter().find_map(|relation| {
        let violation = relation
            .violation(executor)
            .unwrap_or_else(|error: CallError| Some(error.to_string()));
        violation.map(|violation| format!("{operator} {precision}, {}: {violation}", relation.name))
    })
}

/// Three runs, and the device that results are on.
fn repeated(operator: Operator, precision: Precision, executor: &dyn Execute) -> Option<String> {
    let sizes = crate::shapes::for_operator(operator);
    cases(operator, &sizes[0], Element::for_precision(precision))
        .iter()
        .find_map(|case| {
            let runs: Vec<Result<Computed, CallError>> =
                (0..3).map(|_| executor.execute(&case.call)).collect();
            let bits = |run: &Result<Computed, CallError>| -> Option<Vec<u64>> {
                Some(
                    run.as_ref()
                        .ok()?
                        .tensor
                        .values
                        .iter()
                        .map(|value| value.to_bits())
                        .collect(),
                )
            };
            let same = runs.iter().all(|run| bits(run) == bits(&runs[0]));
            let placed = runs
                .iter()
                .flatten()
                .all(|run| run.device == DeviceKind::Cpu);
            (!same || !placed).then(|| format!("{operator} {precision}: the runs differ"))
        })
}
