//! The labels of pixels.

use super::comparison::AnswerComparison;
use crate::{
    check::run::{Abort, CheckResult},
    recorded_answer::RecordedSegments,
    task::Segment,
};

impl AnswerComparison<'_, '_, '_> {
    /// The label of each pixel of each image.
    pub(super) fn segments(
        &mut self,
        expected: &[RecordedSegments],
        got: &[Vec<Segment>],
    ) -> CheckResult {
        if !self.same_count("images", expected.len(), got.len()) {
            return Ok(None);
        }
        let mut compared = 0;
        for (image, (expected, got)) in expected.iter().zip(got).enumerate() {
            // The label may differ only if the two largest recorded scores are as close as the
            // errors that are allowed for both.
            let allowed = 2.0 * self.allowed("scores", std::iter::once(expected.largest));
            let map = same_size(expected).and_then(|()| map_of(expected.size, got));
            match map {
                Ok(map) => compared += self.pixels(image, expected, &map, allowed),
                Err(problem) => self.failures.push(format!("image {image}: {problem}")),
            }
        }
        if !self.failures.is_empty() {
            // No number was compared that would show it.
            self.mark_different();
        }
        if compared == 0 && self.failures.is_empty() {
            return Err(Abort::Skip(
                "the labels of all recorded pixels are closer than the threshold".to_owned(),
            ));
        }
        Ok(Some(format!("{compared} pixels")))
    }

    /// Compares the labels of the pixels of an image; returns how many of them are certain.
    fn pixels(
        &mut self,
        image: usize,
        expected: &RecordedSegments,
        map: &[&str],
        allowed: f32,
    ) -> usize {
        let width = expected.size[1].max(1);
        let pixels = expected.map.iter().zip(&expected.margins).zip(map);
        let mut certain = 0;
        let mut wrong = Vec::new();
        for (index, ((label, margin), got)) in pixels.enumerate() {
            // Within the errors that are allowed, either label can have the larger score.
            if *margin <= allowed {
                continue;
            }
            certain += 1;
            let label = expected.labels.get(*label).map_or("", String::as_str);
            if label != *got {
                let [row, column] = [index / width, index % width];
                wrong.push(format!("`{got}` instead of `{label}` at [{row}, {column}]"));
            }
        }
        if let Some(first) = wrong.first() {
            let count = wrong.len();
            self.failures.push(format!(
                "image {image}: {count} of {certain} pixels have another label, such as {first}"
            ));
        }
        certain
    }
}

/// Whether a label and a margin are recorded for each pixel; the reason why none can be compared
/// otherwise.
fn same_size(expected: &RecordedSegments) -> Result<(), String> {
    let pixels: usize = expected.size.iter().product();
    let recorded = [expected.map.len(), expected.margins.len()];
    if recorded == [pixels; 2] {
        return Ok(());
    }
    let [labels, margins] = recorded;
    Err(format!(
        "{labels} labels and {margins} margins are recorded for {pixels} pixels; record the answer again"
    ))
}

/// The label of each pixel, or the reason why the masks are not a division of the image.
fn map_of(size: [usize; 2], segments: &[Segment]) -> Result<Vec<&str>, String> {
    let mut map = vec![None; size[0] * size[1]];
    for segment in segments {
        let label = segment.label.as_str();
        let mask = segment.mask.as_integers().unwrap_or_default();
        if segment.mask.shape() != size {
            let shape = segment.mask.shape();
            return Err(format!(
                "the mask of `{label}` has the shape {shape:?}, expected {size:?}"
            ));
        }
        for (found, _) in map.iter_mut().zip(mask).filter(|(_, bit)| **bit == 1) {
            if let Some(other) = found.replace(label) {
                return Err(format!("a pixel has the labels `{other}` and `{label}`"));
            }
        }
    }
    let whole: Option<Vec<&str>> = map.into_iter().collect();
    whole.ok_or_else(|| "a pixel is expected in one mask, but is in none".to_owned())
}
