//! `output_golden`: the outputs of every recorded case equal the recorded ones, element by element.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    comparison::hidden_states::{
        compare_trace, first_diverging, is_hidden_state, measure_deep_trace,
    },
    run::{Abort, CheckResult, CheckRun, Failures, SubjectUnderTest, refuses_inputs},
};
use crate::golden::{Golden, RecordedCase};
use testgen_engine::Feature;
use testgen_nn::forward::ForwardError;
use testgen_types::excerpt;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::OutputOff,
    "one element of each output off by 1 %",
    "furthest off at [",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    compare(run, &tested, &golden)
}

/// Compares every recorded case of a loaded model.
pub(super) fn compare(
    run: &mut CheckRun<'_>,
    tested: &SubjectUnderTest,
    golden: &Golden,
) -> CheckResult {
    let mut failures = Failures::default();
    for case in &golden.cases {
        // The failures of earlier cases stay in the message.
        if let Err(abort) = compare_case(run, tested, golden, case, &mut failures) {
            return Err(failures.before(abort));
        }
    }
    // The trace is compared only after a failure, to name the layer in which the error arises.
    // `layer_trace_golden` evaluates it, in one precision.
    let traced = !golden.trace.is_empty() && tested.loaded().lacks(Feature::HiddenStates).is_none();
    if !failures.is_empty() && traced {
        let compared = compare_trace(run, tested, golden, is_hidden_state)?;
        failures.push(match first_diverging(&compared) {
            Some(first) => format!("the main case {first}"),
            None => "the main case's hidden states all agree: what follows the last layer differs"
                .to_owned(),
        });
    }
    // After a pass only: after a failure the trace was compared above.
    if failures.is_empty() && traced {
        measure_deep_trace(run, tested, golden);
    }
    failures.conclude()?;
    Ok(without_noise(run, tested, golden))
}

/// Names the golden where its inputs are the cause.
fn of_recorded(case: &RecordedCase, error: ForwardError) -> Abort {
    if !refuses_inputs(&error) {
        return error.into();
    }
    Abort::Fail(format!(
        "{error}; `golden.safetensors` records these inputs in the case `{}`",
        case.name
    ))
}

/// A warning if a threshold is not derived from recorded noise.
fn without_noise(run: &CheckRun<'_>, tested: &SubjectUnderTest, golden: &Golden) -> Option<String> {
    let tolerance = run.tolerance(golden, tested);
    let floats = golden
        .main()
        .outputs
        .iter()
        .filter(|(_, recorded)| recorded.holds_floats());
    let mut names = floats
        .map(|(name, _)| name)
        .filter(|name| tolerance.noise(name).is_none());
    let name = names.next()?;
    Some(format!(
        "no noise is recorded for `{}`, so its threshold is the one for unknown noise",
        excerpt(name)
    ))
}

fn compare_case(
    run: &mut CheckRun<'_>,
    tested: &SubjectUnderTest,
    golden: &Golden,
    case: &RecordedCase,
    failures: &mut Failures,
) -> Result<(), Abort> {
    let forward = tested
        .model()
        .forward(&case.inputs)
        .map_err(|error| of_recorded(case, error))?;
    let tolerance = run.tolerance(golden, tested);
    for (name, expected) in &case.outputs {
        let label = case.qualified(name);
        match forward.outputs.get(name) {
            Some(got) => failures.extend(run.compare_recorded(
                &label,
                &case.inputs,
                (expected, got),
                (tolerance, name),
            )),
            None => failures.push(format!("`{label}` was not computed")),
        }
    }
    // Otherwise an output under another name than in transformers would never be compared with
    // anything.
    for name in forward
        .outputs
        .keys()
        .filter(|name| !case.outputs.contains_key(*name))
    {
        failures.push(format!(
            "`{}` was computed, but not recorded",
            case.qualified(name)
        ));
    }
    Ok(())
}
