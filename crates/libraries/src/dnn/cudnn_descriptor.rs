//! The descriptors of a convolution in cuDNN: its tensors, its weight and its windows.

use super::{
    cudnn_functions::CudnnFunctions, cudnn_numbers::CudnnNumbers as Numbers, lengths::lengths,
};
use crate::{convolution_problem::ConvolutionProblem, library_error::LibraryError};
use std::{
    ffi::{CStr, c_int, c_void},
    ptr::null_mut,
};

/// The descriptors of a convolution, destroyed when dropped.
pub(super) struct CudnnDescriptors<'table> {
    functions: &'table CudnnFunctions,
    pub(super) x: *mut c_void,
    pub(super) weight: *mut c_void,
    pub(super) y: *mut c_void,
    pub(super) windows: *mut c_void,
}

impl CudnnFunctions {
    /// `Ok` for 0; an error with the library's own name of the status otherwise.
    pub(super) fn check(&self, function: &str, code: c_int) -> Result<(), LibraryError> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the function returns a static text for every number.
        let text = unsafe { (self.error)(code) };
        let name = if text.is_null() {
            "unknown status".to_owned()
        } else {
            // SAFETY: as above, ended by zero.
            unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned()
        };
        Err(if Numbers::is_unsupported(code) {
            unsupported(&format!("{function} returned {code}, {name}"))
        } else {
            LibraryError::Status {
                function: function.to_owned(),
                code,
                name,
            }
        })
    }
}

fn unsupported(reason: &str) -> LibraryError {
    LibraryError::Unsupported {
        reason: reason.to_owned(),
    }
}

fn numbers(shape: &[usize]) -> Result<Vec<c_int>, LibraryError> {
    lengths(shape).ok_or_else(|| unsupported("a length or a stride does not fit into 32 bits"))
}

impl<'table> CudnnDescriptors<'table> {
    /// Creates them, with matrix units as the problem permits them.
    pub(super) fn new(
        functions: &'table CudnnFunctions,
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
            .ok_or_else(|| unsupported("cuDNN has no convolutions of this type"))?;
        for (descriptor, shape) in [(&mut new.x, &problem.x), (&mut new.y, &problem.y)] {
            set_tensor(
                functions,
                descriptor,
                number,
                [shape, &problem.strides(shape)],
            )?;
        }
        new.set_weight(number, problem)?;
        new.set_windows(problem)?;
        new.set_math(Numbers::math(problem.element, problem.compute))?;
        Ok(new)
    }

    /// Selects the math type of an algorithm.
    pub(super) fn set_math(&self, math: c_int) -> Result<(), LibraryError> {
        // SAFETY: the descriptor exists.
        let code = unsafe { (self.functions.set_math)(self.windows, math) };
        self.functions.check("cudnnSetConvolutionMathType", code)
    }

    fn set_weight(
        &mut self,
        number: c_int,
        problem: &ConvolutionProblem,
    ) -> Result<(), LibraryError> {
        let (functions, lengths) = (self.functions, numbers(&problem.weight)?);
        let format = Numbers::FORMATS[usize::from(problem.channels_last)];
        // SAFETY: the pointer is writable for the whole call.
        let code = unsafe { (functions.filter_create)(&mut self.weight) };
        functions.check("cudnnCreateFilterDescriptor", code)?;
        // SAFETY: the descriptor exists, and the array has a number for each dimension.
        let code = unsafe {
            (functions.filter_set)(
                self.weight,
                number,
                format,
                lengths.len() as c_int,
                lengths.as_ptr(),
            )
        };
        functions.check("cudnnSetFilterNdDescriptor", code)
    }

    fn set_windows(&mut self, problem: &ConvolutionProblem) -> Result<(), LibraryError> {
        let (padding, stride, dilation) = (
            numbers(&problem.padding)?,
            numbers(&problem.stride)?,
            numbers(&problem.dilation)?,
        );
        let (functions, groups) = (self.functions, numbers(&[problem.groups])?[0]);
        // SAFETY: the pointer is writable for the whole call.
        let code = unsafe { (functions.windows_create)(&mut self.windows) };
        functions.check("cudnnCreateConvolutionDescriptor", code)?;
        // SAFETY: the descriptor exists, and every array has a number for each spatial dimension.
        let code = unsafe {
            (functions.windows_set)(
                self.windows,
                padding.len() as c_int,
                padding.as_ptr(),
                stride.as_ptr(),
                dilation.as_ptr(),
                Numbers::CROSS_CORRELATION,
                Numbers::FLOAT,
            )
        };
        functions.check("cudnnSetConvolutionNdDescriptor", code)?;
        // SAFETY: the descriptor exists.
        let code = unsafe { (functions.set_groups)(self.windows, groups) };
        functions.check("cudnnSetConvolutionGroupCount", code)
    }
}

fn set_tensor(
    functions: &CudnnFunctions,
    descriptor: &mut *mut c_void,
    number: c_int,
    [shape, strides]: [&[usize]; 2],
) -> Result<(), LibraryError> {
    let (lengths, strides) = (numbers(shape)?, numbers(strides)?);
    // SAFETY: the pointer is writable for the whole call.
    let code = unsafe { (functions.tensor_create)(descriptor) };
    functions.check("cudnnCreateTensorDescriptor", code)?;
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
    functions.check("cudnnSetTensorNdDescriptor", code)
}

impl Drop for CudnnDescriptors<'_> {
    fn drop(&mut self) {
        let functions = self.functions;
        for (descriptor, destroy) in [
            (self.x, functions.tensor_destroy),
            (self.y, functions.tensor_destroy),
            (self.weight, functions.filter_destroy),
            (self.windows, functions.windows_destroy),
        ] {
            if !descriptor.is_null() {
                // SAFETY: the descriptor came from the library and is not used any more.
                unsafe { destroy(descriptor) };
            }
        }
    }
}
