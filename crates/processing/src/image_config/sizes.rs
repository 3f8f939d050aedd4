//! The sizes of images: of the whole, and of the centre that is kept. Files have them in several
//! forms.

use super::{
    class::{Defaults, UNSUPPORTED},
    resize::{Resize, SideMultiple},
};
use crate::{
    config_file::ConfigFile, error::PreprocessError, resample::ResampleFilter, size::Size,
};
use serde_json::Value;

/// The size that an image gets, and the filter.
pub(super) fn resize(
    file: &ConfigFile,
    defaults: &Defaults,
) -> Result<(Resize, ResampleFilter), PreprocessError> {
    let filter = filter(file, defaults)?;
    let square = file.flag("default_to_square")?.unwrap_or(defaults.square);
    let size = read_size(file, "size", square)?.unwrap_or(defaults.size);
    // Only DETR and its relatives keep the longer side within a limit; for the other classes such a
    // size is an error below.
    if let Resize::Edges(_, _, multiple) = defaults.size {
        let multiple = match multiple {
            Some(SideMultiple::Above(multiple)) => {
                let given = file.count("size_divisor")?;
                Some(SideMultiple::Above(given.unwrap_or(multiple)))
            }
            other => other,
        };
        return Ok((edges(file, size, multiple)?, filter));
    }
    if let Resize::Edges(..) = size {
        return Err(file.wrong("size", "has a `longest_edge`", UNSUPPORTED));
    }
    if let Resize::Multiple(default, ..) = defaults.size {
        return Ok((multiple_of(file, size, default)?, filter));
    }
    if defaults.class == "ConvNextImageProcessor" {
        return Ok((share_of_square(file, size)?, filter));
    }
    Ok((size, filter))
}

fn filter(file: &ConfigFile, defaults: &Defaults) -> Result<ResampleFilter, PreprocessError> {
    let code = file.count("resample")?.unwrap_or(defaults.resample);
    ResampleFilter::from_code(code).ok_or_else(|| {
        file.wrong(
            "resample",
            &format!("is {code}"),
            "use a code of PIL.Image.Resampling, 0 to 5",
        )
    })
}

/// The size of ConvNext's processor.
fn share_of_square(file: &ConfigFile, size: Resize) -> Result<Resize, PreprocessError> {
    let Resize::ShortestEdge(side) = size else {
        return Err(file.wrong(
            "size",
            "has no `shortest_edge`",
            "ConvNextImageProcessor takes nothing else",
        ));
    };
    // The default of `ConvNextImageProcessor`.
    let share = file.number("crop_pct")?.unwrap_or(224.0 / 256.0);
    if share <= 0.0 || share > 1.0 {
        return Err(file.wrong(
            "crop_pct",
            &format!("is {share}"),
            "use a share above 0 and at most 1",
        ));
    }
    Ok(Resize::ShareOfSquare(side, share))
}

/// The size of the processors of DETR and its relatives; older files have the longer side in a
/// separate field.
fn edges(
    file: &ConfigFile,
    size: Resize,
    multiple: Option<SideMultiple>,
) -> Result<Resize, PreprocessError> {
    // The `max_size` that transformers completes such a file with.
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
        Resize::Exact(Size { height, width }) => Ok(match multiple {
            Some(above @ SideMultiple::Above(_)) => Resize::Exact(Size {
                height: above.apply(height),
                width: above.apply(width),
            }),
            // YOLOS cuts off only a side that it computes.
            _ => size,
        }),
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
    // The defaults of `DPTImageProcessor`.
    let multiple = file.count("ensure_multiple_of")?.unwrap_or(1);
    if multiple == 0 {
        return Err(file.wrong("ensure_multiple_of", "is 0", "use 1 or more"));
    }
    let keeps = file.flag("keep_aspect_ratio")?.unwrap_or(false);
    Ok(Resize::Multiple(size, keeps, multiple))
}

/// The size of the centre that is kept.
pub(super) fn crop(file: &ConfigFile, defaults: &Defaults) -> Result<Size, PreprocessError> {
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
    let keys = value
        .as_object()
        .map(|object| object.iter().filter(|(_, value)| !value.is_null()).count());
    let size = match (keys, value.as_array().map(Vec::as_slice)) {
        (Some(2), _) => {
            let exact = exact(value.get("height"), value.get("width"));
            let [shortest, longest] = ["shortest_edge", "longest_edge"].map(|name| value.get(name));
            exact.or_else(|| Some(Resize::Edges(side(shortest)?, side(longest)?, None)))
        }
        (Some(1), _) => side(value.get("shortest_edge")).map(Resize::ShortestEdge),
        (_, Some([height, width])) => exact(Some(height), Some(width)),
        (None, None) if square => exact(Some(value), Some(value)),
        (None, None) => side(Some(value)).map(Resize::ShortestEdge),
        _ => None,
    };
    let expected = "a side, [height, width], {height, width}, {shortest_edge} or {shortest_edge, longest_edge}, each from 1 to 65536";
    size.map(Some)
        .ok_or_else(|| file.not_a(name, expected, value))
}

/// A side in pixels, or `None` if it is missing or cannot be one.
fn side(value: Option<&Value>) -> Option<usize> {
    // A larger side is a damaged file, and would allocate gigabytes for one image.
    let side = value?.as_u64().filter(|side| (1..=65536).contains(side))?;
    usize::try_from(side).ok()
}

fn exact(height: Option<&Value>, width: Option<&Value>) -> Option<Resize> {
    Some(Resize::Exact(Size {
        height: side(height)?,
        width: side(width)?,
    }))
}
