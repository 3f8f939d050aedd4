//! The types of tensor elements, and rounding to them.

use serde::{Deserialize, Serialize};
use std::fmt;
use testgen_types::Precision;

/// The type of the elements of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Element {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16.
    Bf16,
    /// 32 bits with a sign.
    I32,
    /// 0 or 1.
    Bool,
}

impl Element {
    /// The type in memory of tensors of a precision.
    pub const fn for_precision(precision: Precision) -> Self {
        match precision {
            // TF32 rounds only the factors inside of a product; tensors have all bits of f32.
            Precision::F32 | Precision::Tf32 => Self::F32,
            Precision::F16 => Self::F16,
            Precision::Bf16 => Self::Bf16,
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F16 | Self::Bf16)
    }

    /// `value` as the nearest number of this type, ties to even; integers are truncated and
    /// saturate.
    pub fn round(self, value: f64) -> f64 {
        match self {
            // `as` rounds to the nearest, ties to even, and beyond the largest number to infinity.
            Self::F32 => f64::from(value as f32),
            Self::F16 | Self::Bf16 => self.round_half(value),
            Self::I32 => f64::from(value as i32),
            Self::Bool => f64::from(u8::from(value != 0.0)),
        }
    }

    /// Rounds to 16 bits in one step; the conversion of `half` may round to f32 first, and then
    /// rounds twice.
    fn round_half(self, value: f64) -> f64 {
        // The step of an infinity would be infinite, and dividing by it would return NaN.
        if value == 0.0 || !value.is_finite() {
            return value;
        }
        // The exponent alone: the power of two at or below the value; 0 for numbers that every type
        // rounds to zero.
        let power = f64::from_bits(value.to_bits() & f64::INFINITY.to_bits());
        // Neighbours with this exponent are two units apart; subnormal ones have a constant
        // distance.
        let step = (power * 2.0 * self.unit()).max(self.smallest());
        let rounded = (value / step).round_ties_even() * step;
        if rounded.abs() > self.largest() {
            f64::INFINITY.copysign(value)
        } else {
            rounded
        }
    }

    /// The largest relative error of rounding a normal number; 0 for integers and booleans.
    pub fn unit(self) -> f64 {
        match self {
            Self::F32 => 2_f64.powi(-24),
            Self::F16 => 2_f64.powi(-11),
            Self::Bf16 => 2_f64.powi(-8),
            Self::I32 | Self::Bool => 0.0,
        }
    }

    /// The smallest positive number, which is subnormal in floating-point types.
    pub fn smallest(self) -> f64 {
        match self {
            Self::F32 => 2_f64.powi(-149),
            Self::F16 => 2_f64.powi(-24),
            // The least exponent of f32, with 7 bits of fraction.
            Self::Bf16 => 2_f64.powi(-133),
            Self::I32 | Self::Bool => 1.0,
        }
    }

    /// The smallest positive normal number.
    pub fn smallest_normal(self) -> f64 {
        match self {
            Self::F32 | Self::Bf16 => 2_f64.powi(-126),
            Self::F16 => 2_f64.powi(-14),
            Self::I32 | Self::Bool => 1.0,
        }
    }

    /// The largest finite number.
    pub fn largest(self) -> f64 {
        match self {
            Self::F32 => f64::from(f32::MAX),
            Self::F16 => 65_504.0,
            // Eight ones as the mantissa, with the largest exponent of f32.
            Self::Bf16 => 255.0 * 2_f64.powi(120),
            Self::I32 => f64::from(i32::MAX),
            Self::Bool => 1.0,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::I32 => "i32",
            Self::Bool => "bool",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Element;

    #[test]
    fn numbers_are_rounded_to_even_and_overflow_to_infinity() {
        assert_eq!(Element::F16.round(2049.0), 2048.0);
        assert_eq!(Element::F16.round(65_520.0), f64::INFINITY);
        assert_eq!(Element::Bf16.round(257.0), 256.0);
        assert_eq!(Element::F32.round(1.0 + 2_f64.powi(-24)), 1.0);
        // Just above a tie of f16; rounded to f32 first, it would become the tie.
        assert_eq!(
            Element::F16.round(1.0 + 2_f64.powi(-11) + 2_f64.powi(-40)),
            1.0 + 2_f64.powi(-10)
        );
        assert_eq!(
            [Element::I32.round(-2.7), Element::Bool.round(0.5)],
            [-2.0, 1.0]
        );
        for element in [Element::F32, Element::F16, Element::Bf16] {
            assert_eq!(element.round(element.largest()), element.largest());
            assert_eq!(element.round(element.smallest()), element.smallest());
            assert_eq!(element.round(element.smallest() / 2.0), 0.0);
            assert_eq!(element.round(1.0 + element.unit()), 1.0);
            assert_eq!(
                element.round(1.0 + 2.0 * element.unit()),
                1.0 + 2.0 * element.unit()
            );
        }
    }
}
