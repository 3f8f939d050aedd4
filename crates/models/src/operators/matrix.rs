//! `gemm`, composed of a product and two scalings.

use crate::operators::{arguments::CallArguments, value::DeviceTensor};
use testgen_nn::backend::Ops;
use testgen_operators::calls::CallError;

/// alpha a b + beta c, rounded once: the product of 16-bit factors is computed in f32.
pub(crate) fn gemm<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let [alpha, beta] = arguments.attributes.scales;
    let product = B::matmul_op(arguments.single(0)?, arguments.single(1)?);
    let scaled = B::float_mul_scalar(product, alpha.into());
    if beta == 0.0 {
        return Ok(arguments.rounded(scaled));
    }
    Ok(arguments.rounded(B::float_add(
        scaled,
        B::float_mul_scalar(arguments.single(2)?, beta.into()),
    )))
}
