//! eˣ and erf(x), branch-free so that loops over them vectorise.

use std::f32::consts::LOG2_E;

/// eˣ, within 2 units in the last place; 0 below -87.3, and the largest power below overflow above
/// 88.7.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    let clamped = x.clamp(-87.3, 88.7);
    // To even, because vector units have an instruction for that, and none for halves away from 0.
    let power = (clamped * LOG2_E).round_ties_even();
    // As in Cephes' `expf`, ln 2 has two parts, which keep the reduction of the argument exact.
    let rest = power.mul_add(2.121_944_4e-4, power.mul_add(-0.693_359_4, clamped));
    let polynomial = horner(
        rest,
        [
            1.987_569_1e-4,
            1.398_199_9e-3,
            8.333_452e-3,
            4.166_579_6e-2,
            0.166_666_65,
            0.5,
        ],
    );
    let mantissa = polynomial.mul_add(rest * rest, rest) + 1.0;
    // Two to the power, written into the exponent's bits; the clamp keeps them within their range.
    let scale = f32::from_bits(((power as i32 + 127) << 23) as u32);
    if x < -87.3 { 0.0 } else { mantissa * scale }
}

/// The error function, within a few units in the last place.
///
/// The rational approximation on -4..4 that Eigen uses, too.
#[inline(always)]
pub(super) fn erf(x: f32) -> f32 {
    // Beyond, the error function is 1 or -1 in f32.
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    let numerator = [
        -2.726_142_3e-10,
        2.770_681_4e-8,
        -2.101_024e-6,
        -5.692_506_4e-5,
        -7.349_906_3e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ];
    let denominator = [
        -1.456_607_2e-5,
        -2.133_740_6e-4,
        -1.682_827e-3,
        -7.373_329e-3,
        -1.426_473_9e-2,
    ];
    x * horner(square, numerator) / horner(square, denominator)
}

/// The polynomial with these coefficients, the highest power first.
#[inline(always)]
fn horner<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = coefficients[0];
    for coefficient in &coefficients[1..] {
        sum = sum.mul_add(x, *coefficient);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::{erf, exp};

    #[test]
    fn exp_follows_f64() {
        for step in -8700..8800 {
            let x = step as f32 / 100.0;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(
                error < 2.5e-7,
                "exp({x}) = {}, expected {exact}: relative error {error:e}",
                exp(x)
            );
        }
        assert_eq!(exp(-1e30), 0.0);
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn erf_follows_known_values() {
        // Abramowitz and Stegun, table 7.1.
        for (x, expected) in [
            (0.1, 0.112_462_916),
            (0.5, 0.520_499_878),
            (1.0, 0.842_700_793),
            (2.0, 0.995_322_265),
        ] {
            assert!(
                (f64::from(erf(x)) - expected).abs() < 2e-7,
                "erf({x}) = {}",
                erf(x)
            );
            assert_eq!(erf(-x), -erf(x));
        }
        assert!((erf(40.0) - 1.0).abs() < 2e-7);
        assert!(erf(f32::NAN).is_nan());
    }
}
