//! `router_golden`: router probabilities equal the recorded ones, and every token is routed to the
//! recorded experts with the recorded weights.
//!
//! Choosing experts is discontinuous: a token whose last chosen expert is hardly likelier than the
//! next one may legitimately be routed elsewhere. Only the recorded margin excuses it, like a token
//! in `greedy_margin`; the tolerance is never widened.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    comparison::routing::{by_token, compare_choices},
    run::{Abort, CheckResult, CheckRun, Failures},
};
use crate::golden::{Golden, Router};

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::RouterOff,
    "one probability of each router off by 1 %",
    "`router.",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    if let Some(reason) = inapplicable(&golden) {
        return Err(Abort::Skip(reason));
    }
    let tested = run.subject_under_test()?;
    let trace = tested.model().forward_traced(&golden.main().inputs)?.trace;
    let tolerance = run.tolerance(&golden, &tested);
    let mut failures = Failures::default();
    let mut within_margin = 0;
    for expected in &golden.routers {
        let layer = expected.layer;
        let (probabilities, weights) = (format!("router.{layer}"), format!("routing.{layer}"));
        let traced = |name: &str| {
            trace
                .iter()
                .find(|(found, _)| found == name)
                .map(|(_, array)| array.clone())
        };
        let (Some(got_probabilities), Some(got_weights)) =
            (traced(&probabilities), traced(&weights))
        else {
            failures.push(format!(
                "layer {layer} has a router in the golden, but the model traces none"
            ));
            continue;
        };
        let got = Router {
            layer,
            probabilities: got_probabilities,
            weights: got_weights,
        };
        let threshold = tolerance.golden(&probabilities);
        failures.extend(run.compare(
            &probabilities,
            &expected.probabilities,
            &got.probabilities,
            threshold,
        ));
        let choices = compare_choices(expected, &got);
        within_margin += choices.within_margin.len();
        failures.extend(
            choices
                .different
                .into_iter()
                .map(|difference| format!("layer {layer}, {difference}")),
        );
        // The weights of other experts would differ in any case, and were reported above.
        let same = [&expected.weights, &got.weights]
            .map(|weights| by_token(weights).select_rows(&choices.same));
        failures.extend(run.compare(&weights, &same[0], &same[1], tolerance.golden(&weights)));
    }
    failures.conclude()?;
    Ok((within_margin > 0)
        .then(|| format!("{within_margin} tokens are routed to other experts within their margin")))
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let reason = "the golden has no `router.*` and `routing.*`; record it with `testgen record`";
    golden.routers.is_empty().then(|| reason.to_owned())
}
