//! Operators on matrices; `gemm` is composed of a product and two scalings.

use crate::operators::{arguments::CallArguments, movement::moved, value::DeviceTensor};
use testgen_nn::backend::Ops;
use testgen_operators::calls::CallError;
use testgen_types::Operator;

pub(crate) fn computed<B: Ops>(
    arguments: &CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    use Operator::*;
    match arguments.operator {
        Gemm => gemm(arguments),
        Matmul | BatchMatmul => Ok(DeviceTensor::Float(B::matmul_op(
            arguments.float(0)?,
            arguments.float(1)?,
        ))),
        Transpose => moved(arguments),
        _ => Err(arguments.refused("it is not an operator on matrices")),
    }
}

/// alpha a b + beta c, rounded once: the product of 16-bit factors is computed in f32.
fn gemm<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let [alpha, beta] = arguments.attributes.scales;
    let product = B::matmul_op(arguments.single(0)?, arguments.single(1)?);
    let scaled = B::float_mul_scalar(product, alpha.into());
    // As in BLAS, `c` is then not read: NaN in it must not reach the result.
    if beta == 0.0 {
        return Ok(arguments.rounded(scaled));
    }
    Ok(arguments.rounded(B::float_add(
        scaled,
        B::float_mul_scalar(arguments.single(2)?, beta.into()),
    )))
}
