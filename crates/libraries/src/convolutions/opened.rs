//! A library of convolutions that was opened on a device.

use crate::{convolution_library::ConvolutionLibrary, gpu::LibraryGpu};

/// A library of convolutions with its device.
#[derive(Clone, Copy)]
pub(crate) struct OpenedConvolutions<'a> {
    pub(crate) gpu: &'a dyn LibraryGpu,
    pub(crate) library: &'a dyn ConvolutionLibrary,
}
