//! The arithmetic of a candidate, which decides how exact its results must be.

use crate::candidate::Candidate;
use testgen_gpu::{GpuDevice, Product, has_tf32};
use testgen_types::Precision;

/// How `candidate` computes `product` on `device`: an autotuner that may choose matrix units for
/// f32 computes TF32. Sums are f32 in every precision.
pub fn arithmetic(candidate: &Candidate, product: &Product, device: GpuDevice) -> Precision {
    match product.precision.storage() {
        Precision::F32 if candidate.needs_matrix_units() && has_tf32(device) => Precision::Tf32,
        precision => precision,
    }
}
