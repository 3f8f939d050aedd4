//! The types of elements that libraries multiply, and their bytes.

use crate::float8::Float8;
use half::{bf16, f16};
use serde::Serialize;
use std::fmt;
use testgen_operators::calls::Element;

/// The type of the elements of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16.
    Bf16,
    /// 8 bits with 4 bits of exponent, as the Open Compute Project defines them.
    E4m3,
    /// 8 bits with 5 bits of exponent, as the Open Compute Project defines them.
    E5m2,
    /// 8 bits with 4 bits of exponent, without infinities and negative zero: gfx942.
    E4m3Fnuz,
    /// 8 bits with 5 bits of exponent, without infinities and negative zero: gfx942.
    E5m2Fnuz,
    /// A whole number of 8 bits with a sign.
    I8,
    /// A whole number of 32 bits with a sign.
    I32,
}

impl NumberType {
    /// Bytes of an element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::E4m3 | Self::E5m2 | Self::E4m3Fnuz | Self::E5m2Fnuz | Self::I8 => 1,
        }
    }

    /// The nearest number of this type, ties to even. Types of 8 bits saturate.
    pub fn round(self, value: f64) -> f64 {
        match (self.element(), self.float8()) {
            (Some(element), _) => element.round(value),
            (None, Some(format)) => format.decode(format.encode(value)),
            // Factors of `I8` are made as whole numbers.
            (None, None) => value,
        }
    }

    /// The type of the operators' tensors, or `None` for types of 8 bits, which are inputs of
    /// products only.
    pub const fn element(self) -> Option<Element> {
        match self {
            Self::F32 => Some(Element::F32),
            Self::F16 => Some(Element::F16),
            Self::Bf16 => Some(Element::Bf16),
            Self::I32 => Some(Element::I32),
            Self::E4m3 | Self::E5m2 | Self::E4m3Fnuz | Self::E5m2Fnuz | Self::I8 => None,
        }
    }

    /// The type of tensors of a type; f32 for integers and booleans, which libraries do not
    /// compute.
    pub const fn of_element(element: Element) -> Self {
        match element {
            Element::F16 => Self::F16,
            Element::Bf16 => Self::Bf16,
            Element::F32 | Element::I32 | Element::Bool => Self::F32,
        }
    }

    /// Writes `value`, a number of this type, to the first bytes of `to`.
    pub fn encode(self, value: f64, to: &mut [u8]) {
        match self {
            Self::F32 => to[..4].copy_from_slice(&(value as f32).to_le_bytes()),
            Self::F16 => to[..2].copy_from_slice(&f16::from_f64(value).to_le_bytes()),
            Self::Bf16 => to[..2].copy_from_slice(&bf16::from_f64(value).to_le_bytes()),
            Self::E4m3 | Self::E5m2 | Self::E4m3Fnuz | Self::E5m2Fnuz => {
                // Every type of this arm has a format, so nothing becomes the 0.
                to[0] = self.float8().map_or(0, |format| format.encode(value));
            }
            Self::I8 => to[0] = (value as i8).cast_unsigned(),
            Self::I32 => to[..4].copy_from_slice(&(value as i32).to_le_bytes()),
        }
    }

    /// The number in the first bytes of `from`.
    pub fn decode(self, from: &[u8]) -> f64 {
        match self {
            Self::F32 => f64::from(f32::from_le_bytes([from[0], from[1], from[2], from[3]])),
            Self::F16 => f16::from_le_bytes([from[0], from[1]]).to_f64(),
            Self::Bf16 => bf16::from_le_bytes([from[0], from[1]]).to_f64(),
            Self::E4m3 | Self::E5m2 | Self::E4m3Fnuz | Self::E5m2Fnuz => self
                .float8()
                .map_or(f64::NAN, |format| format.decode(from[0])),
            Self::I8 => f64::from(from[0].cast_signed()),
            Self::I32 => f64::from(i32::from_le_bytes([from[0], from[1], from[2], from[3]])),
        }
    }

    /// The byte whose repetition is NaN in this type. Of whole numbers, which have no NaN, it is one
    /// that no factor and no result has: the smallest number of 8 bits, and one below -2^30.
    pub const fn nan_byte(self) -> u8 {
        match self {
            Self::E4m3Fnuz | Self::E5m2Fnuz | Self::I8 | Self::I32 => 0x80,
            Self::F32 | Self::F16 | Self::Bf16 | Self::E4m3 | Self::E5m2 => 0xff,
        }
    }

    const fn float8(self) -> Option<Float8> {
        match self {
            Self::E4m3 => Some(Float8::E4M3),
            Self::E5m2 => Some(Float8::E5M2),
            Self::E4m3Fnuz => Some(Float8::E4M3_FNUZ),
            Self::E5m2Fnuz => Some(Float8::E5M2_FNUZ),
            Self::F32 | Self::F16 | Self::Bf16 | Self::I8 | Self::I32 => None,
        }
    }
}

impl fmt::Display for NumberType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::E4m3 => "e4m3",
            Self::E5m2 => "e5m2",
            Self::E4m3Fnuz => "e4m3fnuz",
            Self::E5m2Fnuz => "e5m2fnuz",
            Self::I8 => "i8",
            Self::I32 => "i32",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::NumberType::{self, Bf16, E4m3, E4m3Fnuz, E5m2, E5m2Fnuz, F16, F32};

    const ALL: [NumberType; 7] = [F32, F16, Bf16, E4m3, E5m2, E4m3Fnuz, E5m2Fnuz];

    #[test]
    fn numbers_survive_their_bytes() {
        for number in ALL {
            for value in [0.0, 1.0, -0.5, 0.1, 200.0, -3.75] {
                let (value, mut bytes) = (number.round(value), [0xaa; 4]);
                number.encode(value, &mut bytes);
                assert_eq!(number.decode(&bytes), value, "{number} {value}");
            }
        }
    }

    #[test]
    fn whole_numbers_survive_their_bytes() {
        for (number, values) in [
            (NumberType::I8, [-127.0, 127.0, 0.0]),
            (NumberType::I32, [-2_147_483_647.0, 16_777_217.0, -1.0]),
        ] {
            for value in values {
                let mut bytes = [0xaa; 4];
                number.encode(value, &mut bytes);
                assert_eq!(number.decode(&bytes), value, "{number} {value}");
            }
            assert!(number.decode(&[number.nan_byte(); 4]) <= -128.0, "{number}");
        }
    }

    #[test]
    fn the_fill_is_nan_in_every_type() {
        for number in ALL {
            assert!(number.decode(&[number.nan_byte(); 4]).is_nan(), "{number}");
        }
    }
}
