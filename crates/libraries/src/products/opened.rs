//! A library of products that was opened on a device.

use crate::{blas::Blas, gpu::LibraryGpu};

/// A library of products with its device.
#[derive(Clone, Copy)]
pub(super) struct OpenedProducts<'a> {
    pub(super) gpu: &'a dyn LibraryGpu,
    pub(super) blas: &'a dyn Blas,
}
