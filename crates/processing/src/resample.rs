//! Resizing exactly as Pillow does: `Image.resize` on 8-bit RGB, bit for bit.
//!
//! Follows `src/libImaging/Resample.c` of Pillow 13 (two passes, weights in fixed point with 22
//! bits, a rounding after each pass; earlier versions always begin with the rows) and, for nearest,
//! `Geometry.c`. Other resizers, also ones that follow Pillow, keep fewer bits of the weights and
//! differ by one level here and there, which is a thousand times the tolerance of f32.

use crate::{image::Image, size::Size};
use std::f64::consts::PI;

/// Fractional bits of a weight: 32, less 8 of the pixel, less 2 for sums above one.
const PRECISION_BITS: u32 = 32 - 8 - 2;

/// How pixels are weighted; the numbers of `PIL.Image.Resampling`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResampleFilter {
    Nearest,
    Lanczos,
    Bilinear,
    Bicubic,
    Box,
    Hamming,
}

impl ResampleFilter {
    /// The filter that a `resample` field names.
    pub(crate) fn from_code(code: usize) -> Option<Self> {
        const CODES: [ResampleFilter; 6] = [
            ResampleFilter::Nearest,
            ResampleFilter::Lanczos,
            ResampleFilter::Bilinear,
            ResampleFilter::Bicubic,
            ResampleFilter::Box,
            ResampleFilter::Hamming,
        ];
        CODES.get(code).copied()
    }

    /// How far the filter reaches, in pixels of the smaller image.
    fn support(self) -> f64 {
        match self {
            Self::Nearest | Self::Box => 0.5,
            Self::Bilinear | Self::Hamming => 1.0,
            Self::Bicubic => 2.0,
            Self::Lanczos => 3.0,
        }
    }

    fn weight(self, x: f64) -> f64 {
        let distance = x.abs();
        match self {
            // Half open, so that a pixel on the border of two areas counts once.
            Self::Nearest | Self::Box => f64::from(x > -0.5 && x <= 0.5),
            Self::Bilinear => (1.0 - distance).max(0.0),
            Self::Hamming if distance == 0.0 => 1.0,
            Self::Hamming if distance >= 1.0 => 0.0,
            Self::Hamming => hamming(distance * PI),
            Self::Bicubic => bicubic(distance),
            Self::Lanczos if (-3.0..3.0).contains(&x) => sinc(x) * sinc(x / 3.0),
            Self::Lanczos => 0.0,
        }
    }
}

/// The window's constants are floats in C.
fn hamming(angle: f64) -> f64 {
    angle.sin() / angle * (f64::from(0.54_f32) + f64::from(0.46_f32) * angle.cos())
}

fn bicubic(distance: f64) -> f64 {
    // Pillow's coefficient; `bicubic` of PyTorch has -0.75.
    const A: f64 = -0.5;
    if distance < 1.0 {
        ((A + 2.0) * distance - (A + 3.0)) * distance * distance + 1.0
    } else if distance < 2.0 {
        (((distance - 5.0) * distance + 8.0) * distance - 4.0) * A
    } else {
        0.0
    }
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 {
        1.0
    } else {
        (x * PI).sin() / (x * PI)
    }
}

/// `image` in another size.
pub(crate) fn resize(image: &Image, Size { height, width }: Size, filter: ResampleFilter) -> Image {
    if filter == ResampleFilter::Nearest {
        return nearest(image, height, width);
    }
    match columns_first(image, height, width) {
        true => resize_width(&resize_height(image, height, filter), width, filter),
        false => resize_height(&resize_width(image, width, filter), height, filter),
    }
}

/// Whether the vertical pass comes first, which decides which values are rounded twice.
fn columns_first(image: &Image, height: usize, width: usize) -> bool {
    // Pillow 13 does so when it shortens the columns by more than twice what it shortens the rows;
    // found by comparing over 2000 sizes and filters with it.
    height < image.height()
        && (image.height() as i64 - height as i64) > 2 * (image.width() as i64 - width as i64)
}

fn resize_width(image: &Image, width: usize, filter: ResampleFilter) -> Image {
    if width == image.width() {
        return image.clone();
    }
    let taps = taps(image.width(), width, filter);
    Image::from_parts(
        image.height(),
        width,
        resize_rows(image.pixels(), image.width(), &taps),
    )
}

fn resize_height(image: &Image, height: usize, filter: ResampleFilter) -> Image {
    if height == image.height() {
        return image.clone();
    }
    let taps = taps(image.height(), height, filter);
    Image::from_parts(
        height,
        image.width(),
        resize_columns(image.pixels(), image.width(), &taps),
    )
}

/// The pixels that make one pixel of the result: the first of them and the weight of each.
struct Taps {
    first: usize,
    weights: Vec<i32>,
}

/// The taps of every pixel along one side that goes from `from` to `to` pixels.
fn taps(from: usize, to: usize, filter: ResampleFilter) -> Vec<Taps> {
    let scale = from as f64 / to as f64;
    // Only a smaller image widens the filter, which then averages all pixels that it covers.
    let stretch = scale.max(1.0);
    let support = filter.support() * stretch;
    (0..to)
        .map(|pixel| {
            let center = (pixel as f64 + 0.5) * scale;
            let first = (center - support + 0.5).max(0.0) as usize;
            let end = ((center + support + 0.5) as usize).min(from);
            Taps {
                first,
                weights: fixed_point(
                    (first..end)
                        .map(|index| {
                            // C multiplies by the reciprocal; a division would round differently.
                            filter.weight((index as f64 - center + 0.5) * (1.0 / stretch))
                        })
                        .collect(),
                ),
            }
        })
        .collect()
}

/// Weights scaled to a sum of one, rounded half away from zero.
fn fixed_point(weights: Vec<f64>) -> Vec<i32> {
    let sum: f64 = weights.iter().sum();
    weights
        .into_iter()
        .map(|weight| {
            let weight = if sum != 0.0 { weight / sum } else { weight };
            let scaled = weight * f64::from(1 << PRECISION_BITS);
            (if weight < 0.0 {
                scaled - 0.5
            } else {
                scaled + 0.5
            }) as i32
        })
        .collect()
}

/// The horizontal pass over rows of `width` pixels.
fn resize_rows(pixels: &[u8], width: usize, taps: &[Taps]) -> Vec<u8> {
    let mut resized = Vec::with_capacity(pixels.len() / width * taps.len());
    for row in pixels.chunks_exact(width * 3) {
        for tap in taps {
            // One half, which makes the shift in `to_byte` round to nearest.
            let mut sums = [1 << (PRECISION_BITS - 1); 3];
            for (pixel, weight) in row[tap.first * 3..].chunks_exact(3).zip(&tap.weights) {
                for (sum, value) in sums.iter_mut().zip(pixel) {
                    *sum += i32::from(*value) * weight;
                }
            }
            resized.extend(sums.map(to_byte));
        }
    }
    resized
}

/// The vertical pass over rows of `width` pixels.
fn resize_columns(pixels: &[u8], width: usize, taps: &[Taps]) -> Vec<u8> {
    let stride = width * 3;
    let mut resized = Vec::with_capacity(stride * taps.len());
    let mut sums = vec![0; stride];
    for tap in taps {
        // One half, which makes the shift of `to_byte` round.
        sums.fill(1 << (PRECISION_BITS - 1));
        for (row, weight) in pixels[tap.first * stride..]
            .chunks_exact(stride)
            .zip(&tap.weights)
        {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += i32::from(*value) * weight;
            }
        }
        resized.extend(sums.iter().copied().map(to_byte));
    }
    resized
}

fn to_byte(sum: i32) -> u8 {
    // Filters with negative lobes leave the range of a byte at edges.
    (sum >> PRECISION_BITS).clamp(0, 255) as u8
}

/// The pixel whose area holds the centre of the new pixel.
fn nearest(image: &Image, height: usize, width: usize) -> Image {
    let columns = nearest_indices(image.width(), width);
    let mut pixels = Vec::with_capacity(height * width * 3);
    for row in nearest_indices(image.height(), height) {
        for column in &columns {
            pixels.extend_from_slice(&image.pixels()[(row * image.width() + column) * 3..][..3]);
        }
    }
    Image::from_parts(height, width, pixels)
}

/// Pillow adds the scale up step by step; the sum decides ties, so it is made the same way here.
fn nearest_indices(from: usize, to: usize) -> Vec<usize> {
    let scale = from as f64 / to as f64;
    let mut position = scale * 0.5;
    (0..to)
        .map(|_| {
            let index = (position as usize).min(from - 1);
            position += scale;
            index
        })
        .collect()
}
