//! The size of images, of types that read any: the configuration, the processor, or the recorded
//! inputs say it.

use crate::{
    allocation_family::AllocationFamily,
    checkpoint,
    config::{CompleteConfig, MOST_PARTS},
    error::EstimateError,
};
use serde_json::Value;
use std::path::Path;
use testgen_types::{
    ModelType,
    bounded_file::{limit, read_bytes},
};

/// Height and width of the images that the checkpoint in `directory` reads; `golden` has recorded
/// inputs.
pub(crate) fn image_size(
    directory: &Path,
    golden: &Path,
    config: &CompleteConfig,
    model_type: ModelType,
) -> Result<[u64; 2], EstimateError> {
    if config.is_set("image_size") {
        return config.sides("image_size");
    }
    let processed = read_bytes(&directory.join("preprocessor_config.json"), limit::CONFIG)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .and_then(|processor: Value| processed(&processor));
    let size = processed.or_else(|| recorded(golden));
    Ok(size.unwrap_or(match model_type {
        // The largest image of transformers' `DetrImageProcessor`, in landscape.
        ModelType::Detr => [800, 1333],
        // Of ImageNet.
        _ => [224; 2],
    }))
}

/// The size of the recorded images.
fn recorded(golden: &Path) -> Option<[u64; 2]> {
    match checkpoint::shape(golden, "input.pixel_values")?[..] {
        [_, _, height, width] => Some([height, width]),
        _ => None,
    }
}

/// The size after cropping or resizing; the longest side of an image that keeps its proportions.
fn processed(processor: &Value) -> Option<[u64; 2]> {
    // Images are cropped after they are resized, so a crop decides the size.
    let size = ["crop_size", "size"]
        .into_iter()
        .filter(|field| *field == "size" || processor.get("do_center_crop") == Some(&true.into()))
        .find_map(|field| processor.get(field))?;
    let side = |name: &str| size.get(name).and_then(Value::as_u64);
    let sides = match (side("height").zip(side("width")), side("shortest_edge")) {
        (Some((height, width)), _) => [height, width],
        // The largest image within these limits, in landscape.
        (None, Some(shortest)) => [shortest, side("longest_edge").unwrap_or(shortest)],
        (None, None) => [size.as_u64()?; 2],
    };
    sides
        .iter()
        .all(|side| (1..=LARGEST).contains(side))
        .then_some(sides)
}

/// An error if a side is longer than any; of latents rows and columns are followed one by one.
pub(crate) fn within_limit(image: [u64; 2], family: AllocationFamily) -> Result<(), EstimateError> {
    let limit = if family.reads_latents() {
        MOST_PARTS
    } else {
        LARGEST
    };
    match image.iter().all(|side| (1..=limit).contains(side)) {
        true => Ok(()),
        false => Err(EstimateError::ImageSide { image, limit }),
    }
}

/// No image has a longer side.
const LARGEST: u64 = 1 << 20;
