//! The number formats that a model computes in.

use crate::word::words;

words! {
    /// The type of weights and activations. Sums inside a matrix product may be wider.
    Precision: "precision" {
        /// IEEE 754 binary32.
        F32 = "f32",
        /// IEEE 754 binary16: 10 bits of mantissa, largest value 65504.
        F16 = "f16",
        /// bfloat16: 7 bits of mantissa, the exponent range of f32.
        Bf16 = "bf16",
    }
}
