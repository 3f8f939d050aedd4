//! The groups of operators: one file each, with cases and reference.

mod activation;
mod attention;
mod comparison;
mod convolution;
mod elementwise;
mod fused;
mod indexing;
mod loss;
mod matrix;
mod movement;
mod normalisation;
mod pooling;
mod reduction;
pub(crate) mod window;

use crate::{
    arithmetic::Arithmetic,
    case::{Case, Sizes},
    reference::Reference,
};
use testgen_calls::Call;
use testgen_types::Operator;

/// Every case of an operator for a shape.
pub(crate) fn cases(sizes: &Sizes<'_>) -> Vec<Case> {
    match Group::of(sizes.operator) {
        Group::Elementwise => elementwise::cases(sizes),
        Group::Comparison => comparison::cases(sizes),
        Group::Activation => activation::cases(sizes),
        Group::Reduction => reduction::cases(sizes),
        Group::Matrix => matrix::cases(sizes),
        Group::Convolution => convolution::cases(sizes),
        Group::Pooling => pooling::cases(sizes),
        Group::Normalisation => normalisation::cases(sizes),
        Group::Movement => movement::cases(sizes),
        Group::Indexing => indexing::cases(sizes),
        Group::Loss => loss::cases(sizes),
        Group::Attention => attention::cases(sizes),
        Group::Fused => fused::cases(sizes),
    }
}

/// The reference result of a call, whose inputs are those of its operator.
pub fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    match Group::of(call.operator) {
        Group::Elementwise => elementwise::reference(call, arithmetic),
        Group::Comparison => comparison::reference(call),
        Group::Activation => activation::reference(call, arithmetic),
        Group::Reduction => reduction::reference(call, arithmetic),
        Group::Matrix => matrix::reference(call, arithmetic),
        Group::Convolution => convolution::reference(call, arithmetic),
        Group::Pooling => pooling::reference(call, arithmetic),
        Group::Normalisation => normalisation::reference(call, arithmetic),
        Group::Movement => movement::reference(call),
        Group::Indexing => indexing::reference(call),
        Group::Loss => loss::reference(call, arithmetic),
        Group::Attention => attention::reference(call, arithmetic),
        Group::Fused => fused::reference(call, arithmetic),
    }
}

/// Operators that are computed alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Each element from those at its position.
    Elementwise,
    /// Truth values.
    Comparison,
    /// Activations and softmaxes.
    Activation,
    /// Sums and extremes.
    Reduction,
    /// Products of matrices.
    Matrix,
    /// Convolutions.
    Convolution,
    /// Pools.
    Pooling,
    /// Normalisations.
    Normalisation,
    /// Moves of elements.
    Movement,
    /// Moves of elements at indices.
    Indexing,
    /// Losses.
    Loss,
    /// Attention and its parts.
    Attention,
    /// Patterns that engines fuse.
    Fused,
}

impl Group {
    /// The group of an operator.
    pub fn of(operator: Operator) -> Self {
        use Operator::*;
        match operator {
            Add | Sub | Mul | Div | Pow | MaxBinary | MinBinary | Neg | Abs | Sqrt | Exp | Log | Sin | Cos | Tanh
            | Where | Maximum | Minimum | Clamp | Dropout => Self::Elementwise,
            Eq | Ne | Lt | Le | Gt | Ge | Less => Self::Comparison,
            Relu | Sigmoid | Gelu | Silu | Softmax | LogSoftmax => Self::Activation,
            Sum | Mean | Max | Min | Prod => Self::Reduction,
            Matmul | Transpose | BatchMatmul | Gemm => Self::Matrix,
            Conv1d | Conv2d | Conv3d | ConvTranspose2d => Self::Convolution,
            MaxPool1d | MaxPool2d | MaxPool3d | AvgPool1d | AvgPool2d | AvgPool3d | AdaptiveAvgPool1d
            | AdaptiveAvgPool2d => Self::Pooling,
            BatchNorm | LayerNorm | GroupNorm | InstanceNorm | RmsNorm => Self::Normalisation,
            Reshape | View | Squeeze | Unsqueeze | Copy | Contiguous | LayoutTransform | Broadcast | Concat | Stack
            | Slice => Self::Movement,
            Gather | Embedding => Self::Indexing,
            MseLoss | L1Loss | SmoothL1Loss | BceLoss | BceWithLogitsLoss | CrossEntropyLoss | NllLoss | KlDivLoss => {
                Self::Loss
            }
            Rope | ScaledDotProductAttention | WeightedSum => Self::Attention,
            MatmulBiasRelu | MatmulBiasGelu | ConvBatchNormRelu | AddRelu | MulAdd => Self::Fused,
        }
    }
}
