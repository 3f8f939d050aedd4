//! The functions of `miopen/miopen.h`, and the structure that its list of solutions has.

use crate::symbols::{Opaque, functions};
use std::ffi::{c_int, c_void};

functions! {
    /// The functions of MIOpen.
    MiopenFunctions {
        create: "CreateWithStream", fn(*mut Opaque, Opaque) -> c_int;
        destroy: "Destroy", fn(Opaque) -> c_int;
        version: "GetVersion", fn(*mut usize, *mut usize, *mut usize) -> c_int;
        tensor_create: "CreateTensorDescriptor", fn(*mut Opaque) -> c_int;
        tensor_set: "SetTensorDescriptor", fn(Opaque, c_int, c_int, *const c_int, *const c_int) -> c_int;
        tensor_destroy: "DestroyTensorDescriptor", fn(Opaque) -> c_int;
        windows_create: "CreateConvolutionDescriptor", fn(*mut Opaque) -> c_int;
        windows_set: "InitConvolutionNdDescriptor",
            fn(Opaque, c_int, *const c_int, *const c_int, *const c_int, c_int) -> c_int;
        set_groups: "SetConvolutionGroupCount", fn(Opaque, c_int) -> c_int;
        set_output_padding: "SetTransposeConvNdOutputPadding", fn(Opaque, c_int, *const c_int) -> c_int;
        windows_destroy: "DestroyConvolutionDescriptor", fn(Opaque) -> c_int;
        count: "ConvolutionForwardGetSolutionCount", fn(Opaque, Opaque, Opaque, Opaque, Opaque, *mut usize) -> c_int;
        solutions: "ConvolutionForwardGetSolution",
            fn(Opaque, Opaque, Opaque, Opaque, Opaque, usize, *mut usize, *mut MiopenSolution) -> c_int;
        compile: "ConvolutionForwardCompileSolution", fn(Opaque, Opaque, Opaque, Opaque, Opaque, u64) -> c_int;
        run: "ConvolutionForwardImmediate", fn(
            Opaque, Opaque, *const c_void, Opaque, *const c_void, Opaque, Opaque, Opaque, Opaque, usize, u64,
        ) -> c_int;
    }
}

functions! {
    /// The functions of MIOpen for operators on one tensor whose signatures differ from cuDNN's.
    MiopenPrimitiveFunctions {
        softmax: "SoftmaxForward_V2",
            fn(Opaque, *const c_void, Opaque, *const c_void, *const c_void, Opaque, Opaque, c_int, c_int) -> c_int;
        activation_set: "SetActivationDescriptor", fn(Opaque, c_int, f64, f64, f64) -> c_int;
        pool_set: "SetNdPoolingDescriptor",
            fn(Opaque, c_int, c_int, *const c_int, *const c_int, *const c_int) -> c_int;
        pool: "PoolingForward", fn(
            Opaque, Opaque, *const c_void, Opaque, *const c_void, *const c_void, Opaque, Opaque, bool, Opaque, usize,
        ) -> c_int;
    }
}

functions! {
    /// The functions of MIOpen for norms by the statistics of the elements, which are not in its
    /// first versions.
    MiopenNormFunctions {
        layer: "LayerNormForward", fn(
            Opaque, c_int, Opaque, *const c_void, Opaque, *const c_void, Opaque, *const c_void, f32, i32, Opaque, Opaque,
            Opaque, Opaque, Opaque, Opaque,
        ) -> c_int;
        group: "GroupNormForward", fn(
            Opaque, c_int, Opaque, *const c_void, Opaque, *const c_void, Opaque, *const c_void, u64, f32, Opaque, Opaque,
            Opaque, Opaque, Opaque, Opaque,
        ) -> c_int;
        root_mean_square: "T5LayerNormForward", fn(
            Opaque, c_int, Opaque, *const c_void, Opaque, *const c_void, f32, Opaque, Opaque, Opaque, Opaque,
        ) -> c_int;
    }
}

/// `miopenConvSolution_t`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct MiopenSolution {
    /// Milliseconds, measured or estimated.
    pub time: f32,
    /// Bytes of workspace that it needs.
    pub workspace: usize,
    /// The number by which it is run.
    pub id: u64,
    /// `miopenConvAlgorithm_t`.
    pub algorithm: c_int,
}
