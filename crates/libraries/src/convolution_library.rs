//! The interface of a library that computes convolutions, the same for both vendors.

use crate::{
    convolution_problem::ConvolutionProblem, gpu::DeviceAddress, library::LibraryName,
    library_error::LibraryError, primitive_library::PrimitiveLibrary,
};

/// A library that computes convolutions on one device. Such a library also has operators on one
/// tensor.
pub trait ConvolutionLibrary: PrimitiveLibrary {
    /// The library.
    fn name(&self) -> LibraryName;

    /// Its version, as it reports it.
    fn version(&self) -> &str;

    /// The algorithms that the library offers for `problem`, the one that it prefers first. Empty
    /// if it does not support the problem.
    ///
    /// # Errors
    ///
    /// The library fails, or has no such types.
    fn algorithms(
        &self,
        problem: &ConvolutionProblem,
    ) -> Result<Vec<ConvolutionAlgorithm>, LibraryError>;

    /// Starts the convolution on the device's default stream.
    ///
    /// # Errors
    ///
    /// The library returns an error.
    fn run(
        &self,
        problem: &ConvolutionProblem,
        algorithm: &ConvolutionAlgorithm,
        buffers: ConvolutionBuffers,
    ) -> Result<(), LibraryError>;
}

/// The addresses of the tensors of a convolution, which are dense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvolutionBuffers {
    /// The input.
    pub x: DeviceAddress,
    /// The weight.
    pub weight: DeviceAddress,
    /// The result.
    pub y: DeviceAddress,
    /// As many bytes as the algorithm needs.
    pub workspace: DeviceAddress,
}

/// An algorithm of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvolutionAlgorithm {
    /// The name in the library's header, or the solution id.
    pub id: String,
    /// Other facts that the library reports.
    pub configuration: String,
    /// Whether it transforms its inputs (Winograd, FFT) in place of adding products, which has
    /// another bound.
    pub transforms: bool,
    /// Whether the library promises the same bits in every run.
    pub deterministic: bool,
    /// Bytes of workspace that it needs.
    pub workspace: usize,
    /// The number of the algorithm or of the solution.
    pub(crate) number: u64,
    /// The math type of cuDNN; 0 elsewhere.
    pub(crate) math: i32,
}
