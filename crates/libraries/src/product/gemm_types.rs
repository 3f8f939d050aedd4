//! The types of a product and the arithmetic of its sums.

use crate::number_type::NumberType;
use std::fmt;
use testgen_types::Precision;

/// The types of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GemmTypes {
    /// The types of A and B.
    pub factors: [NumberType; 2],
    /// The type of C and D.
    pub result: NumberType,
    /// The type in which factors are multiplied and sums computed.
    pub compute: ComputeType,
}

/// The arithmetic of products and sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComputeType {
    /// f32.
    F32,
    /// Factors are rounded to 10 bits of mantissa, sums are f32: TF32 of NVIDIA, XF32 of AMD.
    Tf32,
    /// Whole numbers of 32 bits.
    I32,
}

impl GemmTypes {
    /// The types of a precision.
    pub const fn for_precision(precision: Precision) -> Self {
        let (number, compute) = match precision {
            Precision::F32 => (NumberType::F32, ComputeType::F32),
            Precision::Tf32 => (NumberType::F32, ComputeType::Tf32),
            Precision::F16 => (NumberType::F16, ComputeType::F32),
            Precision::Bf16 => (NumberType::Bf16, ComputeType::F32),
        };
        Self {
            factors: [number; 2],
            result: number,
            compute,
        }
    }

    /// Whole numbers of 8 bits with results of 32.
    pub const INT8: Self = Self {
        factors: [NumberType::I8; 2],
        result: NumberType::I32,
        compute: ComputeType::I32,
    };

    /// Factors of 8 bits with results of 16 or 32.
    pub const fn float8(factors: [NumberType; 2], result: NumberType) -> Self {
        Self {
            factors,
            result,
            compute: ComputeType::F32,
        }
    }

    /// Whether a factor has 8 bits.
    pub fn has_bytes(self) -> bool {
        self.factors.iter().any(|factor| factor.bytes() == 1)
    }

    /// Whether a factor is a floating-point number of 8 bits.
    pub fn has_float8(self) -> bool {
        self.has_bytes() && self.compute != ComputeType::I32
    }
}

impl fmt::Display for GemmTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            factors: [a, b],
            result,
            compute,
        } = self;
        match compute {
            ComputeType::Tf32 => f.write_str("tf32"),
            ComputeType::F32 if a == b && b == result => write!(f, "{result}"),
            ComputeType::F32 | ComputeType::I32 => write!(f, "{a}*{b}->{result}"),
        }
    }
}
