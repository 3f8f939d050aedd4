//! The arithmetic of a candidate, which decides how exact its results must be.

use crate::candidate::Candidate;
use testgen_gpu::{Element, GpuDevice, Product, has_tf32};

/// How a candidate computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// f32 throughout.
    F32,
    /// Matrix units that round the factors to TF32.
    Tf32,
    /// Factors and results in f16, sums in f32.
    F16,
    /// Factors and results in bf16, sums in f32.
    Bf16,
}

/// How `candidate` computes `product` on `device`: an autotuner that may choose matrix units for f32 computes TF32.
pub fn arithmetic(candidate: &Candidate, product: &Product, device: GpuDevice) -> Arithmetic {
    match product.element {
        Element::F32 if candidate.needs_matrix_units() && has_tf32(device) => Arithmetic::Tf32,
        Element::F32 => Arithmetic::F32,
        Element::F16 => Arithmetic::F16,
        Element::Bf16 => Arithmetic::Bf16,
    }
}
