//! The functions for activations, pools, reductions and norms that cuDNN and MIOpen have with the same
//! signatures.

use crate::symbols::{Opaque, functions};
use std::ffi::{c_int, c_void};

functions! {
    /// The functions that are the same in both libraries up to their prefix.
    PrimitiveFunctions {
        activation_create: "CreateActivationDescriptor", fn(*mut Opaque) -> c_int;
        activation: "ActivationForward",
            fn(Opaque, Opaque, *const c_void, Opaque, *const c_void, *const c_void, Opaque, Opaque) -> c_int;
        activation_destroy: "DestroyActivationDescriptor", fn(Opaque) -> c_int;
        pool_create: "CreatePoolingDescriptor", fn(*mut Opaque) -> c_int;
        pool_destroy: "DestroyPoolingDescriptor", fn(Opaque) -> c_int;
        reduction_create: "CreateReduceTensorDescriptor", fn(*mut Opaque) -> c_int;
        reduction_set: "SetReduceTensorDescriptor", fn(Opaque, c_int, c_int, c_int, c_int, c_int) -> c_int;
        reduction_workspace: "GetReductionWorkspaceSize", fn(Opaque, Opaque, Opaque, Opaque, *mut usize) -> c_int;
        reduction: "ReduceTensor", fn(
            Opaque, Opaque, Opaque, usize, Opaque, usize, *const c_void, Opaque, *const c_void, *const c_void, Opaque, Opaque,
        ) -> c_int;
        batch_norm: "BatchNormalizationForwardInference", fn(
            Opaque, c_int, *const c_void, *const c_void, Opaque, *const c_void, Opaque, Opaque, Opaque, *const c_void,
            *const c_void, *const c_void, *const c_void, f64,
        ) -> c_int;
        reduction_destroy: "DestroyReduceTensorDescriptor", fn(Opaque) -> c_int;
    }
}
