//! `relations`, `determinism`, `placement` and `memory_released`: results compared with each other, or not at all.

use super::{
    super::{
        check_run::CheckRun,
        memory_released::released,
        outcome::{Abort, CheckResult, Failures},
    },
    calls,
    evidence::exact,
    failed::FailedCalls,
    recorded_calls::RecordedCalls,
    under_test::{OperatorsUnderTest, shapes, with_lacking},
    unsupported::Unsupported,
};
use testgen_calls::{CallError, Computed, Element, Execute};
use testgen_operators::{Case, Relation, relations as relations_of};
use testgen_types::Operator;

/// Two could agree by chance where results depend on the order in which threads finish.
const RUNS: usize = 3;

/// Relations that hold bit for bit.
pub(super) fn relations(run: &mut CheckRun<'_>) -> CheckResult {
    let loaded = run.model_under_test()?;
    let tested = OperatorsUnderTest::of(run, &loaded);
    let (mut failures, mut count, mut unsupported) = (Failures::default(), 0, Unsupported::default());
    let mut failed = FailedCalls::of(run, &tested);
    for shapes in shapes(run)? {
        let relations = relations_of(shapes.operator, Element::of(run.registration.precision));
        let before = count;
        let mut violated = |relation: &Relation| {
            let recorded = RecordedCalls::new(&tested);
            let violation = match relation.violation(&recorded) {
                Err(CallError::Unsupported { operator, message }) => {
                    unsupported.add(operator, &message);
                    return None;
                }
                other => other.unwrap_or_else(|error| Some(error.to_string())),
            };
            count += 1;
            let violation = violation?;
            let case = format!("`{}`, {}", shapes.operator, relation.name);
            let kept = recorded.keep(&case, tested.arithmetic(), &mut failed);
            Some(format!("{case}: {violation}{kept}"))
        };
        let violations: Vec<String> = relations.iter().filter_map(&mut violated).collect();
        if count > before {
            run.evidence.add(exact(shapes.operator, violations.is_empty()));
        }
        failures.extend(violations);
    }
    failures.conclude()?;
    unsupported.conclude(count)?;
    Ok(Some(with_lacking(run, format!("{count} relations{unsupported}"))))
}

/// Three runs return the same bits, with the other operators between them.
pub(super) fn determinism(run: &mut CheckRun<'_>) -> CheckResult {
    let loaded = run.model_under_test()?;
    let tested = OperatorsUnderTest::of(run, &loaded);
    let cases = all_cases(run)?;
    let results = |_| cases.iter().map(|(_, case)| tested.execute(&case.call)).collect::<Vec<_>>();
    let runs: Vec<Vec<Result<Computed, CallError>>> = (0..RUNS).map(results).collect();
    let mut failures = Failures::default();
    for (index, (operator, case)) in cases.iter().enumerate() {
        for (number, again) in runs.iter().enumerate().skip(1) {
            let problem = match (&runs[0][index], &again[index]) {
                (Err(CallError::Unsupported { .. }), Err(CallError::Unsupported { .. })) => None,
                (Err(error), _) | (_, Err(error)) => Some(error.to_string()),
                (Ok(first), Ok(again)) => differs(first, again),
            };
            let name = || format!("`{operator}` of {}, run {}", case.description(), number + 1);
            failures.extend(problem.map(|problem| format!("{}: {problem}", name())));
        }
    }
    failures.conclude()?;
    Ok(None)
}

/// The first element whose bits differ. As bits: compared as numbers, 0 equals -0, and NaN differs from itself.
fn differs(first: &Computed, again: &Computed) -> Option<String> {
    let (one, other) = (&first.tensor, &again.tensor);
    if one.shape != other.shape {
        return Some(format!("the shape is {:?}; in the first run it was {:?}", other.shape, one.shape));
    }
    let pairs = || one.values.iter().zip(&other.values);
    let flat = pairs().position(|(one, other)| one.to_bits() != other.to_bits())?;
    let count = pairs().filter(|(one, other)| one.to_bits() != other.to_bits()).count();
    Some(format!(
        "{count} elements differ, first {:?}: {} then {}",
        one.position(flat),
        one.values[flat],
        other.values[flat]
    ))
}

/// Every result is on the device that the endpoint reports.
pub(super) fn placement(run: &mut CheckRun<'_>) -> CheckResult {
    let loaded = run.model_under_test()?;
    let tested = OperatorsUnderTest::of(run, &loaded);
    let Some(device) = tested.tensor_kind() else {
        return Err(Abort::Fail("the endpoint names no device".to_owned()));
    };
    let (mut failures, cases) = (Failures::default(), all_cases(run)?);
    for (operator, case) in &cases {
        match tested.execute(&case.call) {
            Ok(computed) if computed.device == device => {}
            Err(CallError::Unsupported { .. }) => {}
            Ok(computed) => failures.push(format!("`{operator}` is on {}, not on {device}", computed.device)),
            Err(error) => failures.push(error.to_string()),
        }
    }
    failures.conclude()?;
    Ok(Some(format!("{} tensors on {device}", cases.len())))
}

/// Memory in use returns to its value once all results are dropped.
pub(super) fn memory_released(run: &mut CheckRun<'_>) -> CheckResult {
    released(run, |run, tested| {
        let cases = all_cases(run)?;
        let tested = OperatorsUnderTest::of(run, tested);
        let results = cases.iter().map(|(_, case)| tested.execute(&case.call));
        let supported = results.filter(|result| !matches!(result, Err(CallError::Unsupported { .. })));
        supported.collect::<Result<Vec<_>, _>>().map(drop).map_err(Abort::from)
    })
}

/// The cases of every operator on its first shape.
fn all_cases(run: &CheckRun<'_>) -> Result<Vec<(Operator, Case)>, Abort> {
    let element = Element::of(run.registration.precision);
    let of = |shapes: &'static crate::subject::OperatorShapes| {
        calls::of_first_shape(shapes, element).into_iter().map(|case| (shapes.operator, case))
    };
    Ok(shapes(run)?.into_iter().flat_map(of).collect())
}
