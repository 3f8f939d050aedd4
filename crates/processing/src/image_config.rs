//! The settings in `preprocessor_config.json`, with the defaults of the transformers class that it
//! names.

use crate::{
    config_file::ConfigFile, error::PreprocessError, resample::ResampleFilter, size::Size,
};
use std::path::Path;
use testgen_types::ModelType;

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

/// The size that an image gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Resize {
    /// Exactly this size.
    Exact(Size),
    /// This shorter side, the longer one in proportion.
    ShortestEdge(usize),
    /// DETR and YOLOS: this shorter side, unless the longer one would be above its limit; with a
    /// third number, both sides are cut off to multiples of it.
    Edges(usize, usize, Option<usize>),
    /// DPT: this size, or if the proportions are kept the size with the side that changes least;
    /// both sides are rounded to multiples of a number.
    Multiple(Size, bool, usize),
    /// ConvNeXT: below 384 this side divided by the share, then a centred square of this side; from
    /// 384 on a square.
    ShareOfSquare(usize, f64),
}

/// Per channel, red first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Normalize {
    pub(crate) mean: [f32; 3],
    pub(crate) std: [f32; 3],
}

/// The class attributes of a transformers image processor.
struct Defaults {
    class: &'static str,
    resample: usize,
    size: Resize,
    crop: Option<usize>,
    mean: [f64; 3],
    std: [f64; 3],
    /// How an integer `size` of older files is meant.
    square: bool,
    pad: bool,
}

const HALF: [f64; 3] = [0.5; 3];
const IMAGENET_MEAN: [f64; 3] = [0.485, 0.456, 0.406];
const IMAGENET_STD: [f64; 3] = [0.229, 0.224, 0.225];
/// The multiple to which YOLOS crops the sides of an image, whatever the size of its patches is.
const MULTIPLE: Option<usize> = Some(16);
const CLIP_MEAN: [f64; 3] = [0.48145466, 0.4578275, 0.40821073];
const CLIP_STD: [f64; 3] = [0.26862954, 0.26130258, 0.27577711];

/// As in transformers 5, `PilBackend` variants; both backends are saved under one name there.
#[rustfmt::skip]
const CLASSES: [Defaults; 11] = [
    Defaults { class: "ViTImageProcessor", resample: 2, size: Resize::Exact(Size::square(224)), crop: None, mean: HALF, std: HALF, square: true, pad: false },
    Defaults { class: "ConvNextImageProcessor", resample: 3, size: Resize::ShortestEdge(384), crop: None, mean: HALF, std: HALF, square: false, pad: false },
    Defaults { class: "DeiTImageProcessor", resample: 3, size: Resize::Exact(Size::square(256)), crop: Some(224), mean: HALF, std: HALF, square: true, pad: false },
    Defaults { class: "BitImageProcessor", resample: 3, size: Resize::ShortestEdge(224), crop: Some(224), mean: CLIP_MEAN, std: CLIP_STD, square: false, pad: false },
    Defaults { class: "CLIPImageProcessor", resample: 3, size: Resize::ShortestEdge(224), crop: Some(224), mean: CLIP_MEAN, std: CLIP_STD, square: false, pad: false },
    Defaults { class: "SiglipImageProcessor", resample: 3, size: Resize::Exact(Size::square(224)), crop: None, mean: HALF, std: HALF, square: false, pad: false },
    Defaults { class: "DetrImageProcessor", resample: 2, size: Resize::Edges(800, 1333, None), crop: None, mean: IMAGENET_MEAN, std: IMAGENET_STD, square: false, pad: true },
    Defaults { class: "SegformerImageProcessor", resample: 2, size: Resize::Exact(Size::square(512)), crop: None, mean: IMAGENET_MEAN, std: IMAGENET_STD, square: true, pad: false },
    Defaults { class: "VideoMAEImageProcessor", resample: 2, size: Resize::ShortestEdge(224), crop: Some(224), mean: HALF, std: HALF, square: false, pad: false },
    Defaults { class: "DPTImageProcessor", resample: 3, size: Resize::Multiple(Size::square(384), false, 1), crop: None, mean: HALF, std: HALF, square: true, pad: false },
    Defaults { class: "YolosImageProcessor", resample: 2, size: Resize::Edges(800, 1333, MULTIPLE), crop: None, mean: IMAGENET_MEAN, std: IMAGENET_STD, square: false, pad: true },
];

/// Fields of processors that fill images up to one size.
const OF_PADDING: [&str; 3] = ["do_pad", "max_size", "pad_and_return_pixel_mask"];

/// Fields of DPT's processor. Its `size_divisor` has no effect unless it pads.
const OF_MULTIPLES: [&str; 3] = ["ensure_multiple_of", "keep_aspect_ratio", "size_divisor"];

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

const UNSUPPORTED: &str =
    "testgen does not apply it; set it to null or false if the model does without";

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

fn class_defaults(
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

fn resize(
    file: &ConfigFile,
    defaults: &Defaults,
) -> Result<(Resize, ResampleFilter), PreprocessError> {
    let code = file.count("resample")?.unwrap_or(defaults.resample);
    let filter = ResampleFilter::from_code(code).ok_or_else(|| {
        file.wrong(
            "resample",
            &format!("is {code}"),
            "use a code of PIL.Image.Resampling, 0 to 5",
        )
    })?;
    let size = match read_size(
        file,
        "size",
        file.flag("default_to_square")?.unwrap_or(defaults.square),
    )? {
        Some(size) => size,
        None => defaults.size,
    };
    // Only DETR and YOLOS keep the longer side within a limit; for the other classes such a size is
    // an error below.
    if let Resize::Edges(_, _, multiple) = defaults.size {
        return Ok((edges(file, size, multiple)?, filter));
    }
    if let Resize::Edges(..) = size {
        return Err(file.wrong("size", "has a `longest_edge`", UNSUPPORTED));
    }
    if let Resize::Multiple(default, ..) = defaults.size {
        return Ok((multiple_of(file, size, default)?, filter));
    }
    if defaults.class != "ConvNextImageProcessor" {
        return Ok((size, filter));
    }
    let Resize::ShortestEdge(side) = size else {
        return Err(file.wrong(
            "size",
            "has no `shortest_edge`",
            "ConvNextImageProcessor takes nothing else",
        ));
    };
    let share = file.number("crop_pct")?.unwrap_or(224.0 / 256.0);
    if share <= 0.0 || share > 1.0 {
        return Err(file.wrong(
            "crop_pct",
            &format!("is {share}"),
            "use a share above 0 and at most 1",
        ));
    }
    Ok((Resize::ShareOfSquare(side, share), filter))
}

/// The size of DETR's and YOLOS' processors; older files have the longer side in a separate field.
fn edges(
    file: &ConfigFile,
    size: Resize,
    multiple: Option<usize>,
) -> Result<Resize, PreprocessError> {
    const LONGEST: usize = 1333;
    match size {
        Resize::Edges(shortest, longest, _) => Ok(Resize::Edges(shortest, longest, multiple)),
        // Their `__init__` completes only an integer with `max_size`.
        Resize::ShortestEdge(shortest) if file.get("size").is_some_and(|size| size.is_u64()) => {
            Ok(Resize::Edges(
                shortest,
                file.count("max_size")?.unwrap_or(LONGEST),
                multiple,
            ))
        }
        Resize::Exact(..) => Ok(size),
        _ => Err(file.wrong(
            "size",
            "has no `longest_edge`",
            "give it beside `shortest_edge`",
        )),
    }
}

/// The size of DPT's processor.
fn multiple_of(file: &ConfigFile, size: Resize, default: Size) -> Result<Resize, PreprocessError> {
    let size = match size {
        Resize::Exact(size) => size,
        Resize::Multiple(..) => default,
        _ => return Err(file.wrong("size", "lacks `height` or `width`", "give both")),
    };
    let multiple = file.count("ensure_multiple_of")?.unwrap_or(1);
    if multiple == 0 {
        return Err(file.wrong("ensure_multiple_of", "is 0", "use 1 or more"));
    }
    let keeps = file.flag("keep_aspect_ratio")?.unwrap_or(false);
    Ok(Resize::Multiple(size, keeps, multiple))
}

fn crop(file: &ConfigFile, defaults: &Defaults) -> Result<Size, PreprocessError> {
    // An integer is always a square here: `default_to_square` is about `size` only.
    match (read_size(file, "crop_size", true)?, defaults.crop) {
        (Some(Resize::Exact(size)), _) => Ok(size),
        (None, Some(side)) => Ok(Size::square(side)),
        (Some(_), _) => Err(file.wrong("crop_size", "lacks `height` or `width`", "give both")),
        (None, None) => Err(file.wrong(
            "crop_size",
            "is missing although do_center_crop is true",
            "give height and width",
        )),
    }
}

/// A size as a number, as `[height, width]`, or as an object with `height` and `width` or with
/// `shortest_edge`.
fn read_size(
    file: &ConfigFile,
    name: &str,
    square: bool,
) -> Result<Option<Resize>, PreprocessError> {
    let Some(value) = file.get(name) else {
        return Ok(None);
    };
    let side =
        // A larger side is a damaged file, and would allocate gigabytes for one image.
        |value: &serde_json::Value| value.as_u64().filter(|side| (1..=65536).contains(side)).map(|side| side as usize);
    let exact = |height, width| Resize::Exact(Size { height, width });
    let keys = value
        .as_object()
        .map(|object| object.iter().filter(|(_, value)| !value.is_null()).count());
    let size = match (keys, value.as_array().map(Vec::as_slice)) {
        (Some(2), _) => {
            let exact = value
                .get("height")
                .and_then(side)
                .zip(value.get("width").and_then(side))
                .map(|(height, width)| exact(height, width));
            let edges = value
                .get("shortest_edge")
                .and_then(side)
                .zip(value.get("longest_edge").and_then(side));
            exact.or(edges.map(|(shortest, longest)| Resize::Edges(shortest, longest, None)))
        }
        (Some(1), _) => value
            .get("shortest_edge")
            .and_then(side)
            .map(Resize::ShortestEdge),
        (_, Some([height, width])) => side(height)
            .zip(side(width))
            .map(|(height, width)| exact(height, width)),
        (None, None) => side(value).map(|side| {
            if square {
                exact(side, side)
            } else {
                Resize::ShortestEdge(side)
            }
        }),
        _ => None,
    };
    let expected = "a side, [height, width], {height, width}, {shortest_edge} or {shortest_edge, longest_edge}, each from 1 to 65536";
    size.map(Some)
        .ok_or_else(|| file.not_a(name, expected, value))
}

fn rescale(file: &ConfigFile) -> Result<f64, PreprocessError> {
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
    KNOWN.contains(&name)
        || (defaults.pad && OF_PADDING.contains(&name))
        || (has_multiple && OF_MULTIPLES.contains(&name))
}
