//! The interface by which operators on one tensor are computed with cuDNN and MIOpen.

use super::{
    descriptor::{DnnDescriptor, StatusCheck, TensorFunctions},
    primitive_functions::PrimitiveFunctions,
    primitive_numbers::NamedNumber,
};
use crate::{
    library_error::LibraryError,
    primitive::{PoolKind, PrimitiveActivation, PrimitiveNorm, PrimitiveNormKind},
    symbols::Opaque,
};
use std::ffi::{c_int, c_void};
use testgen_operators::calls::{Element, row_major_strides};

/// The numbers and functions in which cuDNN and MIOpen differ.
pub(super) trait PrimitiveDialect: StatusCheck {
    /// The first part of the names of functions.
    const PREFIX: &'static str;
    /// The name of the softmax.
    const SOFTMAX: &'static str;
    /// Whether a reduction may have the lengths of its input, so that it is a copy.
    const REDUCES_SINGLE_ELEMENTS: bool;
    /// The modes of a batch norm: with parameters for each channel, and for each element.
    const BATCH_NORMS: [NamedNumber; 2];
    /// The handle of the library.
    fn handle(&self) -> Opaque;
    /// The functions for tensors.
    fn tensors(&self) -> TensorFunctions;
    /// The functions that both libraries have.
    fn functions(&self) -> &PrimitiveFunctions;
    /// The number of a type.
    fn number(&self, element: Element) -> Option<c_int>;
    /// The mode of an activation, or `None` if the library does not have it.
    fn activation(&self, activation: PrimitiveActivation) -> Option<NamedNumber>;
    /// The modes of a pool.
    fn pools(&self, kind: PoolKind) -> &'static [NamedNumber];
    /// Sets the mode of an activation with its arguments.
    fn set_activation(&self, descriptor: Opaque, mode: c_int) -> Result<(), LibraryError>;
    /// Sets the mode and the windows of a pool.
    fn set_pool(
        &self,
        descriptor: Opaque,
        mode: c_int,
        windows: &WindowNumbers,
    ) -> Result<(), LibraryError>;
    /// Computes a softmax with an algorithm in a mode, and returns a status.
    fn softmax(&self, numbers: [c_int; 2], tensors: &PrimitiveTensors) -> c_int;
    /// Computes a pool, and returns a status.
    fn pool(&self, descriptor: Opaque, tensors: &PrimitiveTensors) -> c_int;
    /// The modes of a norm: with a weight, and without.
    fn norms(&self, kind: PrimitiveNormKind) -> Result<[NamedNumber; 2], LibraryError>;
    /// Computes a norm in a mode.
    fn norm(
        &self,
        mode: c_int,
        norm: &PrimitiveNorm,
        tensors: &NormTensors<'_>,
    ) -> Result<(), LibraryError>;

    /// Describes a dense tensor.
    fn describe(&self, element: Element, lengths: &[usize]) -> Result<DnnDescriptor, LibraryError>
    where
        Self: Sized,
    {
        let number = self.number(element).ok_or_else(|| {
            LibraryError::unsupported("the library does not have operators of this type")
        })?;
        let strides = row_major_strides(lengths);
        self.tensors().describe(self, number, lengths, &strides)
    }
}

/// The windows of a pool in the integers that both libraries take.
pub(super) struct WindowNumbers {
    pub(super) lengths: Vec<c_int>,
    pub(super) padding: Vec<c_int>,
    pub(super) stride: Vec<c_int>,
}

/// The input and the result, and their factors: 1 for the new result, 0 for the old one.
pub(super) struct PrimitiveTensors {
    pub(super) alpha: *const c_void,
    pub(super) x_layout: Opaque,
    pub(super) x: *const c_void,
    pub(super) beta: *const c_void,
    pub(super) y_layout: Opaque,
    pub(super) y: Opaque,
}

/// The tensors of a norm.
pub(super) struct NormTensors<'a> {
    /// The input and the result.
    pub(super) both: &'a PrimitiveTensors,
    /// The weight, and the bias if the norm has one.
    pub(super) parameters: Vec<DescribedTensor>,
    /// Memory for the mean, and for the reciprocal root of the variance.
    pub(super) statistics: [DescribedTensor; 2],
}

/// The pointer of a descriptor with the address of the elements.
#[derive(Clone, Copy)]
pub(super) struct DescribedTensor {
    pub(super) layout: Opaque,
    pub(super) data: Opaque,
}
