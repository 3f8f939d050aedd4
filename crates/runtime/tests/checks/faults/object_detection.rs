//! Faults of models that detect objects: positions, masks, boxes and the label for no object.

use crate::{fixture::Fixture, harnesses};
use serde_json::json;
use testgen_types::Check;

/// The number of patches is the same, so the table fits, but positions are resampled from another
/// grid.
pub(crate) fn other_grid_of_positions() {
    let fault = Fixture::new(&harnesses::yolos::HARNESS).configure("/image_size", json!([32, 48]));
    fault.turns_red(Check::EmbedGolden, &["`trace.embed`"]);
    fault.stays_green(Check::LoadKeysExact);
}

/// The padding of images is treated as image: positions are counted over it, and the encoder
/// attends to it.
pub(crate) fn mask_that_hides_nothing() {
    let fault = Fixture::new(&harnesses::detr::HARNESS)
        .golden(|tensors| tensors.integers("input.pixel_mask", |_| 1));
    fault.turns_red(
        Check::LayerTraceGolden,
        &["first diverges at `layer.0`; `embed` still agrees"],
    );
    fault.turns_red(Check::PreprocessGolden, &["`pixel_mask`"]);
}

pub(crate) fn wider_boxes() {
    let fault = Fixture::new(&harnesses::detr::HARNESS)
        .weights(|tensors| tensors.floats("bbox_predictor.layers.2.bias", |bias| bias[2] += 0.01));
    fault.turns_red(Check::DetectionGolden, &["`detection.boxes`"]);
    fault.stays_green(Check::LayerTraceGolden);
}

/// The last label is "no object": when it is likelier, all scores are lower.
pub(crate) fn likelier_none() {
    let fault = Fixture::new(&harnesses::yolos::HARNESS).weights(|tensors| {
        tensors.floats("class_labels_classifier.layers.2.bias", |bias| {
            *bias.last_mut().unwrap() += 0.1
        });
    });
    fault.turns_red(Check::DetectionGolden, &["`detection.scores`"]);
}

/// The first recorded label is changed, although it is far likelier than the others.
pub(crate) fn other_label() {
    let fault = Fixture::new(&harnesses::detr::HARNESS)
        .golden(|tensors| tensors.integers("detection.labels", |label| (label + 1) % 4));
    fault.turns_red(Check::DetectionGolden, &["expected label"]);
}
