//! The sizes of images: of the whole, and of the centre that is kept. Files have them in several
//! forms.

use super::{
    class::{Defaults, UNSUPPORTED},
    resize::{Resize, SideMultiple},
};
use crate::{
    config_file::ConfigFile, error::PreprocessError, resample::ResampleFilter, size::Size,
};

/// The size that an image gets, and the filter.
pub(super) fn resize(
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
