//! Lengths, strides and windows in the integers that both libraries take.

use crate::{convolution_problem::ConvolutionProblem, library_error::LibraryError};
use std::ffi::c_int;

/// The windows of a convolution.
pub(super) struct WindowLengths {
    pub(super) padding: Vec<c_int>,
    pub(super) stride: Vec<c_int>,
    pub(super) dilation: Vec<c_int>,
    pub(super) groups: c_int,
}

impl WindowLengths {
    pub(super) fn new(problem: &ConvolutionProblem) -> Result<Self, LibraryError> {
        Ok(Self {
            padding: lengths(&problem.padding)?,
            stride: lengths(&problem.stride)?,
            dilation: lengths(&problem.dilation)?,
            groups: length(problem.groups)?,
        })
    }

    /// The number of spatial dimensions.
    pub(super) fn rank(&self) -> c_int {
        self.padding.len() as c_int
    }
}

/// Lengths or strides as the libraries take them.
pub(super) fn lengths(shape: &[usize]) -> Result<Vec<c_int>, LibraryError> {
    shape.iter().map(|one| length(*one)).collect()
}

fn length(length: usize) -> Result<c_int, LibraryError> {
    c_int::try_from(length)
        .map_err(|_| LibraryError::unsupported("a length or a stride does not fit into 32 bits"))
}
