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
    let arguments = &arguments;
    match arguments.operator {
        Add | Sub | Mul | Div | Pow | MaxBinary | MinBinary | Maximum | Minimum => {
            elementwise::binary(arguments)
        }
        Neg | Abs | Sqrt | Exp | Log | Sin | Cos | Tanh | Clamp => elementwise::unary(arguments),
        Where => elementwise::selected(arguments),
        Eq | Ne | Lt | Le | Gt | Ge | Less => elementwise::compared(arguments),
        Relu | Sigmoid | Gelu | Silu => activation::activated(arguments),
        Softmax | LogSoftmax => activation::softmax(arguments),
        Sum | Mean | Max | Min | Prod => reduction::reduced(arguments),
        Gemm => matrix::gemm(arguments),
        Matmul | BatchMatmul => Ok(DeviceTensor::Float(B::matmul_op(
            arguments.float(0)?,
            arguments.float(1)?,
        ))),
        Conv1d | Conv2d | Conv3d => convolution::convolved(arguments),
        ConvTranspose2d => convolution::transposed(arguments),
        MaxPool1d | MaxPool2d | MaxPool3d => pooling::largest(arguments),
        AvgPool1d | AvgPool2d | AvgPool3d => pooling::mean(arguments),
        AdaptiveAvgPool1d | AdaptiveAvgPool2d => pooling::adaptive(arguments),
        BatchNorm => normalisation::batch_norm(arguments),
        LayerNorm | RmsNorm => normalisation::of_rows(arguments),
        GroupNorm | InstanceNorm => normalisation::of_groups(arguments),
        Transpose | Reshape | View | Squeeze | Unsqueeze | Copy | Contiguous | LayoutTransform
        | Broadcast | Concat | Stack | Slice | Gather | Embedding | Dropout => {
            movement::moved(arguments)
        }
        MseLoss | L1Loss | SmoothL1Loss | BceLoss | BceWithLogitsLoss | CrossEntropyLoss
        | NllLoss | KlDivLoss => loss::loss(arguments),
        Rope => attention::rotated(arguments),
        ScaledDotProductAttention => attention::attended(arguments),
        WeightedSum => {
            let (weights, x) = (arguments.float(0)?, arguments.float(1)?);
            let [rows, columns] = [0, 1].map(|dimension| float::dims::<B>(&x)[dimension]);
            let sum = B::matmul_op(float::reshape::<B>(weights, [1, rows]), x);
            Ok(DeviceTensor::Float(float::reshape::<B>(sum, [columns])))
        }
        MatmulBiasRelu | MatmulBiasGelu | ConvBatchNormRelu | AddRelu | MulAdd => {
            fused::computed(arguments)
        }
    }
}
