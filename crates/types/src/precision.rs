//! The number formats that a model computes in.

use crate::closed_enum::closed_enum;

closed_enum! {
    /// The type of weights and activations. Accumulators inside a matrix product may be wider.
    Precision: "precision" {
        /// IEEE 754 binary32.
        F32 = "f32",
        /// IEEE 754 binary16: 10 bits of mantissa, largest value 65504.
        F16 = "f16",
        /// bfloat16: 7 bits of mantissa, the exponent range of f32.
        Bf16 = "bf16",
    }
}

impl Precision {
    /// The loosest tolerance in the table for results in this precision: the error relative to the norm, and that of
    /// the largest element. A comparison that allows more than this cannot fail.
    pub const fn tolerance_ceiling(self) -> [f64; 2] {
        match self {
            Self::F32 => [3e-5, 6e-5],
            Self::F16 => [5e-2, 1e-1],
            Self::Bf16 => [2e-1, 4e-1],
        }
    }
}
