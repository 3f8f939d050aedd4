//! Softmax, activations, pools, reductions and norms of cuDNN by its functions for single operations.

use super::{
    cudnn_functions::{CudnnFunctions, CudnnPrimitiveFunctions, CudnnSwishFunctions},
    cudnn_numbers::CudnnNumbers as Numbers,
    descriptor::{StatusCheck, TensorFunctions},
    primitive_dialect::{NormTensors, PrimitiveDialect, PrimitiveTensors, WindowNumbers},
    primitive_functions::PrimitiveFunctions,
    primitive_numbers::{NamedNumber, PrimitiveNumbers},
};
use crate::{
    library_error::LibraryError,
    primitive::{PoolKind, PrimitiveActivation, PrimitiveNorm, PrimitiveNormKind},
    symbols::Opaque,
};
use std::ffi::c_int;
use testgen_device::SharedLibrary;
use testgen_operators::calls::Element;

/// The functions of cuDNN for operators on one tensor.
pub(super) struct CudnnPrimitives {
    pub(super) shared: PrimitiveFunctions,
    pub(super) own: CudnnPrimitiveFunctions,
    /// `None` before cuDNN 8.2, which does not have the swish.
    pub(super) swish: Option<CudnnSwishFunctions>,
}

impl CudnnPrimitives {
    pub(super) fn load(library: &SharedLibrary) -> Result<Self, LibraryError> {
        let missing = |symbol| LibraryError::missing(library, symbol);
        Ok(Self {
            shared: PrimitiveFunctions::load(library, "cudnn").map_err(missing)?,
            own: CudnnPrimitiveFunctions::load(library, "cudnn").map_err(missing)?,
            swish: CudnnSwishFunctions::load(library, "cudnn").ok(),
        })
    }
}

/// Why a norm by the statistics of the elements is not computed: only graphs of cuDNN have them.
const NO_NORM: &str = "cuDNN's functions for single operations do not have the norm";

/// cuDNN with its handle.
pub(super) struct CudnnDialect<'a> {
    pub(super) handle: Opaque,
    pub(super) functions: &'a CudnnFunctions,
    pub(super) primitives: &'a CudnnPrimitives,
}

impl StatusCheck for CudnnDialect<'_> {
    fn check(&self, function: &str, code: c_int) -> Result<(), LibraryError> {
        self.functions.check(function, code)
    }
}

impl PrimitiveDialect for CudnnDialect<'_> {
    const PREFIX: &'static str = "cudnn";
    const SOFTMAX: &'static str = "cudnnSoftmaxForward";
    // cuDNN 9.14 returns BAD_PARAM.
    const REDUCES_SINGLE_ELEMENTS: bool = false;
    const BATCH_NORMS: [NamedNumber; 2] = Numbers::BATCH_NORMS;

    fn handle(&self) -> Opaque {
        self.handle
    }

    fn tensors(&self) -> TensorFunctions {
        self.functions.tensors()
    }

    fn functions(&self) -> &PrimitiveFunctions {
        &self.primitives.shared
    }

    fn number(&self, element: Element) -> Option<c_int> {
        Numbers::number(element)
    }

    fn activation(&self, activation: PrimitiveActivation) -> Option<NamedNumber> {
        let is_missing = activation == PrimitiveActivation::Silu && self.primitives.swish.is_none();
        (!is_missing).then(|| Numbers::activation(activation))
    }

    fn pools(&self, kind: PoolKind) -> &'static [NamedNumber] {
        Numbers::pools(kind)
    }

    fn set_activation(&self, descriptor: Opaque, mode: c_int) -> Result<(), LibraryError> {
        let (nan, ceiling) = (
            PrimitiveNumbers::PROPAGATE_NAN,
            PrimitiveActivation::CEILING,
        );
        // SAFETY: the descriptor exists.
        let code = unsafe { (self.primitives.own.activation_set)(descriptor, mode, nan, ceiling) };
        self.check("cudnnSetActivationDescriptor", code)?;
        let (swish, _) = Numbers::activation(PrimitiveActivation::Silu);
        // `silu` is the swish whose inner factor is 1, for which cuDNN has a separate function.
        match &self.primitives.swish {
            Some(functions) if mode == swish => {
                // SAFETY: the descriptor exists.
                let code = unsafe { (functions.set)(descriptor, 1.0) };
                self.check("cudnnSetActivationDescriptorSwishBeta", code)
            }
            _ => Ok(()),
        }
    }

    fn set_pool(
        &self,
        descriptor: Opaque,
        mode: c_int,
        windows: &WindowNumbers,
    ) -> Result<(), LibraryError> {
        // SAFETY: the descriptor exists, and every array has a number for each dimension.
        let code = unsafe {
            (self.primitives.own.pool_set)(
                descriptor,
                mode,
                PrimitiveNumbers::PROPAGATE_NAN,
                windows.lengths.len() as c_int,
                windows.lengths.as_ptr(),
                windows.padding.as_ptr(),
                windows.stride.as_ptr(),
            )
        };
        self.check("cudnnSetPoolingNdDescriptor", code)
    }

    fn softmax(&self, [algorithm, mode]: [c_int; 2], tensors: &PrimitiveTensors) -> c_int {
        // SAFETY: the descriptors exist; the tensors have the elements that they state; alpha and
        // beta are read before the call returns.
        unsafe {
            (self.primitives.own.softmax)(
                self.handle,
                algorithm,
                mode,
                tensors.alpha,
                tensors.x_layout,
                tensors.x,
                tensors.beta,
                tensors.y_layout,
                tensors.y,
            )
        }
    }

    fn pool(&self, descriptor: Opaque, tensors: &PrimitiveTensors) -> c_int {
        // SAFETY: the descriptors exist; the tensors have the elements that they state; alpha and
        // beta are read before the call returns.
        unsafe {
            (self.primitives.own.pool)(
                self.handle,
                descriptor,
                tensors.alpha,
                tensors.x_layout,
                tensors.x,
                tensors.beta,
                tensors.y_layout,
                tensors.y,
            )
        }
    }
    fn norms(&self, _kind: PrimitiveNormKind) -> Result<[NamedNumber; 2], LibraryError> {
        Err(LibraryError::unsupported(NO_NORM))
    }

    fn norm(
        &self,
        _mode: c_int,
        _norm: &PrimitiveNorm,
        _tensors: &NormTensors<'_>,
    ) -> Result<(), LibraryError> {
        Err(LibraryError::unsupported(NO_NORM))
    }
}
