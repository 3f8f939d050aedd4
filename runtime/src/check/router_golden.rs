//! `router_golden`: the router's probabilities equal the recorded ones, every token goes to the recorded experts, and with
//! the recorded weights.
//!
//! The choice of experts jumps: a token whose last chosen expert is hardly likelier than the next one may rightly go
//! elsewhere. It is excused by the recorded margin alone, as a token in `greedy_margin`, never by a wider tolerance.

use super::{
    Examination, Failures, Found, Stop,
    routing::{by_token, judge},
};
use crate::golden::Golden;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    if let Some(reason) = inapplicable(&golden) {
        return Err(Stop::Ignored(reason));
    }
    let subject = exam.subject()?;
    let trace = subject.model().forward_traced(&golden.main().inputs)?.trace;
    let tolerance = exam.tolerance(&golden, &subject);
    let mut failures = Failures::default();
    let mut excused = 0;
    for (layer, recorded) in &golden.routers {
        let (probabilities, weights) = (format!("router.{layer}"), format!("routing.{layer}"));
        let of = |name: &str| trace.iter().find(|(found, _)| found == name).map(|(_, array)| array);
        let (Some(likely), Some(weighed)) = (of(&probabilities), of(&weights)) else {
            failures.push(format!("layer {layer} has a router in the golden, and none here"));
            continue;
        };
        let threshold = tolerance.golden(&probabilities);
        failures.note(exam.compare(&probabilities, &recorded.probabilities, likely, threshold));
        let judged = judge(recorded, likely, weighed);
        excused += judged.excused.len();
        for other in judged.others {
            failures.push(format!("layer {layer}, {other}"));
        }
        let (expected, got) = (by_token(&recorded.weights), by_token(weighed));
        let (expected, got) = (expected.select_rows(&judged.same), got.select_rows(&judged.same));
        failures.note(exam.compare(&weights, &expected, &got, tolerance.golden(&weights)));
    }
    failures.conclude()?;
    Ok((excused > 0).then(|| format!("{excused} tokens go to other experts within their margin")))
}

/// Why a golden cannot show a router.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    golden
        .routers
        .is_empty()
        .then(|| "the golden has no `router.*` and `routing.*`; record it with `testgen record`".to_owned())
}
