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
    calls::Call,
    cases::{
        arithmetic::Arithmetic,
        case::{Case, CaseSizes},
        reference::Reference,
    },
};
use testgen_types::Operator;

/// Every case of an operator for a shape.
pub(crate) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    match OperatorGroup::for_operator(sizes.operator) {
        OperatorGroup::Elementwise => elementwise::cases(sizes),
        OperatorGroup::Comparison => comparison::cases(sizes),
        OperatorGroup::Activation => activation::cases(sizes),
        OperatorGroup::Reduction => reduction::cases(sizes),
        OperatorGroup::Matrix => matrix::cases(sizes),
        OperatorGroup::Convolution => convolution::cases(sizes),
        OperatorGroup::Pooling => pooling::cases(sizes),
        OperatorGroup::Normalisation => normalisation::cases(sizes),
        OperatorGroup::Movement => movement::cases(sizes),
        OperatorGroup::Indexing => indexing::cases(sizes),
        OperatorGroup::Loss => loss::cases(sizes),
        OperatorGroup::Attention => attention::cases(sizes),
        OperatorGroup::Fused => fused::cases(sizes),
    }
}

/// The reference result of a call, whose inputs are those of its operator.
pub fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    match OperatorGroup::for_operator(call.operator) {
        OperatorGroup::Elementwise => elementwise::reference(call, arithmetic),
        OperatorGroup::Comparison => comparison::reference(call),
        OperatorGroup::Activation => activation::reference(call, arithmetic),
        OperatorGroup::Reduction => reduction::reference(call, arithmetic),
        OperatorGroup::Matrix => matrix::reference(call, arithmetic),
        OperatorGroup::Convolution => convolution::reference(call, arithmetic),
        OperatorGroup::Pooling => pooling::reference(call, arithmetic),
        OperatorGroup::Normalisation => normalisation::reference(call, arithmetic),
        OperatorGroup::Movement => movement::reference(call),
        OperatorGroup::Indexing => indexing::reference(call),
        OperatorGroup::Loss => loss::reference(call, arithmetic),
        OperatorGroup::Attention => attention::reference(call, arithmetic),
        OperatorGroup::Fused => fused::reference(call, arithmetic),
    }
}

/// Operators that are computed alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorGroup {
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

impl OperatorGroup {
    /// The group of an operator.
    pub fn for_operator(operator: Operator) -> Self {
        use Operator::*;
        match operator {
            Add | Sub | Mul | Div | Pow | MaxBinary | MinBinary | Neg | Abs | Sqrt | Exp | Log
            | Sin | Cos | Tanh | Where | Maximum | Minimum | Clamp | Dropout => Self::Elementwise,
            Eq | Ne | Lt | Le | Gt | Ge | Less => Self::Comparison,
            Relu | Sigmoid | Gelu | Silu | Softmax | LogSoftmax => Self::Activation,
            Sum | Mean | Max | Min | Prod => Self::Reduction,
            Matmul | Transpose | BatchMatmul | Gemm => Self::Matrix,
            Conv1d | Conv2d | Conv3d | ConvTranspose2d => Self::Convolution,
            MaxPool1d | MaxPool2d | MaxPool3d | AvgPool1d | AvgPool2d | AvgPool3d
            | AdaptiveAvgPool1d | AdaptiveAvgPool2d => Self::Pooling,
            BatchNorm | LayerNorm | GroupNorm | InstanceNorm | RmsNorm => Self::Normalisation,
            Reshape | View | Squeeze | Unsqueeze | Copy | Contiguous | LayoutTransform
            | Broadcast | Concat | Stack | Slice => Self::Movement,
            Gather | Embedding => Self::Indexing,
            MseLoss | L1Loss | SmoothL1Loss | BceLoss | BceWithLogitsLoss | CrossEntropyLoss
            | NllLoss | KlDivLoss => Self::Loss,
            Rope | ScaledDotProductAttention | WeightedSum => Self::Attention,
            MatmulBiasRelu | MatmulBiasGelu | ConvBatchNormRelu | AddRelu | MulAdd => Self::Fused,
        }
    }
}
