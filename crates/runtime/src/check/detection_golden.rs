//! `detection_golden`: the boxes, scores and labels that a handler derives from the outputs equal
//! the recorded ones.

use super::run::{Abort, CheckResult, CheckRun, Failures};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::{golden::Golden, task::QueryResult, tolerance::Threshold};
use testgen_nn::{array::Array, forward::Forward};

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::OutputOff,
    "one element of each output off by 1 %",
    "`detection.boxes`",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    Abort::skip_if(inapplicable(&golden))?;
    let tested = run.subject_under_test()?;
    let forward = tested.model().forward(&golden.main().inputs)?;
    let tolerance = run.tolerance(&golden, &tested);
    let Some(got) = results(&forward, &golden) else {
        return Err(Abort::Fail(
            "the model returns no `logits` and `pred_boxes`".to_owned(),
        ));
    };
    let score_threshold = score_threshold(tolerance.golden("logits"), &golden);
    let shape = golden.detections["scores"].shape();
    let boxes = Array::floats(
        [shape, &[4]].concat(),
        got.iter().flat_map(|result| result.corners).collect(),
    );
    let scores = Array::floats(shape, got.iter().map(|result| result.score).collect());
    let mut failures = Failures::default();
    let (recorded_boxes, recorded_scores) =
        (&golden.detections["boxes"], &golden.detections["scores"]);
    failures.extend(run.compare(
        "detection.boxes",
        recorded_boxes,
        &boxes,
        tolerance.golden("pred_boxes"),
    ));
    failures.extend(run.compare(
        "detection.scores",
        recorded_scores,
        &scores,
        score_threshold,
    ));
    compare_labels(&got, &golden, score_threshold, &mut failures);
    failures.conclude()?;
    Ok(Some(format!("{} queries", got.len())))
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let recorded = ["boxes", "labels", "scores"]
        .iter()
        .all(|name| golden.detections.contains_key(*name));
    let reason = "the golden has no detections: when it was recorded, the checkpoint had no image processor, or its class has \
                  no boxes";
    (!recorded).then(|| reason.to_owned())
}

/// The threshold of a probability, derived from the threshold of logits.
///
/// A softmax turns an absolute error of logits into a relative one of probabilities, at most twice
/// as large, because its own logit and the others can be off in opposite directions.
fn score_threshold(logits: Threshold, golden: &Golden) -> Threshold {
    let recorded = golden.main().outputs.get("logits");
    let largest = recorded.map_or(1.0, |recorded| recorded.largest().max(1.0));
    Threshold {
        rel_l2: 2.0 * largest * logits.rel_l2,
        max_rel: 2.0 * largest * logits.max_rel,
    }
}

/// The results of all queries, image by image.
fn results(forward: &Forward, golden: &Golden) -> Option<Vec<QueryResult>> {
    let (logits, boxes) = (
        forward.outputs.get("logits")?,
        forward.outputs.get("pred_boxes")?,
    );
    let &[_, queries, labels] = logits.shape() else {
        return None;
    };
    let mut results = Vec::new();
    for (index, image) in golden.images.iter().enumerate() {
        let size = [image.shape()[0], image.shape()[1]];
        let rows = logits
            .as_floats()?
            .chunks_exact(labels)
            .zip(boxes.as_floats()?.chunks_exact(4));
        let rows = rows.skip(index * queries).take(queries);
        results.extend(rows.map(|(logits, sides)| QueryResult::new(logits, sides, size)));
    }
    Some(results)
}

/// Another label is accepted only if its score equals the recorded label's score within the
/// threshold.
fn compare_labels(
    got: &[QueryResult],
    golden: &Golden,
    threshold: Threshold,
    failures: &mut Failures,
) {
    let labels = golden.detections["labels"]
        .as_integers()
        .unwrap_or_default();
    let scores = golden.detections["scores"].as_floats().unwrap_or_default();
    for (query, ((got, label), score)) in got.iter().zip(labels).zip(scores).enumerate() {
        // Scores are probabilities, so a relative error of the largest is an absolute one of each.
        // With both conditions the two likeliest labels are tied, and the recorded one may be the
        // other.
        let same_score = f64::from((got.score - score).abs()) <= threshold.max_rel;
        let close = f64::from(got.runner_up) >= f64::from(got.score) - threshold.max_rel;
        if got.label as i64 != *label && !(same_score && close) {
            failures.push(format!(
                "query {query}: expected label {label}, got {}",
                got.label
            ));
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::check::tests::fixtures;

    fn golden() -> Golden {
        Golden::read(&fixtures().join("yolos")).unwrap()
    }

    #[test]
    fn every_part_of_a_detection_must_be_recorded() {
        assert_eq!(inapplicable(&golden()), None);
        for part in ["boxes", "labels", "scores"] {
            let mut lacking = golden();
            lacking.detections.remove(part).unwrap();
            assert!(
                inapplicable(&lacking).is_some(),
                "without `detection.{part}`"
            );
        }
    }

    #[test]
    fn the_error_of_scores_grows_with_the_largest_logit() {
        let of_logits = |logits: [f32; 2]| {
            let mut golden = golden();
            golden.cases[0].outputs.insert(
                "logits".to_owned(),
                crate::golden::RecordedTensor::Whole(Array::floats([1, 1, 2], logits.to_vec())),
            );
            score_threshold(
                Threshold {
                    rel_l2: 0.125,
                    max_rel: 0.25,
                },
                &golden,
            )
        };
        assert_eq!(
            of_logits([-3.0, 2.0]),
            Threshold {
                rel_l2: 0.75,
                max_rel: 1.5
            }
        );
        assert_eq!(
            of_logits([0.5, -0.5]),
            Threshold {
                rel_l2: 0.25,
                max_rel: 0.5
            },
            "logits below one"
        );
    }

    /// Whether label 1 with these scores is accepted where label 2 has the recorded score 0.5 and
    /// the threshold is 0.125.
    fn is_accepted(score: f32, runner_up: f32) -> bool {
        let mut golden = golden();
        golden
            .detections
            .insert("labels".to_owned(), Array::integers([1, 1], vec![2]));
        golden
            .detections
            .insert("scores".to_owned(), Array::floats([1, 1], vec![0.5]));
        let got = QueryResult {
            label: 1,
            score,
            runner_up,
            corners: [0.0; 4],
        };
        let mut failures = Failures::default();
        compare_labels(
            &[got],
            &golden,
            Threshold {
                rel_l2: 0.125,
                max_rel: 0.125,
            },
            &mut failures,
        );
        failures.is_empty()
    }

    #[test]
    fn another_label_is_accepted_only_in_a_tie() {
        assert!(is_accepted(0.5, 0.5));
        assert!(is_accepted(0.625, 0.5));
        assert!(
            !is_accepted(0.75, 0.75),
            "both scores are above the recorded one"
        );
        assert!(
            !is_accepted(0.25, 0.25),
            "both scores are below the recorded one"
        );
        assert!(
            !is_accepted(0.5, 0.25),
            "the runner-up is not the recorded label"
        );
    }
}
