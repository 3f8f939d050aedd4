//! `relations` of operators: results compared with each other, bit for bit.

use super::{
    super::run::{CheckResult, CheckRun, Failures},
    calls::{
        evidence::exact,
        failed::FailedCalls,
        recorded::RecordedCalls,
        under_test::{OperatorsUnderTest, shapes, with_lacking},
        unsupported::UnsupportedCalls,
    },
};
#[cfg(test)]
use crate::check::tests::faulty::{Detected, Fault};
use testgen_operators::{
    calls::CallError,
    cases::{Relation, relations as relations_of},
};

#[cfg(test)]
pub(in crate::check) const FAULT: Detected = Detected::new(
    Fault::WrongRowOfFive,
    "the last row of a batch is off by one bit",
    "equal rows",
);

pub(in crate::check) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let loaded = run.subject_under_test()?;
    let tested = OperatorsUnderTest::new(run, &loaded);
    let (mut failures, mut count, mut unsupported) =
        (Failures::default(), 0, UnsupportedCalls::default());
    let mut failed = FailedCalls::new(run, &tested);
    for shapes in shapes(run)? {
        let relations = relations_of(shapes.operator, run.registration.precision);
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
        // An operator whose calls are all unsupported has no result to report.
        if count > before {
            run.evidence
                .add(exact(shapes.operator, violations.is_empty()));
        }
        failures.extend(violations);
    }
    failures.conclude()?;
    unsupported.conclude(count)?;
    Ok(Some(with_lacking(
        run,
        format!("{count} relations{unsupported}"),
    )))
}
