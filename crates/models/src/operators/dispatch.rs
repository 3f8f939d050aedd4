//! From an operator to the function that computes it.

use crate::operators::{
    activation, arguments::CallArguments, attention, convolution, elementwise, float, fused, loss,
    matrix, movement, normalisation, pooling, reduction, value::DeviceTensor,
};
use testgen_nn::backend::Ops;
use testgen_operators::calls::CallError;
use testgen_types::Operator;

/// The result of a call on the device.
pub(crate) fn compute<B: Ops>(
    arguments: CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    use Operator::*;
    let of = &arguments;
    match of.operator {
        Add | Sub | Mul | Div | Pow | MaxBinary | MinBinary | Maximum | Minimum => {
            elementwise::binary(of)
        }
        Neg | Abs | Sqrt | Exp | Log | Sin | Cos | Tanh | Clamp => elementwise::unary(of),
        Where => elementwise::selected(of),
        Eq | Ne | Lt | Le | Gt | Ge | Less => elementwise::compared(of),
        Relu | Sigmoid | Gelu | Silu => activation::activated(of),
        Softmax | LogSoftmax => activation::softmax(of),
        Sum | Mean | Max | Min | Prod => reduction::reduced(of),
        Gemm => matrix::gemm(of),
        Matmul | BatchMatmul => Ok(DeviceTensor::Float(B::matmul_op(
            of.float(0)?,
            of.float(1)?,
        ))),
        Conv1d | Conv2d | Conv3d => convolution::convolved(of),
        ConvTranspose2d => convolution::transposed(of),
        MaxPool1d | MaxPool2d | MaxPool3d => pooling::largest(of),
        AvgPool1d | AvgPool2d | AvgPool3d => pooling::mean(of),
        AdaptiveAvgPool1d | AdaptiveAvgPool2d => pooling::adaptive(of),
        BatchNorm => normalisation::batch_norm(of),
        LayerNorm | RmsNorm => normalisation::of_rows(of),
        GroupNorm | InstanceNorm => normalisation::of_groups(of),
        Transpose | Reshape | View | Squeeze | Unsqueeze | Copy | Contiguous | LayoutTransform
        | Broadcast | Concat | Stack | Slice | Gather | Embedding | Dropout => movement::moved(of),
        MseLoss | L1Loss | SmoothL1Loss | BceLoss | BceWithLogitsLoss | CrossEntropyLoss
        | NllLoss | KlDivLoss => loss::loss(of),
        Rope => attention::rotated(of),
        ScaledDotProductAttention => attention::attended(of),
        WeightedSum => {
            let (weights, x) = (of.float(0)?, of.float(1)?);
            let [rows, columns] = [0, 1].map(|dimension| float::dims::<B>(&x)[dimension]);
            let sum = B::matmul_op(float::reshape::<B>(weights, [1, rows]), x);
            Ok(DeviceTensor::Float(float::reshape::<B>(sum, [columns])))
        }
        MatmulBiasRelu | MatmulBiasGelu | ConvBatchNormRelu | AddRelu | MulAdd => {
            fused::computed(of)
        }
    }
}
