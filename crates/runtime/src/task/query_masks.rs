//! The scores of labels at each place of an image, from queries with a label and a mask each.
//!
//! Follows `post_process_semantic_segmentation` of MaskFormer's and Mask2Former's processors: the
//! score of a label is the sum over the queries of the label's probability and the mask's.

use super::{
    Request,
    call::{HandlerError, TaskCall},
    image_map::ImageMap,
    scores::softmax,
};
use testgen_processing::interpolate::Interpolation;

const LABELS: (&str, usize) = ("class_queries_logits", 3);
const MASKS: (&str, usize) = ("masks_queries_logits", 4);
const HINT: &str = "a class such as `Mask2FormerForUniversalSegmentation`";

/// The size in which Mask2Former's processor adds masks, whatever the size of the image is.
const MASK2FORMER: [usize; 2] = [384; 2];

/// Whether the class of the model returns masks of queries.
pub(super) fn returned(call: &TaskCall<'_>) -> bool {
    let class = call.model.class();
    ["ForUniversalSegmentation", "ForInstanceSegmentation"]
        .iter()
        .any(|end| class.ends_with(end))
}

/// Computes the outputs for the images of a request; returns the result of `read` for the scores of
/// each image's labels.
pub(super) fn of_each_image<T>(
    call: &TaskCall<'_>,
    request: Request,
    read: impl Fn(&ImageMap<'_>) -> T,
) -> Result<Vec<T>, HandlerError> {
    let added = call
        .model
        .class()
        .starts_with("Mask2Former")
        .then_some(MASK2FORMER);
    let (images, forward) = call.read_images(request)?;
    let labels = call.output(&forward, LABELS, &[images.len()], HINT)?;
    let queries = [images.len(), labels.shape[1]];
    let masks = call.output(&forward, MASKS, &queries, HINT)?;
    let computed = [masks.shape[2], masks.shape[3]];
    let found = images.iter().enumerate().map(|(index, image)| {
        let query_masks = ImageMap::new(masks.row(index), computed, added.unwrap_or(computed));
        let scores = label_scores(&query_masks, labels.row(index), labels.shape[2]);
        let size = [image.height(), image.width()];
        read(&ImageMap::new(&scores, query_masks.size, size))
    });
    Ok(found.collect())
}

/// The scores of each label, [labels, height, width] of the masks. `logits` has `classes` numbers
/// for each query; the last one is for no label.
fn label_scores(masks: &ImageMap<'_>, logits: &[f32], classes: usize) -> Vec<f32> {
    let places = masks.size[0] * masks.size[1];
    let mut scores = vec![0.0; classes.saturating_sub(1) * places];
    let queries = logits
        .chunks_exact(classes)
        .zip(masks.interpolated(Interpolation::Bilinear));
    for (logits, mask) in queries {
        let mask: Vec<f32> = mask
            .iter()
            .map(|logit| 1.0 / (1.0 + (-logit).exp()))
            .collect();
        // With the class for no label, which transformers cuts off after the softmax, as `zip` does
        // here.
        let probabilities = softmax(logits);
        for (scores, probability) in scores.chunks_exact_mut(places.max(1)).zip(probabilities) {
            for (score, mask) in scores.iter_mut().zip(&mask) {
                *score += probability * mask;
            }
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_the_masks_of_its_queries() {
        let half = 0.5_f32.ln();
        // The first query is surely label 0, the second is label 1 or none.
        let logits = [0.0, -200.0, -200.0, -200.0, half, half];
        let masks = [200.0, -200.0, -200.0, 200.0];
        let masks = ImageMap::new(&masks, [1, 2], [1, 2]);
        assert_eq!(label_scores(&masks, &logits, 3), [1.0, 0.0, 0.0, 0.5]);
    }
}
