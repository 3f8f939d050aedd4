//! The objects in images.
//!
//! Follows `ObjectDetectionPipeline` and `post_process_object_detection`: a query is an answer when
//! its likeliest label has a probability above one half among all labels and none. Unlike there,
//! corners are not rounded to whole pixels.

use super::{
    Detection, LabelScore, Request, Response,
    call::{HandlerError, TaskCall},
    scores::{ranked, softmax},
};

const HINT: &str = "a class such as `DetrForObjectDetection`";
/// The threshold of the score of a detection.
// `threshold` of transformers' pipeline.
const THRESHOLD: f32 = 0.5;

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let (images, forward) = call.read_images(request)?;
    let logits = call.output(&forward, ("logits", 3), &[images.len()], HINT)?;
    let boxes = call.output(
        &forward,
        ("pred_boxes", 3),
        &[images.len(), logits.shape[1], 4],
        HINT,
    )?;
    Ok(Response::Detections(
        images
            .iter()
            .enumerate()
            .map(|(index, image)| {
                let size = [image.height(), image.width()];
                let queries = logits
                    .row(index)
                    .chunks_exact(logits.shape[2])
                    .zip(boxes.row(index).chunks_exact(4));
                let found = queries.map(|(logits, sides)| QueryResult::new(logits, sides, size));
                let mut found: Vec<QueryResult> =
                    found.filter(|found| found.score > THRESHOLD).collect();
                found.sort_by(|one, other| other.score.total_cmp(&one.score));
                found
                    .into_iter()
                    .map(|found| Detection {
                        label: LabelScore {
                            label: call.label(found.label),
                            score: found.score,
                        },
                        corners: found.corners,
                    })
                    .collect()
            })
            .collect(),
    ))
}

/// The detection of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct QueryResult {
    /// The likeliest label that is not none.
    pub(crate) label: usize,
    /// Its probability among all labels and none.
    pub(crate) score: f32,
    /// The probability of the next label that is not none.
    pub(crate) runner_up: f32,
    /// Left, top, right, bottom, in pixels.
    pub(crate) corners: [f32; 4],
}

impl QueryResult {
    /// `logits` has none last; `sides` is the centre across and down, width and height, as shares
    /// of the image, which has `size` [height, width].
    pub(crate) fn new(logits: &[f32], sides: &[f32], [height, width]: [usize; 2]) -> Self {
        let mut scores = softmax(logits);
        // Popped after the softmax, in which none competes with the labels.
        scores.pop();
        let ranked = ranked(scores);
        let ((label, score), (_, runner_up)) = (
            ranked.first().copied().unwrap_or_default(),
            ranked.get(1).copied().unwrap_or_default(),
        );
        let [across, down, wide, high] = [sides[0], sides[1], sides[2], sides[3]];
        let (width, height) = (width as f32, height as f32);
        let corners = [
            (across - 0.5 * wide) * width,
            (down - 0.5 * high) * height,
            (across + 0.5 * wide) * width,
            (down + 0.5 * high) * height,
        ];
        Self {
            label,
            score,
            runner_up,
            corners,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_corners_and_the_label_none_is_dropped() {
        let found = QueryResult::new(&[0.0, 1.0, 9.0], &[0.5, 0.25, 0.25, 0.5], [100, 200]);
        assert_eq!((found.label, found.corners), (1, [75.0, 0.0, 125.0, 50.0]));
        assert!(found.score < 0.01, "{}", found.score);
    }
}
