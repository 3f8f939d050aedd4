//! The settings in `preprocessor_config.json`, with the defaults of the transformers class that it
//! names.

mod class;
mod resize;
mod sizes;

use crate::{
    config_file::ConfigFile, error::PreprocessError, resample::ResampleFilter, size::Size,
};
use class::{Defaults, UNSUPPORTED, class_defaults};
use sizes::{crop, resize};
use std::path::Path;

pub(crate) use resize::{Resize, SideMultiple};

/// The steps that are applied to an image, in this order; a disabled step is none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ImageConfig {
    pub(crate) resize: Option<(Resize, ResampleFilter)>,
    /// The size of the centre that is kept.
    pub(crate) crop: Option<Size>,
    /// The factor of the bytes.
    pub(crate) rescale: Option<f64>,
    pub(crate) normalize: Option<Normalize>,
    /// Whether images of different sizes are padded to one, with a mask of the padding.
    pub(crate) pad: bool,
}

/// Per channel, red first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Normalize {
    pub(crate) mean: [f32; 3],
    pub(crate) std: [f32; 3],
}

/// Fields of processors that fill images up to one size.
const OF_PADDING: [&str; 3] = ["do_pad", "max_size", "pad_and_return_pixel_mask"];

/// Fields of DPT's processor.
// Its `size_divisor` has no effect unless it pads.
const OF_MULTIPLES: [&str; 3] = ["ensure_multiple_of", "keep_aspect_ratio", "size_divisor"];

/// Fields of MaskFormer's and Mask2Former's processors.
// Those of labels have no effect on images.
const OF_MASKS: [&str; 5] = [
    "_max_size",
    "ignore_index",
    "num_labels",
    "reduce_labels",
    "size_divisor",
];

/// Fields that are read here, or that change no pixel of an RGB image.
const KNOWN: [&str; 29] = [
    "_processor_class",
    "_valid_processor_keys",
    "crop_pct",
    "crop_size",
    "data_format",
    "default_to_square",
    "device",
    "disable_grouping",
    "do_center_crop",
    "do_convert_annotations",
    "do_convert_rgb",
    "do_normalize",
    "do_reduce_labels",
    "do_rescale",
    "do_resize",
    "feature_extractor_type",
    "format",
    "image_mean",
    "image_processor_type",
    "image_seq_length",
    "image_std",
    "input_data_format",
    "num_channels",
    "processor_class",
    "resample",
    "rescale_factor",
    "return_tensors",
    "size",
    "transformers_version",
];

/// Reads the image part of `processor_config.json`, else `preprocessor_config.json`, or `None` if
/// neither has one.
pub(crate) fn read(directory: &Path) -> Result<Option<ImageConfig>, PreprocessError> {
    // transformers 5 saves all parts of a processor in this file; checkpoints saved earlier have
    // the other one.
    let nested =
        ConfigFile::read_or_empty(directory, "processor_config.json")?.nested("image_processor")?;
    let file = match nested {
        Some(file) => Some(file),
        None => ConfigFile::read(directory, "preprocessor_config.json")?,
    };
    let Some(file) = file else { return Ok(None) };
    if file.get("image_processor_type").is_none() && file.get("feature_size").is_some() {
        return Ok(None); // a feature extractor for sound has the same file name
    }
    let defaults = class_defaults(&file, directory)?;
    refuse_unknown_fields(&file, defaults)?;
    let flag = |name, default| Ok::<_, PreprocessError>(file.flag(name)?.unwrap_or(default));
    Ok(Some(ImageConfig {
        resize: flag("do_resize", true)?
            .then(|| resize(&file, defaults))
            .transpose()?,
        crop: flag("do_center_crop", defaults.crop.is_some())?
            .then(|| crop(&file, defaults))
            .transpose()?,
        rescale: flag("do_rescale", true)?
            .then(|| rescale(&file))
            .transpose()?,
        normalize: flag("do_normalize", true)?
            .then(|| normalize(&file, defaults))
            .transpose()?,
        // `pad_and_return_pixel_mask` is the name that older files of DETR and YOLOS use.
        pad: defaults.pad && flag("do_pad", flag("pad_and_return_pixel_mask", true)?)?,
    }))
}

fn refuse_unknown_fields(file: &ConfigFile, defaults: &Defaults) -> Result<(), PreprocessError> {
    // Any other field may be a step that changes pixels, and an image without it would look right.
    match file
        .fields()
        .find(|(name, value)| !is_known(name, defaults) && value.as_bool() != Some(false))
    {
        Some((name, _)) => Err(file.wrong(name, "is not supported", UNSUPPORTED)),
        None => Ok(()),
    }
}

fn rescale(file: &ConfigFile) -> Result<f64, PreprocessError> {
    // The default of all classes.
    Ok(file.number("rescale_factor")?.unwrap_or(1.0 / 255.0))
}

fn normalize(file: &ConfigFile, defaults: &Defaults) -> Result<Normalize, PreprocessError> {
    let mean = channels(file, "image_mean")?.unwrap_or(defaults.mean);
    let std = channels(file, "image_std")?.unwrap_or(defaults.std);
    if std.contains(&0.0) {
        return Err(file.wrong(
            "image_std",
            "has a zero, which leads to infinite pixel values",
            "correct it",
        ));
    }
    // transformers' `normalize` casts both to the type of the rescaled image, f32, before it
    // computes.
    Ok(Normalize {
        mean: mean.map(|value| value as f32),
        std: std.map(|value| value as f32),
    })
}

/// One number for all channels or one for each.
fn channels(file: &ConfigFile, name: &str) -> Result<Option<[f64; 3]>, PreprocessError> {
    let Some(value) = file.get(name) else {
        return Ok(None);
    };
    if let Some(number) = value.as_f64() {
        return Ok(Some([number; 3]));
    }
    let numbers: Option<Vec<f64>> = value
        .as_array()
        .and_then(|values| values.iter().map(|value| value.as_f64()).collect());
    let numbers: Option<[f64; 3]> = numbers.and_then(|numbers| numbers.try_into().ok());
    numbers
        .map(Some)
        .ok_or_else(|| file.not_a(name, "one number or three", value))
}

fn is_known(name: &str, defaults: &Defaults) -> bool {
    let has_multiple = matches!(defaults.size, Resize::Multiple(..));
    let has_masks = matches!(
        defaults.size,
        Resize::Edges(_, _, Some(SideMultiple::Above(_)))
    );
    KNOWN.contains(&name)
        || (defaults.pad && OF_PADDING.contains(&name))
        || (has_masks && OF_MASKS.contains(&name))
        || (has_multiple && OF_MULTIPLES.contains(&name))
}
