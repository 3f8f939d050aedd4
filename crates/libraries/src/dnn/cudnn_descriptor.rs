//! The descriptors of a convolution in cuDNN: its tensors, its weight and its windows.

use super::{
    cudnn_functions::CudnnFunctions,
    cudnn_numbers::CudnnNumbers as Numbers,
    descriptor::{DnnDescriptor, DnnDescriptors, StatusCheck, TensorFunctions},
    lengths::{WindowLengths, lengths},
};
use crate::{convolution_problem::ConvolutionProblem, library_error::LibraryError};
use std::ffi::{CStr, c_int};

impl StatusCheck for CudnnFunctions {
    fn check(&self, function: &str, code: c_int) -> Result<(), LibraryError> {
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
            LibraryError::unsupported(&format!("{function} returned {code}, {name}"))
        } else {
            LibraryError::Status {
                function: function.to_owned(),
                code,
                name,
            }
        })
    }
}

impl CudnnFunctions {
    /// Describes a convolution, with matrix units as the problem permits them.
    pub(super) fn describe(
        &self,
        problem: &ConvolutionProblem,
    ) -> Result<DnnDescriptors, LibraryError> {
        let number = Numbers::number(problem.element)
            .ok_or_else(|| LibraryError::unsupported("cuDNN has no convolutions of this type"))?;
        let tensor = |shape: &[usize]| {
            let strides = problem.strides(shape);
            self.tensors().describe(self, number, shape, &strides)
        };
        let described = DnnDescriptors {
            x: tensor(&problem.x)?,
            y: tensor(&problem.y)?,
            weight: self.weight(number, problem)?,
            windows: self.windows(problem)?,
        };
        self.select_math(
            &described.windows,
            Numbers::math(problem.element, problem.compute),
        )?;
        Ok(described)
    }

    /// The functions for tensors.
    pub(super) fn tensors(&self) -> TensorFunctions {
        TensorFunctions {
            create: ("cudnnCreateTensorDescriptor", self.tensor_create),
            set: ("cudnnSetTensorNdDescriptor", self.tensor_set),
            destroy: self.tensor_destroy,
        }
    }

    /// Selects the math type of an algorithm.
    pub(super) fn select_math(
        &self,
        windows: &DnnDescriptor,
        math: c_int,
    ) -> Result<(), LibraryError> {
        // SAFETY: the descriptor exists.
        let code = unsafe { (self.set_math)(windows.pointer(), math) };
        self.check("cudnnSetConvolutionMathType", code)
    }

    fn weight(
        &self,
        number: c_int,
        problem: &ConvolutionProblem,
    ) -> Result<DnnDescriptor, LibraryError> {
        let lengths = lengths(&problem.weight)?;
        let create = ("cudnnCreateFilterDescriptor", self.filter_create);
        let weight = DnnDescriptor::new(self, create, self.filter_destroy)?;
        // SAFETY: the descriptor exists, and the array has a number for each dimension.
        let code = unsafe {
            (self.filter_set)(
                weight.pointer(),
                number,
                Numbers::FORMATS[usize::from(problem.channels_last)],
                lengths.len() as c_int,
                lengths.as_ptr(),
            )
        };
        self.check("cudnnSetFilterNdDescriptor", code)?;
        Ok(weight)
    }

    fn windows(&self, problem: &ConvolutionProblem) -> Result<DnnDescriptor, LibraryError> {
        let lengths = WindowLengths::new(problem)?;
        let create = ("cudnnCreateConvolutionDescriptor", self.windows_create);
        let windows = DnnDescriptor::new(self, create, self.windows_destroy)?;
        // SAFETY: the descriptor exists, and every array has a number for each spatial dimension.
        let code = unsafe {
            (self.windows_set)(
                windows.pointer(),
                lengths.rank(),
                lengths.padding.as_ptr(),
                lengths.stride.as_ptr(),
                lengths.dilation.as_ptr(),
                Numbers::CROSS_CORRELATION,
                Numbers::FLOAT,
            )
        };
        self.check("cudnnSetConvolutionNdDescriptor", code)?;
        // SAFETY: the descriptor exists.
        let code = unsafe { (self.set_groups)(windows.pointer(), lengths.groups) };
        self.check("cudnnSetConvolutionGroupCount", code)?;
        Ok(windows)
    }
}
