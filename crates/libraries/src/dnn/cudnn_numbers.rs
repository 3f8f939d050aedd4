//! The numbers of `cudnn_graph.h`, `cudnn_ops.h` and `cudnn_cnn.h`, most of them the same from
//! cuDNN 8 to 9. `tests/declarations` compares them with the published headers.

use super::primitive_numbers::NamedNumber;
use crate::{
    primitive::{PoolKind, PrimitiveActivation},
    product::ComputeType,
};
use std::ffi::c_int;
use testgen_operators::calls::Element;

/// The numbers of cuDNN.
#[derive(Debug, Clone, Copy)]
pub struct CudnnNumbers;

impl CudnnNumbers {
    /// `CUDNN_DATA_FLOAT`, also the type of sums.
    pub const FLOAT: c_int = 0;
    /// `CUDNN_TENSOR_NCHW` and `CUDNN_TENSOR_NHWC`: row-major, and channels last.
    pub const FORMATS: [c_int; 2] = [0, 1];
    /// `CUDNN_CROSS_CORRELATION`: the kernel is not reversed.
    pub const CROSS_CORRELATION: c_int = 1;
    /// `CUDNN_DETERMINISTIC`.
    pub const DETERMINISTIC: c_int = 1;
    /// `CUDNN_TENSOR_OP_MATH`: matrix units, which round factors of f32 to TF32.
    pub const TENSOR_OP_MATH: c_int = 1;
    /// `CUDNN_FMA_MATH`: no matrix units.
    pub const FMA_MATH: c_int = 3;
    /// `cudnnConvolutionFwdAlgo_t` with the parts of their names that differ; its index is its
    /// number.
    pub const FORWARD: [&'static str; 8] = [
        "IMPLICIT_GEMM",
        "IMPLICIT_PRECOMP_GEMM",
        "GEMM",
        "DIRECT",
        "FFT",
        "FFT_TILING",
        "WINOGRAD",
        "WINOGRAD_NONFUSED",
    ];
    /// `cudnnConvolutionBwdDataAlgo_t`, which computes transposed convolutions.
    pub const BACKWARD_DATA: [&'static str; 6] = [
        "0",
        "1",
        "FFT",
        "FFT_TILING",
        "WINOGRAD",
        "WINOGRAD_NONFUSED",
    ];

    /// `cudnnDataType_t`; `None` for types that convolutions do not have.
    pub const fn number(element: Element) -> Option<c_int> {
        match element {
            Element::F32 => Some(Self::FLOAT),
            Element::F16 => Some(2),
            Element::Bf16 => Some(9),
            Element::I32 | Element::Bool => None,
        }
    }

    /// The math type that a convolution may use: f32 without TF32 is computed outside of the matrix
    /// units.
    pub const fn math(element: Element, compute: ComputeType) -> c_int {
        match (element, compute) {
            (Element::F32, ComputeType::F32) => Self::FMA_MATH,
            _ => Self::TENSOR_OP_MATH,
        }
    }

    /// `cudnnBatchNormMode_t`: with parameters for each channel, and for each element. The third
    /// mode differs from the first one in training only.
    pub const BATCH_NORMS: [NamedNumber; 2] = [(1, "SPATIAL"), (0, "PER_ACTIVATION")];

    /// `cudnnActivationMode_t`.
    pub const fn activation(activation: PrimitiveActivation) -> NamedNumber {
        match activation {
            PrimitiveActivation::Sigmoid => (0, "SIGMOID"),
            PrimitiveActivation::Relu => (1, "RELU"),
            PrimitiveActivation::Tanh => (2, "TANH"),
            PrimitiveActivation::Relu6 => (3, "CLIPPED_RELU"),
            PrimitiveActivation::Silu => (6, "SWISH"),
        }
    }

    /// `cudnnPoolingMode_t`: the modes of a number.
    pub const fn pools(kind: PoolKind) -> &'static [NamedNumber] {
        match kind {
            PoolKind::Max => &[(0, "MAX"), (3, "MAX_DETERMINISTIC")],
            PoolKind::MeanWithPadding => &[(1, "AVERAGE_COUNT_INCLUDE_PADDING")],
            PoolKind::Mean => &[(2, "AVERAGE_COUNT_EXCLUDE_PADDING")],
        }
    }

    /// Whether a status says that the library does not have a convolution: `NOT_SUPPORTED` and
    /// `ARCH_MISMATCH` of cuDNN 8, a range of numbers in cuDNN 9.
    pub const fn is_unsupported(code: c_int) -> bool {
        matches!(code, 6 | 9 | 3000..=3999)
    }
}
