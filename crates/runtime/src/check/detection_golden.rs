//! `detection_golden`: the boxes, scores and labels that a handler derives from the outputs equal
//! the recorded ones.

use super::run::{Abort, CheckResult, CheckRun, Failures};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::{
    golden::{Golden, RecordedTensor},
    task::QueryResult,
    tolerance::DerivedThreshold,
};
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
    let recorded_logits = golden.main().outputs.get("logits");
    // Scores are probabilities of logits, so that their threshold follows from the error of the
    // largest logit.
    let largest = recorded_logits.map_or(0.0, RecordedTensor::largest);
    let score_threshold = tolerance.probabilities("logits", largest);
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
    failures.extend(run.compare_probabilities(
        "detection.scores",
        recorded_scores,
        &scores,
        score_threshold,
    ));
    // By the scores, because an equal score makes either label right.
    let labels = compare_labels(&got, &golden, score_threshold);
    if labels.is_open {
        run.undecided.insert("detection.labels".to_owned());
    }
    failures.extend(labels.failures);
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
        // The queries of this image alone: its size scales their boxes.
        let rows = rows.skip(index * queries).take(queries);
        results.extend(rows.map(|(logits, sides)| QueryResult::new(logits, sides, size)));
    }
    Some(results)
}

/// The labels that differ from the recorded ones.
#[derive(Debug, Default, PartialEq)]
struct LabelDifferences {
    failures: Vec<String>,
    /// Whether a label may be another one only because of the recorded noise.
    is_open: bool,
}

/// Another label is accepted only if its score equals the recorded label's score within the
/// threshold.
fn compare_labels(
    got: &[QueryResult],
    golden: &Golden,
    threshold: DerivedThreshold,
) -> LabelDifferences {
    let labels = golden.detections["labels"]
        .as_integers()
        .unwrap_or_default();
    let scores = golden.detections["scores"].as_floats().unwrap_or_default();
    // Thresholds are relative to the largest score.
    let largest = scores.iter().copied().fold(0.0_f32, f32::max);
    let [capped, uncapped] = [threshold.capped, threshold.uncapped]
        .map(|threshold| threshold.max_rel * f64::from(largest));
    let mut differences = LabelDifferences::default();
    for (query, ((got, label), score)) in got.iter().zip(labels).zip(scores).enumerate() {
        if got.label as i64 == *label || is_tied(got, *score, capped) {
            continue;
        }
        if is_tied(got, *score, uncapped) {
            differences.is_open = true;
            continue;
        }
        differences.failures.push(format!(
            "query {query}: expected label {label}, got {}",
            got.label
        ));
    }
    differences
}

/// Whether the two likeliest labels are tied, and the recorded one may be the other.
fn is_tied(got: &QueryResult, recorded: f32, allowed: f64) -> bool {
    let same_score = f64::from((got.score - recorded).abs()) <= allowed;
    // The runner-up is the recorded label only if its score is as close; otherwise a third label
    // was recorded.
    let close = f64::from(got.runner_up) >= f64::from(got.score) - allowed;
    same_score && close
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::{check::tests::fixtures, tolerance::Threshold};

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

    /// How label 1 with these scores compares if label 2 has the recorded score 0.5, of which a score
    /// may be off by 0.125, and with noise by 0.25.
    fn differences(score: f32, runner_up: f32) -> LabelDifferences {
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
        let threshold = |max_rel| Threshold {
            rel_l2: max_rel,
            max_rel,
        };
        let threshold = DerivedThreshold {
            capped: threshold(0.25),
            uncapped: threshold(0.5),
        };
        compare_labels(&[got], &golden, threshold)
    }

    fn is_accepted(score: f32, runner_up: f32) -> bool {
        differences(score, runner_up) == LabelDifferences::default()
    }

    #[test]
    fn another_label_is_accepted_only_in_a_tie() {
        assert!(is_accepted(0.5, 0.5));
        assert!(is_accepted(0.625, 0.5));
        let is_refused = |score, runner_up| {
            let found = differences(score, runner_up);
            assert!(!found.is_open);
            !found.failures.is_empty()
        };
        assert!(
            is_refused(0.875, 0.875),
            "both scores are above the recorded one"
        );
        assert!(
            is_refused(0.125, 0.125),
            "both scores are below the recorded one"
        );
        assert!(
            is_refused(0.5, 0.125),
            "the runner-up is not the recorded label"
        );
    }

    /// With the recorded noise alone as the limit, a noisy model could have any label.
    #[test]
    fn another_label_that_only_noise_explains_leaves_the_check_open() {
        for (score, runner_up) in [(0.75, 0.75), (0.25, 0.25), (0.5, 0.25)] {
            let open = LabelDifferences {
                failures: Vec::new(),
                is_open: true,
            };
            assert_eq!(differences(score, runner_up), open);
        }
    }
}
