//! Objects with boxes.

use super::{candidates::Numbers, comparison::AnswerComparison};
use crate::{
    check::run::{Abort, CheckResult},
    recorded_answer::RecordedDetection as Recorded,
    task::{Detection, LabelScore},
};
use std::cmp::Ordering;

/// The score above which a handler returns a detection.
const LIMIT: f32 = 0.5;

impl AnswerComparison<'_, '_, '_> {
    /// The labels, scores and corners of the objects of each image.
    pub(super) fn detections(
        &mut self,
        expected: &[Vec<Recorded>],
        got: &[Vec<Detection>],
    ) -> CheckResult {
        self.same_count("images", expected.len(), got.len());
        let allowed = self.allowed("scores", expected.iter().flatten().map(|found| found.score));
        let pixels = self.allowed(
            "corners",
            expected.iter().flatten().flat_map(|found| found.corners),
        );
        let mut corners = Numbers::default();
        for (image, (expected, got)) in expected.iter().zip(got).enumerate() {
            self.objects(image, expected, got, [allowed, pixels], &mut corners);
        }
        let objects = corners.got.len() / 4;
        if objects == 0 && self.failures.is_empty() {
            return Err(Abort::Skip(format!(
                "no recorded object has a score above {LIMIT} by more than the threshold"
            )));
        }
        if objects > 0 {
            self.numbers("corners", corners.expected, corners.got);
        }
        Ok(Some(format!("{objects} objects")))
    }

    /// The objects of one image; `allowed` are the errors of a score and of a corner.
    fn objects(
        &mut self,
        image: usize,
        expected: &[Recorded],
        got: &[Detection],
        [allowed, pixels]: [f32; 2],
        corners: &mut Numbers,
    ) {
        let mut left: Vec<&Recorded> = expected.iter().collect();
        for found in got {
            let Some(index) = nearest(&left, found, allowed, pixels) else {
                self.failures.push(format!(
                    "image {image}: no object `{}` is recorded",
                    found.label.label
                ));
                continue;
            };
            let known = left.remove(index);
            self.scores.push(known.score, found.label.score);
            known
                .corners
                .iter()
                .zip(found.corners)
                .for_each(|(known, found)| corners.push(*known, found));
        }
        // The handler decides by the score that it returns, so that no error excuses one.
        let below = got
            .iter()
            .find(|found| found.label.score.partial_cmp(&LIMIT) != Some(Ordering::Greater));
        let below = below.map(|found| {
            let LabelScore { label, score } = &found.label;
            format!(
                "image {image}: `{label}` is returned with the score {score}, expected only scores \
                 above {LIMIT}"
            )
        });
        self.failures.extend(below);
        if !got.is_sorted_by(|one, next| one.label.score >= next.label.score) {
            self.failures
                .push(format!("image {image}: the best is not first"));
        }
        // An object whose recorded score is at the limit may rightly be below it on this device.
        let missed = left.iter().find(|known| known.score > LIMIT + allowed);
        let missed = missed.map(|known| {
            format!(
                "image {image}: `{}` at {:?} was not found",
                known.label, known.corners
            )
        });
        self.failures.extend(missed);
    }
}

/// The recorded object with the same label and the nearest corners and score, in units of their
/// allowed errors: objects of one label may have nearly the same corners.
fn nearest(recorded: &[&Recorded], found: &Detection, score: f32, pixels: f32) -> Option<usize> {
    let same = recorded
        .iter()
        .enumerate()
        .filter(|(_, known)| known.label == found.label.label);
    let distances = same.map(|(index, known)| {
        let corners = known
            .corners
            .iter()
            .zip(found.corners)
            .map(|(known, found)| (known - found).abs());
        let score = (known.score - found.label.score).abs() / score;
        (index, corners.sum::<f32>() / pixels + score)
    });
    distances
        .min_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(index, _)| index)
}
