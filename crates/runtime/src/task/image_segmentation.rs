//! The segments of images.
//!
//! Follows `ImageSegmentationPipeline` and `post_process_semantic_segmentation`: the scores of each
//! label are interpolated to the size of the image, and each pixel has the label with the largest.

use super::{
    Request, Response, Segment,
    call::{HandlerError, TaskCall},
};
use std::collections::BTreeSet;
use testgen_nn::array::Array;
use testgen_processing::interpolate::{Interpolation, interpolate};

const HINT: &str = "a class such as `SegformerForSemanticSegmentation`";

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let images = call.images(request)?;
    let forward = call
        .model
        .forward(&call.image_processor()?.process(&images)?)?;
    let logits = call.output(&forward, ("logits", 4), &[images.len()], HINT)?;
    let computed = [logits.shape[2], logits.shape[3]];
    let segments = images.iter().enumerate().map(|(index, image)| {
        let size = [image.height(), image.width()];
        let map = label_map(logits.row(index), computed, size);
        segments(call, &map, size)
    });
    Ok(Response::Segments(segments.collect()))
}

/// The number of the label of each pixel, from scores [labels, height, width].
fn label_map(scores: &[f32], computed: [usize; 2], size: [usize; 2]) -> Vec<usize> {
    let places = (computed[0] * computed[1]).max(1);
    let mut best = vec![(0, f32::NEG_INFINITY); size[0] * size[1]];
    for (label, plane) in scores.chunks_exact(places).enumerate() {
        let plane = interpolate(plane, computed, size, Interpolation::Bilinear);
        for (best, score) in best.iter_mut().zip(plane) {
            // The first of equals, as `argmax` returns.
            if score > best.1 {
                *best = (label, score);
            }
        }
    }
    best.into_iter().map(|(label, _)| label).collect()
}

fn segments(call: &TaskCall<'_>, map: &[usize], size: [usize; 2]) -> Vec<Segment> {
    let labels: BTreeSet<usize> = map.iter().copied().collect();
    let mask = |label| map.iter().map(|found| i64::from(*found == label)).collect();
    labels
        .into_iter()
        .map(|label| Segment {
            label: call.label(label),
            mask: Array::integers(size, mask(label)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pixel_has_the_label_with_the_largest_interpolated_score() {
        // Two labels on two places, which become four pixels: the interpolated scores are
        // 3, 2.25, 0.75, 0 and 1, 1.25, 1.75, 2.
        let scores = [3.0, 0.0, 1.0, 2.0];
        assert_eq!(label_map(&scores, [1, 2], [1, 4]), [0, 0, 1, 1]);
        assert_eq!(label_map(&[1.0, 1.0], [1, 1], [1, 2]), [0, 0]);
    }
}
