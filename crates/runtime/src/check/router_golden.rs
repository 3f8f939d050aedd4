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
    inputs::padding::with_padding_of,
    run::{Abort, CheckResult, CheckRun, Failures},
};
use crate::{
    engine::CheckEngine,
    golden::{Golden, Router},
};
use testgen_nn::array::{Array, Arrays};

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::RouterOff,
    "one probability of each router off by 1 %",
    "`router.",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    Abort::skip_if(inapplicable(&golden))?;
    let tested = run.subject_under_test()?;
    let inputs = &golden.main().inputs;
    // The main case only, for which routers are recorded.
    let trace = tested.model().forward_traced(inputs)?.trace;
    let tolerance = run.tolerance(&golden, &tested);
    let mut failures = Failures::default();
    let mut within_margin = 0;
    for expected in &golden.routers {
        let layer = expected.layer;
        let Some(got) = traced(&run.engine, inputs, expected, &trace) else {
            failures.push(format!(
                "layer {layer} has a router in the golden, but the model traces none"
            ));
            continue;
        };
        let [probabilities, weights] = names(layer);
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
    // Reported in a pass as well, because those tokens were not compared.
    Ok((within_margin > 0)
        .then(|| format!("{within_margin} tokens are routed to other experts within their margin")))
}

/// The traced router of the layer of `expected`. An engine's values at padding are undefined, so
/// the recorded ones are in their place.
fn traced(
    engine: &CheckEngine,
    inputs: &Arrays,
    expected: &Router,
    trace: &[(String, Array)],
) -> Option<Router> {
    let [probabilities, weights] = names(expected.layer);
    let found = |name: &str, recorded: &Array| {
        let (_, got) = trace.iter().find(|(found, _)| found == name)?;
        Some(with_padding_of(engine, inputs, recorded, got))
    };
    Some(Router {
        layer: expected.layer,
        probabilities: found(&probabilities, &expected.probabilities)?,
        weights: found(&weights, &expected.weights)?,
    })
}

/// The names of a layer's probabilities and weights in traces and goldens.
fn names(layer: usize) -> [String; 2] {
    ["router", "routing"].map(|kind| format!("{kind}.{layer}"))
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let reason = "the golden has no `router.*` and `routing.*`; record it with `testgen record`";
    golden.routers.is_empty().then(|| reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_engine_may_differ_at_padding() {
        let router = |last| Router {
            layer: 1,
            probabilities: Array::floats([1, 2, 2], vec![0.7, 0.3, last, 1.0 - last]),
            weights: Array::floats([1, 2, 2], vec![0.7, 0.0, last, 0.0]),
        };
        let inputs = Arrays::from([
            ("input_ids".to_owned(), Array::integers([1, 2], vec![7, 0])),
            (
                "attention_mask".to_owned(),
                Array::integers([1, 2], vec![1, 0]),
            ),
        ]);
        let (expected, other) = (router(0.6), router(0.9));
        let trace = [
            ("router.1".to_owned(), other.probabilities),
            ("routing.1".to_owned(), other.weights.clone()),
        ];
        let weights = |engine: &str, trace: &[(String, Array)]| {
            let engine = CheckEngine::new(engine.parse().expect("is a name"));
            traced(&engine, &inputs, &expected, trace).map(|router| router.weights)
        };
        assert_eq!(weights("native", &trace), Some(other.weights));
        assert_eq!(weights("torch", &trace), Some(expected.weights.clone()));
        assert_eq!(weights("torch", &trace[..1]), None);
    }
}
