//! The descriptors of a convolution in MIOpen: its tensors and its windows.

use super::{
    lengths::lengths, miopen_functions::MiopenFunctions, miopen_numbers::MiopenNumbers as Numbers,
};
use crate::{
    convolution_problem::ConvolutionProblem,
    library_error::{LibraryError, check},
};
use std::{
    ffi::{c_int, c_void},
    ptr::null_mut,
};

/// The descriptors of a convolution, destroyed when dropped.
pub(super) struct MiopenDescriptors<'table> {
    functions: &'table MiopenFunctions,
    pub(super) x: *mut c_void,
    pub(super) weight: *mut c_void,
    pub(super) y: *mut c_void,
    pub(super) windows: *mut c_void,
}

pub(super) fn status(function: &str, code: c_int) -> Result<(), LibraryError> {
    check(function, code, Numbers::STATUSES, Numbers::UNSUPPORTED)
}

pub(super) fn unsupported(reason: &str) -> LibraryError {
    LibraryError::Unsupported {
        reason: reason.to_owned(),
    }
}

impl<'table> MiopenDescriptors<'table> {
    pub(super) fn new(
        functions: &'table MiopenFunctions,
        problem: &ConvolutionProblem,
    ) -> Result<Self, LibraryError> {
        let mut new = Self {
            functions,
            x: null_mut(),
            weight: null_mut(),
            y: null_mut(),
            windows: null_mut(),
        };
        let number = Numbers::number(problem.element)
            .ok_or_else(|| unsupported("MIOpen has no convolutions of this type"))?;
        for (descriptor, shape) in [
            (&mut new.x, &problem.x),
            (&mut new.weight, &problem.weight),
            (&mut new.y, &problem.y),
        ] {
            set_tensor(
                functions,
                descriptor,
                number,
                [shape, &problem.strides(shape)],
            )?;
        }
        new.set_windows(problem)?;
        Ok(new)
    }

    fn set_windows(&mut self, problem: &ConvolutionProblem) -> Result<(), LibraryError> {
        let numbers = |shape: &[usize]| lengths(shape).ok_or_else(too_long);
        let (padding, stride, dilation, added) = (
            numbers(&problem.padding)?,
            numbers(&problem.stride)?,
            numbers(&problem.dilation)?,
            numbers(&problem.output_padding)?,
        );
        let (rank, groups) = (padding.len() as c_int, numbers(&[problem.groups])?[0]);
        let functions = self.functions;
        // SAFETY: the pointer is writable for the whole call.
        let code = unsafe { (functions.windows_create)(&mut self.windows) };
        status("miopenCreateConvolutionDescriptor", code)?;
        // SAFETY: the descriptor exists, and every array has `rank` numbers.
        let code = unsafe {
            (functions.windows_set)(
                self.windows,
                rank,
                padding.as_ptr(),
                stride.as_ptr(),
                dilation.as_ptr(),
                Numbers::MODES[usize::from(problem.is_transposed())],
            )
        };
        status("miopenInitConvolutionNdDescriptor", code)?;
        // SAFETY: the descriptor exists.
        let code = unsafe { (functions.set_groups)(self.windows, groups) };
        status("miopenSetConvolutionGroupCount", code)?;
        // SAFETY: the descriptor exists, and the array has `rank` numbers.
        let code = unsafe { (functions.set_output_padding)(self.windows, rank, added.as_ptr()) };
        status("miopenSetTransposeConvNdOutputPadding", code)
    }
}

fn too_long() -> LibraryError {
    unsupported("a length does not fit into 32 bits")
}

fn set_tensor(
    functions: &MiopenFunctions,
    descriptor: &mut *mut c_void,
    number: c_int,
    [shape, strides]: [&[usize]; 2],
) -> Result<(), LibraryError> {
    let (lengths, strides) = lengths(shape).zip(lengths(strides)).ok_or_else(too_long)?;
    // SAFETY: the pointer is writable for the whole call.
    let code = unsafe { (functions.tensor_create)(descriptor) };
    status("miopenCreateTensorDescriptor", code)?;
    // SAFETY: the descriptor exists, and both arrays have a number for each dimension.
    let code = unsafe {
        (functions.tensor_set)(
            *descriptor,
            number,
            lengths.len() as c_int,
            lengths.as_ptr(),
            strides.as_ptr(),
        )
    };
    status("miopenSetTensorDescriptor", code)
}

impl Drop for MiopenDescriptors<'_> {
    fn drop(&mut self) {
        let tensors = [self.x, self.weight, self.y]
            .map(|descriptor| (descriptor, self.functions.tensor_destroy));
        let windows = (self.windows, self.functions.windows_destroy);
        for (descriptor, destroy) in tensors
            .into_iter()
            .chain([windows])
            .filter(|(descriptor, _)| !descriptor.is_null())
        {
            // SAFETY: the descriptor came from the library and is not used any more.
            unsafe { destroy(descriptor) };
        }
    }
}
