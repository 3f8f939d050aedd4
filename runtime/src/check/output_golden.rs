//! `output_golden`: the whole output tensors of every recorded case equal the recorded ones.

use super::{
    Examination, Failures, Found,
    examination::Subject,
    layer_trace_golden::{compare_trace, first_diverging, is_hidden_state},
};
use crate::{
    ForwardError,
    golden::{Case, Golden},
};

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    let mut failures = Failures::default();
    for case in &golden.cases {
        compare_case(exam, &subject, &golden, case, &mut failures)?;
    }
    if !failures.is_empty() && !golden.trace.is_empty() {
        let compared = compare_trace(exam, &subject, &golden, is_hidden_state)?;
        failures.push(match first_diverging(&compared) {
            Some(first) => format!("the main case {first}"),
            None => "the main case's hidden states all agree: what follows the last layer differs".to_owned(),
        });
    }
    failures.conclude()?;
    Ok(None)
}

fn compare_case(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    case: &Case,
    failures: &mut Failures,
) -> Result<(), ForwardError> {
    let forward = subject.model().forward(&case.inputs)?;
    let tolerance = exam.tolerance(golden, subject);
    for (name, expected) in &case.outputs {
        let told = case.tell(name);
        match forward.outputs.get(name) {
            Some(got) => failures.note(exam.compare(&told, expected, got, tolerance.golden(name))),
            None => failures.push(format!("`{told}` was not computed")),
        }
    }
    for name in forward.outputs.keys().filter(|name| !case.outputs.contains_key(*name)) {
        failures.push(format!("`{}` was computed and is not recorded", case.tell(name)));
    }
    Ok(())
}
