//! `detection_golden`: the boxes, scores and labels that a handler makes of the outputs equal the recorded ones.
//!
//! A label may be another one only where both are as likely, within what the logits may be off.

use super::{Examination, Failures, Found, Stop};
use crate::{Array, Forward, golden::Golden, task::QueryResult, tolerance::Threshold};

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    if let Some(reason) = inapplicable(&golden) {
        return Err(Stop::Ignored(reason));
    }
    let subject = exam.subject()?;
    let forward = subject.model().forward(&golden.main().inputs)?;
    let tolerance = exam.tolerance(&golden, &subject);
    let boxes = tolerance.golden("pred_boxes");
    let scores = of_scores(tolerance.golden("logits"), &golden);
    let got = results(&forward, &golden).ok_or_else(|| Stop::Fail("there are no boxes".to_owned()))?;
    let shape = golden.detections["scores"].shape().to_vec();
    let corners = got.iter().flat_map(|found| found.corners).collect();
    let found_scores = got.iter().map(|found| found.score).collect();
    let mut failures = Failures::default();
    let corner_shape = [&shape[..], &[4]].concat();
    for (name, got, threshold) in
        [("boxes", Array::floats(corner_shape, corners), boxes), ("scores", Array::floats(shape, found_scores), scores)]
    {
        failures.note(exam.compare(&format!("detection.{name}"), &golden.detections[name], &got, threshold));
    }
    labels(&got, &golden, &mut failures, scores);
    failures.conclude()?;
    Ok(Some(format!("{} queries", got.len())))
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let recorded = ["boxes", "labels", "scores"].iter().all(|name| golden.detections.contains_key(*name));
    let reason = "the golden has no detections: the checkpoint had no image processor, or the class has no boxes";
    (!recorded).then(|| reason.to_owned())
}

/// What may be off in a probability: a share of itself as large as the error of two logits.
fn of_scores(logits: Threshold, golden: &Golden) -> Threshold {
    let recorded = golden.main().outputs.get("logits").and_then(Array::as_floats).unwrap_or_default();
    let largest = recorded.iter().fold(1.0_f64, |largest, logit| largest.max(f64::from(logit.abs())));
    Threshold { rel_l2: 2.0 * largest * logits.rel_l2, max_rel: 2.0 * largest * logits.max_rel }
}

/// What every query found, image by image.
fn results(forward: &Forward, golden: &Golden) -> Option<Vec<QueryResult>> {
    let (logits, boxes) = (forward.outputs.get("logits")?, forward.outputs.get("pred_boxes")?);
    let &[_, queries, labels] = logits.shape() else { return None };
    let mut results = Vec::new();
    for (index, image) in golden.images.iter().enumerate() {
        let size = [image.shape()[0], image.shape()[1]];
        let rows = logits.as_floats()?.chunks_exact(labels).zip(boxes.as_floats()?.chunks_exact(4));
        let rows = rows.skip(index * queries).take(queries);
        results.extend(rows.map(|(logits, sides)| QueryResult::new(logits, sides, size)));
    }
    Some(results)
}

fn labels(got: &[QueryResult], golden: &Golden, failures: &mut Failures, scores: Threshold) {
    let expected = golden.detections["labels"].as_integers().unwrap_or_default();
    let recorded = golden.detections["scores"].as_floats().unwrap_or_default();
    for (query, ((got, expected), score)) in got.iter().zip(expected).zip(recorded).enumerate() {
        let as_likely = f64::from((got.score - score).abs()) <= scores.max_rel;
        if got.label as i64 != *expected
            && !(as_likely && f64::from(got.runner_up) >= f64::from(got.score) - scores.max_rel)
        {
            failures.push(format!("query {query}: expected label {expected}, got {}", got.label));
        }
    }
}
