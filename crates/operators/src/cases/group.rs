//! The groups of operators: one file each, with cases and reference.

mod activation;
mod attention;
mod collective;
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

pub use activation::activated;
pub use normalisation::norm_statistics;

use crate::{
    calls::Call,
    cases::{
        arithmetic::Arithmetic,
        case::{Case, CaseSizes},
        reference::Reference,
    },
};
use testgen_types::OperatorGroup;

/// Every case of an operator for a shape.
pub(crate) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    match sizes.operator.group() {
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
        OperatorGroup::Collective => collective::cases(sizes),
        OperatorGroup::Fused => fused::cases(sizes),
    }
}

/// The reference result of a call, whose inputs are what its operator takes.
pub fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    match call.operator.group() {
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
        OperatorGroup::Collective => collective::reference(call, arithmetic),
        OperatorGroup::Fused => fused::reference(call, arithmetic),
    }
}
