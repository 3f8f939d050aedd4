//! Softmax, activations, pools, reductions and norms of MIOpen.

use super::{
    descriptor::{StatusCheck, TensorFunctions},
    miopen_functions::{MiopenFunctions, MiopenNormFunctions, MiopenPrimitiveFunctions},
    miopen_norm::MiopenNorm,
    miopen_numbers::MiopenNumbers as Numbers,
    primitive_dialect::{NormTensors, PrimitiveDialect, PrimitiveTensors, WindowNumbers},
    primitive_functions::PrimitiveFunctions,
    primitive_numbers::NamedNumber,
};
use crate::{
    library_error::LibraryError,
    primitive::{PoolKind, PrimitiveActivation, PrimitiveNorm, PrimitiveNormKind},
    symbols::Opaque,
};
use std::{ffi::c_int, ptr::null_mut};
use testgen_device::SharedLibrary;
use testgen_operators::calls::Element;

/// The functions of MIOpen for operators on one tensor.
pub(super) struct MiopenPrimitives {
    shared: PrimitiveFunctions,
    own: MiopenPrimitiveFunctions,
    /// `None` before MIOpen 3.3, which has all of them.
    norms: Option<MiopenNormFunctions>,
}

impl MiopenPrimitives {
    pub(super) fn load(library: &SharedLibrary) -> Result<Self, LibraryError> {
        let missing = |symbol| LibraryError::missing(library, symbol);
        Ok(Self {
            shared: PrimitiveFunctions::load(library, "miopen").map_err(missing)?,
            own: MiopenPrimitiveFunctions::load(library, "miopen").map_err(missing)?,
            norms: MiopenNormFunctions::load(library, "miopen").ok(),
        })
    }
}

/// MIOpen with its handle.
pub(super) struct MiopenDialect<'a> {
    pub(super) handle: Opaque,
    pub(super) functions: &'a MiopenFunctions,
    pub(super) primitives: &'a MiopenPrimitives,
}

impl MiopenDialect<'_> {
    fn norm_functions(&self) -> Result<&MiopenNormFunctions, LibraryError> {
        let functions = self.primitives.norms.as_ref();
        functions.ok_or_else(|| LibraryError::unsupported("this MIOpen lacks norms of 3.3"))
    }
}

impl StatusCheck for MiopenDialect<'_> {
    fn check(&self, function: &str, code: c_int) -> Result<(), LibraryError> {
        self.functions.check(function, code)
    }
}

impl PrimitiveDialect for MiopenDialect<'_> {
    const PREFIX: &'static str = "miopen";
    const SOFTMAX: &'static str = "miopenSoftmaxForward_V2";
    const REDUCES_SINGLE_ELEMENTS: bool = true;
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
        Numbers::activation(activation)
    }

    fn pools(&self, kind: PoolKind) -> &'static [NamedNumber] {
        Numbers::pools(kind)
    }

    fn set_activation(&self, descriptor: Opaque, mode: c_int) -> Result<(), LibraryError> {
        // Alpha is the ceiling of a clipped ReLU, and a factor inside of the hyperbolic tangent;
        // beta is a factor of the latter.
        let clipped = Numbers::activation(PrimitiveActivation::Relu6);
        let alpha = match clipped {
            Some((number, _)) if number == mode => PrimitiveActivation::CEILING,
            _ => 1.0,
        };
        // SAFETY: the descriptor exists.
        let code =
            unsafe { (self.primitives.own.activation_set)(descriptor, mode, alpha, 1.0, 1.0) };
        self.check("miopenSetActivationDescriptor", code)
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
                windows.lengths.len() as c_int,
                windows.lengths.as_ptr(),
                windows.padding.as_ptr(),
                windows.stride.as_ptr(),
            )
        };
        self.check("miopenSetNdPoolingDescriptor", code)
    }

    fn softmax(&self, [algorithm, mode]: [c_int; 2], tensors: &PrimitiveTensors) -> c_int {
        // SAFETY: the descriptors exist; the tensors have the elements that they state; alpha and
        // beta are read before the call returns.
        unsafe {
            (self.primitives.own.softmax)(
                self.handle,
                tensors.alpha,
                tensors.x_layout,
                tensors.x,
                tensors.beta,
                tensors.y_layout,
                tensors.y,
                algorithm,
                mode,
            )
        }
    }

    fn pool(&self, descriptor: Opaque, tensors: &PrimitiveTensors) -> c_int {
        // SAFETY: the descriptors exist; the tensors have the elements that they state; alpha and
        // beta are read before the call returns. Without a gradient there is no workspace.
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
                false,
                null_mut(),
                0,
            )
        }
    }
    fn norms(&self, kind: PrimitiveNormKind) -> Result<[NamedNumber; 2], LibraryError> {
        self.norm_functions().map(|_| Numbers::norms(kind))
    }

    fn norm(
        &self,
        mode: c_int,
        norm: &PrimitiveNorm,
        tensors: &NormTensors<'_>,
    ) -> Result<(), LibraryError> {
        let norm = MiopenNorm {
            handle: self.handle,
            functions: self.norm_functions()?,
            mode,
            norm,
        };
        let (function, code) = norm.run(tensors).ok_or_else(|| {
            LibraryError::unsupported("the norm does not have as many parameters")
        })?;
        self.check(function, code)
    }
}
