//! Inputs with known exact answers, for each 16-bit type. Every input is exact in its type.

use testgen_types::Precision;

/// The inner length of the products.
// Long enough to distinguish a 16-bit accumulator from one in f32.
pub(super) const INNER: usize = 512;

/// The properties of a floating-point format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FloatFormat {
    /// The distance from 1 to the next number.
    pub(super) epsilon: f64,
    /// The largest finite number.
    pub(super) largest: f64,
    /// The smallest number with a full mantissa.
    pub(super) smallest_normal: f64,
    /// The distance from 1 to the next number of the type in which results are stored.
    pub(super) stored_epsilon: f64,
}

impl FloatFormat {
    /// The format of a precision.
    pub(super) fn for_precision(precision: Precision) -> Self {
        match precision {
            Precision::F32 => Self::new(
                f64::from(f32::EPSILON),
                f64::from(f32::MAX),
                f64::from(f32::MIN_POSITIVE),
            ),
            // The format of factors; results are stored in f32.
            Precision::Tf32 => Self {
                epsilon: power(-10),
                ..Self::for_precision(Precision::F32)
            },
            // 65504 is (2 - 2^-10) * 2^15; bf16 has the exponents of f32.
            Precision::F16 => Self::new(power(-10), 65504.0, power(-14)),
            Precision::Bf16 => Self::new(power(-7), (2.0 - power(-7)) * power(127), power(-126)),
        }
    }

    fn new(epsilon: f64, largest: f64, smallest_normal: f64) -> Self {
        Self {
            epsilon,
            largest,
            smallest_normal,
            stored_epsilon: epsilon,
        }
    }

    /// The smallest number above zero.
    pub(super) fn smallest(&self) -> f64 {
        self.smallest_normal * self.epsilon
    }
}

pub(super) fn power(exponent: i32) -> f64 {
    2f64.powi(exponent)
}

/// The elementwise inputs: pairs to add, pairs to multiply, and values to cast.
pub(super) struct ElementwiseCases {
    /// Sums: first the three that determine the rounding, then plain ones.
    pub(super) sums: Vec<(f64, f64)>,
    /// Products: two that overflow, two with denormals, one out of f16's range, then plain ones.
    pub(super) products: Vec<(f64, f64)>,
    /// f32 values to cast: the exact results of the first three sums.
    pub(super) casts: Vec<f64>,
}

/// The number of sums and casts that determine the rounding.
pub(super) const ROUNDINGS: usize = 3;
/// Within the range of bf16 and outside the range of f16.
const WIDE: f64 = 65536.0;

/// The elementwise cases.
///
/// Rounding: a tie above an even number, a tie above an odd one, and three quarters of a step.
pub(super) fn elementwise(format: FloatFormat) -> ElementwiseCases {
    let step = format.epsilon;
    let roundings = [
        (1.0, step / 2.0),
        (1.0 + step, step / 2.0),
        (1.0, step * 0.75),
    ];
    let plain = [(3.0, 5.0), (1.5, 2.25), (-7.0, 0.125), (0.0, 4.0)];
    let overflow = [(format.largest, 2.0), (-format.largest, 2.0)];
    let denormals = [(format.smallest_normal, step), (format.smallest(), 1.0)];
    ElementwiseCases {
        sums: roundings.into_iter().chain(plain).collect(),
        products: overflow
            .into_iter()
            .chain(denormals)
            .chain([(WIDE / 2.0, 2.0)])
            .chain(plain)
            .collect(),
        casts: roundings.iter().map(|(left, right)| left + right).collect(),
    }
}

/// Two matrices [side, INNER] and [INNER, side], row-major.
pub(super) struct ProbeProduct {
    pub(super) side: usize,
    pub(super) left: Vec<f64>,
    pub(super) right: Vec<f64>,
}

impl ProbeProduct {
    /// The product [side, side] in f64.
    pub(super) fn exact(&self) -> Vec<f64> {
        let side = self.side;
        let mut exact = vec![0.0; side * side];
        for (row, left) in exact
            .chunks_exact_mut(side)
            .zip(self.left.chunks_exact(INNER))
        {
            for (left, right) in left.iter().zip(self.right.chunks_exact(side)) {
                row.iter_mut()
                    .zip(right)
                    .for_each(|(sum, right)| *sum += left * right);
            }
        }
        exact
    }
}

/// Random multiples of epsilon in -1..=1, which use every bit of the mantissa.
pub(super) fn random_product(format: FloatFormat, side: usize) -> ProbeProduct {
    // xorshift with a fixed seed, so that every device multiplies the same numbers.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let steps = (1.0 / format.epsilon) as u64;
        ((state >> 11) % (2 * steps + 1)) as f64 * format.epsilon - 1.0
    };
    let left: Vec<f64> = (0..side * INNER).map(|_| next()).collect();
    let right: Vec<f64> = (0..INNER * side).map(|_| next()).collect();
    ProbeProduct { side, left, right }
}

/// Sums a large number, many small ones, and the large one negated.
pub(super) fn cancelling_product(side: usize) -> ProbeProduct {
    // The small ones survive only in an accumulator that is wider than the type. 2^15 and 510 times
    // 2^-6: f32 represents every partial sum, f16 (with steps of at least 16 there) and bf16 (256)
    // none.
    let row = (0..INNER).map(|column| match column {
        0 => power(15),
        last if last == INNER - 1 => -power(15),
        _ => power(-6),
    });
    let row: Vec<f64> = row.collect();
    ProbeProduct {
        side,
        // Every row is the same, so that a tile that is wrong shows in any of its rows.
        left: row.repeat(side),
        right: vec![1.0; INNER * side],
    }
}

#[cfg(test)]
mod tests {
    use super::{FloatFormat, cancelling_product, elementwise, random_product};
    use half::{bf16, f16};
    use testgen_types::Precision;

    fn round(precision: Precision, value: f64) -> f64 {
        match precision {
            Precision::F32 | Precision::Tf32 => f64::from(value as f32),
            Precision::F16 => f16::from_f64(value).to_f64(),
            Precision::Bf16 => bf16::from_f64(value).to_f64(),
        }
    }

    #[test]
    fn every_input_is_exact_in_its_type() {
        for precision in [Precision::F16, Precision::Bf16] {
            let format = FloatFormat::for_precision(precision);
            let cases = elementwise(format);
            let pairs = cases
                .sums
                .iter()
                .chain(&cases.products)
                .flat_map(|(left, right)| [*left, *right]);
            let (random, cancelling) = (random_product(format, 4), cancelling_product(4));
            let matrices = [random.left, random.right, cancelling.left, cancelling.right].concat();
            for value in pairs.chain(matrices) {
                assert_eq!(round(precision, value), value, "{precision}");
            }
        }
    }

    #[test]
    fn the_formats_are_those_of_the_half_crate() {
        let half = FloatFormat::for_precision(Precision::F16);
        assert_eq!(
            (half.epsilon, half.largest),
            (f16::EPSILON.to_f64(), f16::MAX.to_f64())
        );
        assert_eq!(
            (half.smallest_normal, half.smallest()),
            (
                f16::MIN_POSITIVE.to_f64(),
                f16::MIN_POSITIVE_SUBNORMAL.to_f64()
            )
        );
        let brain = FloatFormat::for_precision(Precision::Bf16);
        assert_eq!(
            (brain.epsilon, brain.largest),
            (bf16::EPSILON.to_f64(), bf16::MAX.to_f64())
        );
        assert_eq!(
            (brain.smallest_normal, brain.smallest()),
            (
                bf16::MIN_POSITIVE.to_f64(),
                bf16::MIN_POSITIVE_SUBNORMAL.to_f64()
            )
        );
    }
}
