//! The segments of images.
//!
//! Follows `ImageSegmentationPipeline` and `post_process_semantic_segmentation`: the scores of each
//! label are interpolated to the size of the image, and each pixel has the label with the largest.
//! Models that return masks of queries in the place of scores are in `query_masks.rs`.

use super::{
    Request, Response, Segment,
    call::{HandlerError, TaskCall},
    image_map::{ImageMap, of_each_image},
    query_masks,
};
use std::collections::BTreeSet;
use testgen_nn::array::Array;
use testgen_processing::interpolate::Interpolation;

const OUTPUT: (&str, usize) = ("logits", 4);
const HINT: &str = "a class such as `SegformerForSemanticSegmentation`";

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let read = |scores: &ImageMap<'_>| segments(call, &label_map(scores), scores.size);
    Ok(Response::Segments(if query_masks::returned(call) {
        query_masks::of_each_image(call, request, read)?
    } else {
        of_each_image(call, request, OUTPUT, HINT, read)?
    }))
}

/// The number of the label of each pixel, from the scores of each label.
fn label_map(scores: &ImageMap<'_>) -> Vec<usize> {
    let mut best = vec![(0, f32::NEG_INFINITY); scores.size[0] * scores.size[1]];
    for (label, map) in scores.interpolated(Interpolation::Bilinear).enumerate() {
        for (best, score) in best.iter_mut().zip(map) {
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
    labels
        .into_iter()
        .map(|label| {
            let mask = map.iter().map(|found| i64::from(*found == label));
            Segment {
                label: call.label(label),
                mask: Array::integers(size, mask.collect()),
            }
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
        let scores = ImageMap::new(&scores, [1, 2], [1, 4]);
        assert_eq!(label_map(&scores), [0, 0, 1, 1]);
        let equal = ImageMap::new(&[1.0, 1.0], [1, 1], [1, 2]);
        assert_eq!(label_map(&equal), [0, 0]);
    }
}
