//! The classes of image processors in transformers, with the values that files leave out.

use super::resize::{Resize, SideMultiple};
use crate::{config_file::ConfigFile, error::PreprocessError, size::Size};
use std::path::Path;
use testgen_types::ModelType;

/// The remedy for a field that testgen has no code for.
pub(super) const UNSUPPORTED: &str =
    "testgen does not apply it; set it to null or false if the model does without";

/// The class attributes of a transformers image processor.
pub(super) struct Defaults {
    pub(super) class: &'static str,
    pub(super) resample: usize,
    pub(super) size: Resize,
    pub(super) crop: Option<usize>,
    pub(super) mean: [f64; 3],
    pub(super) std: [f64; 3],
    /// How an integer `size` of older files is meant.
    pub(super) square: bool,
    pub(super) pad: bool,
}

// The means and deviations are those of transformers' `image_utils`.
const HALF: [f64; 3] = [0.5; 3];
const IMAGENET_MEAN: [f64; 3] = [0.485, 0.456, 0.406];
const IMAGENET_STD: [f64; 3] = [0.229, 0.224, 0.225];
/// The multiple to which YOLOS crops the sides of an image, whatever the size of its patches is.
const MULTIPLE: Option<SideMultiple> = Some(SideMultiple::Below(16));
/// `size_divisor` of MaskFormer's and Mask2Former's processors.
const DIVISOR: Option<SideMultiple> = Some(SideMultiple::Above(32));
const CLIP_MEAN: [f64; 3] = [0.48145466, 0.4578275, 0.40821073];
const CLIP_STD: [f64; 3] = [0.26862954, 0.26130258, 0.27577711];

/// As in transformers 5, `PilBackend` variants; both backends are saved under one name there.
#[rustfmt::skip]
const CLASSES: [Defaults; 14] = [
    Defaults { class: "ViTImageProcessor", resample: 2, size: Resize::Exact(Size::square(224)), crop: None, mean: HALF, std: HALF, square: true, pad: false },
    Defaults { class: "ConvNextImageProcessor", resample: 3, size: Resize::ShortestEdge(384), crop: None, mean: HALF, std: HALF, square: false, pad: false },
    Defaults { class: "DeiTImageProcessor", resample: 3, size: Resize::Exact(Size::square(256)), crop: Some(224), mean: HALF, std: HALF, square: true, pad: false },
    Defaults { class: "BitImageProcessor", resample: 3, size: Resize::ShortestEdge(224), crop: Some(224), mean: CLIP_MEAN, std: CLIP_STD, square: false, pad: false },
    Defaults { class: "CLIPImageProcessor", resample: 3, size: Resize::ShortestEdge(224), crop: Some(224), mean: CLIP_MEAN, std: CLIP_STD, square: false, pad: false },
    Defaults { class: "SiglipImageProcessor", resample: 3, size: Resize::Exact(Size::square(224)), crop: None, mean: HALF, std: HALF, square: false, pad: false },
    Defaults { class: "DetrImageProcessor", resample: 2, size: Resize::Edges(800, 1333, None), crop: None, mean: IMAGENET_MEAN, std: IMAGENET_STD, square: false, pad: true },
    Defaults { class: "MaskFormerImageProcessor", resample: 2, size: Resize::Edges(800, 1333, DIVISOR), crop: None, mean: IMAGENET_MEAN, std: IMAGENET_STD, square: false, pad: true },
    Defaults { class: "Mask2FormerImageProcessor", resample: 2, size: Resize::Edges(800, 1333, DIVISOR), crop: None, mean: IMAGENET_MEAN, std: IMAGENET_STD, square: false, pad: true },
    Defaults { class: "SegformerImageProcessor", resample: 2, size: Resize::Exact(Size::square(512)), crop: None, mean: IMAGENET_MEAN, std: IMAGENET_STD, square: true, pad: false },
    Defaults { class: "VideoMAEImageProcessor", resample: 2, size: Resize::ShortestEdge(224), crop: Some(224), mean: HALF, std: HALF, square: false, pad: false },
    Defaults { class: "DPTImageProcessor", resample: 3, size: Resize::Multiple(Size::square(384), false, 1), crop: None, mean: HALF, std: HALF, square: true, pad: false },
    // It has no step that normalises, whatever a file says.
    Defaults { class: "SuperPointImageProcessor", resample: 2, size: Resize::Exact(Size { height: 480, width: 640 }), crop: None, mean: [0.0; 3], std: [1.0; 3], square: false, pad: false },
    Defaults { class: "YolosImageProcessor", resample: 2, size: Resize::Edges(800, 1333, MULTIPLE), crop: None, mean: IMAGENET_MEAN, std: IMAGENET_STD, square: false, pad: true },
];

/// The attributes of the class that `file` names, or that the model in `directory` has.
pub(super) fn class_defaults(
    file: &ConfigFile,
    directory: &Path,
) -> Result<&'static Defaults, PreprocessError> {
    let field = if file.get("image_processor_type").is_some() {
        "image_processor_type"
    } else {
        "feature_extractor_type"
    };
    let class = match file.text(field)? {
        // Older versions of transformers had the processors under this name.
        Some(name) => name.replace("FeatureExtractor", "ImageProcessor"),
        None => class_of_model(file, directory)?,
    };
    let class = class.trim_end_matches("Fast").trim_end_matches("Pil");
    CLASSES
        .iter()
        .find(|defaults| defaults.class == class)
        .ok_or_else(|| {
            let known: Vec<&str> = CLASSES.iter().map(|defaults| defaults.class).collect();
            file.wrong(
                field,
                &format!("is `{class}`, which testgen has no code for"),
                &format!("use one of {}", known.join(", ")),
            )
        })
}

/// The class that the registry has for the `model_type` of `config.json`.
fn class_of_model(file: &ConfigFile, directory: &Path) -> Result<String, PreprocessError> {
    let config = ConfigFile::read_or_empty(directory, "config.json")?;
    let model_type = ModelType::find(config.text("model_type")?.unwrap_or_default());
    let class = model_type
        .and_then(ModelType::native)
        .map(|entry| entry.processor)
        .filter(|class| !class.is_empty());
    class.map(str::to_owned).ok_or_else(|| {
        file.wrong(
            "image_processor_type",
            "is missing",
            "name the class, for instance `ViTImageProcessor`",
        )
    })
}
