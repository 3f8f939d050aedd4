//! The interface of a library that computes operators on one tensor, the same for both vendors.

use crate::{gpu::DeviceAddress, library_error::LibraryError, primitive::PrimitiveProblem};

/// A library that computes softmax, activations, pools, reductions and norms on one device.
pub trait PrimitiveLibrary {
    /// The algorithms of the library for `problem`, the one that an engine uses first. Empty if it
    /// does not have the operator.
    ///
    /// # Errors
    ///
    /// The library fails, or has no such type.
    fn primitive_algorithms(
        &self,
        problem: &PrimitiveProblem,
    ) -> Result<Vec<PrimitiveAlgorithm>, LibraryError>;

    /// Starts the operator on the device's default stream.
    ///
    /// # Errors
    ///
    /// The library returns an error.
    fn run_primitive(
        &self,
        problem: &PrimitiveProblem,
        algorithm: &PrimitiveAlgorithm,
        buffers: PrimitiveBuffers<'_>,
    ) -> Result<(), LibraryError>;
}

/// The addresses of the tensors of an operator, which are dense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrimitiveBuffers<'a> {
    /// The input.
    pub x: DeviceAddress,
    /// The parameters, in the order of the problem.
    pub parameters: &'a [DeviceAddress],
    /// The result.
    pub y: DeviceAddress,
    /// As many bytes as the algorithm needs.
    pub workspace: DeviceAddress,
}

/// An algorithm of an operator: what the library's header names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimitiveAlgorithm {
    /// The names in the header, for instance `ACCURATE CHANNEL`.
    pub id: String,
    /// Whether large inputs overflow, because the softmax does not subtract the maximum.
    pub overflows: bool,
    /// Bytes of workspace that it needs.
    pub workspace: usize,
    /// The numbers of the names.
    pub(crate) numbers: [i32; 2],
}
