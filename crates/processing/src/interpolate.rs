//! Maps of numbers in another size, as `torch.nn.functional.interpolate` computes them without
//! `align_corners` and `antialias`. Images of bytes are resized by `resample`.

/// How the values between places are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// From the two nearest places of each axis.
    Bilinear,
    /// From the four nearest places of each axis, with cubic polynomials.
    Bicubic,
}

/// The coefficient of the cubic convolution in PyTorch.
const CUBIC: f64 = -0.75;

/// A value between places: the places that it is computed from, and their weights.
type WeightedPlaces = Vec<(usize, f64)>;

/// `values` [height, width] of `from` in the size `to`; sums are computed in f64.
pub fn interpolate(
    values: &[f32],
    from: [usize; 2],
    to: [usize; 2],
    interpolation: Interpolation,
) -> Vec<f32> {
    let [rows, columns] = [0, 1].map(|axis| taps(from[axis], to[axis], interpolation));
    let mut found = Vec::with_capacity(to[0] * to[1]);
    for row in &rows {
        for column in &columns {
            let sum: f64 = row
                .iter()
                .map(|(row, weight)| across(&values[row * from[1]..], column) * weight)
                .sum();
            found.push(sum as f32);
        }
    }
    found
}

/// The value between places of a row.
fn across(row: &[f32], places: &[(usize, f64)]) -> f64 {
    let values = places.iter();
    values
        .map(|(column, weight)| f64::from(row[*column]) * weight)
        .sum()
}

/// The taps of every place of an axis; places beyond the edge are the edge.
fn taps(from: usize, to: usize, interpolation: Interpolation) -> Vec<WeightedPlaces> {
    let scale = from as f64 / to.max(1) as f64;
    let edge = from.saturating_sub(1) as i64;
    (0..to)
        .map(|index| {
            // Between the centres of pixels, as PyTorch without `align_corners`.
            let exact = (index as f64 + 0.5) * scale - 0.5;
            let (first, share) = (exact.floor(), exact - exact.floor());
            let weights = match interpolation {
                Interpolation::Bilinear => vec![1.0 - share, share],
                Interpolation::Bicubic => cubic(share).to_vec(),
            };
            let before = weights.len() as i64 / 2 - 1;
            let places = (0..).map(|tap| (first as i64 - before + tap).clamp(0, edge) as usize);
            places.zip(weights).collect()
        })
        .collect()
}

/// The weights of the four nearest places of a value that is `share` after the second.
fn cubic(share: f64) -> [f64; 4] {
    [
        far(share + 1.0),
        near(share),
        near(1.0 - share),
        far(2.0 - share),
    ]
}

/// The weight of a place at a distance `x` of at most 1.
fn near(x: f64) -> f64 {
    ((CUBIC + 2.0) * x - (CUBIC + 3.0)) * x * x + 1.0
}

/// The weight of a place at a distance `x` from 1 to 2.
fn far(x: f64) -> f64 {
    ((CUBIC * x - 5.0 * CUBIC) * x + 8.0 * CUBIC) * x - 4.0 * CUBIC
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [2, 3]
    const MAP: [f32; 6] = [1.0, 4.0, 2.0, 0.0, 3.0, 5.0];

    #[track_caller]
    fn assert_close(to: [usize; 2], interpolation: Interpolation, expected: &[f32]) {
        let found = interpolate(&MAP, [2, 3], to, interpolation);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }

    /// The expected values are from `torch.nn.functional.interpolate` of torch 2.13.
    #[test]
    fn larger_and_smaller_maps_have_the_values_of_pytorch() {
        use Interpolation::{Bicubic, Bilinear};
        #[rustfmt::skip]
        assert_close([3, 5], Bilinear, &[
            1.0, 2.2, 4.0, 2.8, 2.0, 0.5, 1.7, 3.5, 3.5, 3.5, 0.0, 1.2, 3.0, 4.2, 5.0,
        ]);
        #[rustfmt::skip]
        assert_close([3, 5], Bicubic, &[
            0.798_806, 2.419_806_2, 4.086_806_3, 2.866_305_6, 1.514_250_6, 0.212, 1.664_000_7, 3.5,
            3.715_999_4, 3.500_001, -0.374_805_24, 0.908_196_03, 2.913_195, 4.565_694_3, 5.485_751,
        ]);
        assert_close([1, 2], Bilinear, &[1.25, 3.5]);
        assert_close([1, 2], Bicubic, &[1.179_687_5, 3.605_468_8]);
    }
}
