//! The numbers of `miopen/miopen.h`. `tests/declarations` compares them with the published
//! header.

use super::primitive_numbers::NamedNumber;
use crate::{
    library_error::StatusNames,
    primitive::{PoolKind, PrimitiveActivation, PrimitiveNormKind},
};
use std::ffi::c_int;
use testgen_operators::calls::Element;

/// The numbers of MIOpen.
#[derive(Debug, Clone, Copy)]
pub struct MiopenNumbers;

impl MiopenNumbers {
    /// `miopenConvolution` and `miopenTranspose`.
    pub const MODES: [c_int; 2] = [0, 1];
    /// `miopenConvAlgorithm_t` with the names in reports.
    pub const ALGORITHMS: &'static [(c_int, &'static str)] = &[
        (0, "GEMM"),
        (1, "Direct"),
        (2, "FFT"),
        (3, "Winograd"),
        (5, "ImplicitGEMM"),
    ];
    /// The algorithms that transform their inputs: FFT and Winograd.
    pub const TRANSFORMS: [c_int; 2] = [2, 3];
    /// The statuses of a convolution that the library does not have: not implemented, an
    /// unsupported operator.
    pub const UNSUPPORTED: &'static [c_int] = &[6, 8];
    /// `miopenStatus_t`.
    pub const STATUSES: StatusNames = &[
        (1, "miopenStatusNotInitialized"),
        (2, "miopenStatusInvalidValue"),
        (3, "miopenStatusBadParm"),
        (4, "miopenStatusAllocFailed"),
        (5, "miopenStatusInternalError"),
        (6, "miopenStatusNotImplemented"),
        (7, "miopenStatusUnknownError"),
        (8, "miopenStatusUnsupportedOp"),
        (9, "miopenStatusGpuOperationsSkipped"),
        (10, "miopenStatusVersionMismatch"),
    ];

    /// `miopenBatchNormMode_t`: with parameters for each channel, and for each element.
    pub const BATCH_NORMS: [NamedNumber; 2] = [(1, "Spatial"), (0, "PerActivation")];

    /// `miopenNormMode_t`: with a weight, and without.
    pub const fn norms(kind: PrimitiveNormKind) -> [NamedNumber; 2] {
        match kind {
            PrimitiveNormKind::Layer | PrimitiveNormKind::Group { .. } => {
                [(1, "WEIGHT_BIAS"), (0, "ELEMENTWISE_AFFINE")]
            }
            PrimitiveNormKind::RootMeanSquare => {
                [(5, "WEIGHT_BIAS_T5"), (4, "ELEMENTWISE_AFFINE_T5")]
            }
        }
    }

    /// `miopenActivationMode_t`; `None` for a function that the library does not have.
    pub const fn activation(activation: PrimitiveActivation) -> Option<NamedNumber> {
        match activation {
            PrimitiveActivation::Sigmoid => Some((1, "LOGISTIC")),
            PrimitiveActivation::Tanh => Some((2, "TANH")),
            PrimitiveActivation::Relu => Some((3, "RELU")),
            PrimitiveActivation::Relu6 => Some((7, "CLIPPEDRELU")),
            PrimitiveActivation::Silu => None,
        }
    }

    /// `miopenPoolingMode_t`: the modes of a number.
    pub const fn pools(kind: PoolKind) -> &'static [NamedNumber] {
        match kind {
            PoolKind::Max => &[(0, "Max")],
            PoolKind::Mean => &[(1, "Average")],
            PoolKind::MeanWithPadding => &[(2, "AverageInclusive")],
        }
    }

    /// `miopenDataType_t`; `None` for types that convolutions do not have.
    pub const fn number(element: Element) -> Option<c_int> {
        match element {
            Element::F16 => Some(0),
            Element::F32 => Some(1),
            Element::Bf16 => Some(5),
            Element::I32 | Element::Bool => None,
        }
    }
}
