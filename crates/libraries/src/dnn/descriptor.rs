//! Descriptors as cuDNN and MIOpen both have them: their lifetime, the descriptor of a tensor, and
//! the descriptors of a convolution.
//!
//! Does not own: the descriptors of weights and windows, which the libraries set differently.

use super::lengths::lengths;
use crate::{library_error::LibraryError, symbols::Opaque};
use std::{ffi::c_int, ptr::null_mut};

/// The descriptors of a convolution.
pub(super) struct DnnDescriptors {
    pub(super) x: DnnDescriptor,
    pub(super) y: DnnDescriptor,
    pub(super) weight: DnnDescriptor,
    pub(super) windows: DnnDescriptor,
}

/// A descriptor, destroyed when dropped.
pub(super) struct DnnDescriptor {
    pointer: Opaque,
    destroy: DestroyDescriptor,
}

/// Creates a descriptor and writes its pointer.
pub(super) type CreateDescriptor = unsafe extern "C" fn(*mut Opaque) -> c_int;
/// Destroys a descriptor.
pub(super) type DestroyDescriptor = unsafe extern "C" fn(Opaque) -> c_int;

/// A library that returns statuses.
pub(super) trait StatusCheck {
    /// `Ok` for success; an error with `function` and the name of the status otherwise.
    fn check(&self, function: &str, code: c_int) -> Result<(), LibraryError>;
}

/// The functions for tensors of a library, with their names.
pub(super) struct TensorFunctions {
    pub(super) create: (&'static str, CreateDescriptor),
    pub(super) set: (&'static str, SetTensor),
    pub(super) destroy: DestroyDescriptor,
}

/// Sets type, rank, lengths and strides.
type SetTensor = unsafe extern "C" fn(Opaque, c_int, c_int, *const c_int, *const c_int) -> c_int;

impl DnnDescriptors {
    /// The pointers of x, weight, y and windows, valid as long as the descriptors.
    pub(super) fn pointers(&self) -> [Opaque; 4] {
        [&self.x, &self.weight, &self.y, &self.windows].map(DnnDescriptor::pointer)
    }
}

impl DnnDescriptor {
    /// A descriptor that `create`, the function `name`, has created.
    pub(super) fn new(
        library: &impl StatusCheck,
        (name, create): (&str, CreateDescriptor),
        destroy: DestroyDescriptor,
    ) -> Result<Self, LibraryError> {
        let mut pointer = null_mut();
        // SAFETY: the pointer is writable for the whole call.
        let code = unsafe { create(&mut pointer) };
        library.check(name, code)?;
        Ok(Self { pointer, destroy })
    }

    /// The pointer that the library's functions take; it is valid as long as the descriptor.
    pub(super) fn pointer(&self) -> Opaque {
        self.pointer
    }
}

impl Drop for DnnDescriptor {
    fn drop(&mut self) {
        // SAFETY: the descriptor came from the library and is not used any more.
        unsafe { (self.destroy)(self.pointer) };
    }
}

impl TensorFunctions {
    /// Describes a tensor with these lengths and strides, of the type with the library's `number`.
    pub(super) fn describe(
        &self,
        library: &impl StatusCheck,
        number: c_int,
        shape: &[usize],
        strides: &[usize],
    ) -> Result<DnnDescriptor, LibraryError> {
        let (strides, lengths) = (lengths(strides)?, lengths(shape)?);
        let descriptor = DnnDescriptor::new(library, self.create, self.destroy)?;
        let (name, set) = self.set;
        // SAFETY: the descriptor exists, and both arrays have a number for each dimension.
        let code = unsafe {
            set(
                descriptor.pointer(),
                number,
                lengths.len() as c_int,
                lengths.as_ptr(),
                strides.as_ptr(),
            )
        };
        library.check(name, code)?;
        Ok(descriptor)
    }
}
