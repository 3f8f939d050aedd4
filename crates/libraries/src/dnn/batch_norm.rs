//! Batch norms of cuDNN and MIOpen, which have the same function for them.

use super::{
    descriptor::DnnDescriptor,
    primitive_dialect::{PrimitiveDialect, PrimitiveTensors},
};
use crate::{
    gpu::DeviceAddress,
    library_error::LibraryError,
    primitive::PrimitiveProblem,
    primitive_library::{PrimitiveAlgorithm, PrimitiveBuffers},
    symbols::Opaque,
};
use std::ffi::c_int;

/// Weight, bias, mean and variance, with the descriptor that they share.
pub(super) struct BatchNormParameters {
    layout: DnnDescriptor,
    addresses: [Opaque; 4],
}

impl BatchNormParameters {
    /// Describes the parameters: a number for each channel.
    pub(super) fn new<Library: PrimitiveDialect>(
        library: &Library,
        problem: &PrimitiveProblem,
        buffers: PrimitiveBuffers<'_>,
    ) -> Result<Self, LibraryError> {
        let addresses: [DeviceAddress; 4] = buffers
            .parameters
            .try_into()
            .map_err(|_| LibraryError::unsupported("a batch norm has four parameters"))?;
        let mut lengths = vec![1; problem.x.len()];
        // `1xCx1x1`, which is also the shape for the per-activation mode where that is offered:
        // without positions.
        lengths[1] = problem.x[1];
        Ok(Self {
            layout: library.describe(problem.parameter_element(), &lengths)?,
            addresses: addresses.map(DeviceAddress::pointer),
        })
    }

    /// Starts a batch norm in the mode of an algorithm, and returns a status.
    pub(super) fn run<Library: PrimitiveDialect>(
        &self,
        library: &Library,
        algorithm: &PrimitiveAlgorithm,
        tensors: &PrimitiveTensors,
        epsilon: f64,
    ) -> c_int {
        let [weight, bias, mean, variance] = self.addresses;
        // SAFETY: the descriptors exist; the tensors have the elements that they state; alpha and
        // beta are read before the call returns.
        unsafe {
            (library.functions().batch_norm)(
                library.handle(),
                algorithm.numbers[0],
                tensors.alpha,
                tensors.beta,
                tensors.x_layout,
                tensors.x,
                tensors.y_layout,
                tensors.y,
                self.layout.pointer(),
                weight,
                bias,
                mean,
                variance,
                epsilon,
            )
        }
    }
}
