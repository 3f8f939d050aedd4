//! The functions of cuDNN's headers, and the structure that its heuristic fills. All
//! of them are exported by `libcudnn.so`, which opens the other libraries of cuDNN itself.

use crate::symbols::{Opaque, functions};
use std::ffi::{c_char, c_int, c_void};

functions! {
    /// The functions of cuDNN.
    CudnnFunctions {
        create: "Create", fn(*mut Opaque) -> c_int;
        destroy: "Destroy", fn(Opaque) -> c_int;
        version: "GetVersion", fn() -> usize;
        error: "GetErrorString", fn(c_int) -> *const c_char;
        tensor_create: "CreateTensorDescriptor", fn(*mut Opaque) -> c_int;
        tensor_set: "SetTensorNdDescriptor", fn(Opaque, c_int, c_int, *const c_int, *const c_int) -> c_int;
        tensor_destroy: "DestroyTensorDescriptor", fn(Opaque) -> c_int;
        filter_create: "CreateFilterDescriptor", fn(*mut Opaque) -> c_int;
        filter_set: "SetFilterNdDescriptor", fn(Opaque, c_int, c_int, c_int, *const c_int) -> c_int;
        filter_destroy: "DestroyFilterDescriptor", fn(Opaque) -> c_int;
        windows_create: "CreateConvolutionDescriptor", fn(*mut Opaque) -> c_int;
        windows_set: "SetConvolutionNdDescriptor",
            fn(Opaque, c_int, *const c_int, *const c_int, *const c_int, c_int, c_int) -> c_int;
        set_groups: "SetConvolutionGroupCount", fn(Opaque, c_int) -> c_int;
        set_math: "SetConvolutionMathType", fn(Opaque, c_int) -> c_int;
        windows_destroy: "DestroyConvolutionDescriptor", fn(Opaque) -> c_int;
        forward_algorithms: "GetConvolutionForwardAlgorithm_v7",
            fn(Opaque, Opaque, Opaque, Opaque, Opaque, c_int, *mut c_int, *mut CudnnPerformance) -> c_int;
        forward: "ConvolutionForward", fn(
            Opaque, *const c_void, Opaque, *const c_void, Opaque, *const c_void, Opaque, c_int, Opaque, usize, *const c_void,
            Opaque, Opaque,
        ) -> c_int;
        backward_algorithms: "GetConvolutionBackwardDataAlgorithm_v7",
            fn(Opaque, Opaque, Opaque, Opaque, Opaque, c_int, *mut c_int, *mut CudnnPerformance) -> c_int;
        backward: "ConvolutionBackwardData", fn(
            Opaque, *const c_void, Opaque, *const c_void, Opaque, *const c_void, Opaque, c_int, Opaque, usize, *const c_void,
            Opaque, Opaque,
        ) -> c_int;
    }
}

functions! {
    /// The functions of cuDNN for operators on one tensor whose signatures differ from MIOpen's.
    CudnnPrimitiveFunctions {
        softmax: "SoftmaxForward",
            fn(Opaque, c_int, c_int, *const c_void, Opaque, *const c_void, *const c_void, Opaque, Opaque) -> c_int;
        activation_set: "SetActivationDescriptor", fn(Opaque, c_int, c_int, f64) -> c_int;
        pool_set: "SetPoolingNdDescriptor",
            fn(Opaque, c_int, c_int, c_int, *const c_int, *const c_int, *const c_int) -> c_int;
        pool: "PoolingForward",
            fn(Opaque, Opaque, *const c_void, Opaque, *const c_void, *const c_void, Opaque, Opaque) -> c_int;
    }
}

functions! {
    /// The function for the factor inside of a swish, which cuDNN has since 8.2.
    CudnnSwishFunctions {
        set: "SetActivationDescriptorSwishBeta", fn(Opaque, f64) -> c_int;
    }
}

/// `cudnnConvolutionFwdAlgoPerf_t` and `cudnnConvolutionBwdDataAlgoPerf_t`, which have the same
/// fields.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct CudnnPerformance {
    /// The number of the algorithm.
    pub algorithm: c_int,
    /// `cudnnStatus_t`: whether the library has the algorithm for this convolution.
    pub status: c_int,
    /// Milliseconds; the heuristic leaves it out.
    pub time: f32,
    /// Bytes of workspace that it needs.
    pub memory: usize,
    /// `cudnnDeterminism_t`.
    pub determinism: c_int,
    /// `cudnnMathType_t`.
    pub math: c_int,
    /// Not used.
    pub reserved: [c_int; 3],
}
