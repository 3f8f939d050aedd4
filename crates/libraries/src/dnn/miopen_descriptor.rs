//! The descriptors of a convolution in MIOpen: its tensors and its windows.

use super::{
    descriptor::{DnnDescriptor, DnnDescriptors, StatusCheck, TensorFunctions},
    lengths::{WindowLengths, lengths},
    miopen_functions::MiopenFunctions,
    miopen_numbers::MiopenNumbers as Numbers,
};
use crate::{
    convolution_problem::ConvolutionProblem,
    library_error::{LibraryError, check},
};
use std::ffi::c_int;

impl StatusCheck for MiopenFunctions {
    fn check(&self, function: &str, code: c_int) -> Result<(), LibraryError> {
        check(function, code, Numbers::STATUSES, Numbers::UNSUPPORTED)
    }
}

impl MiopenFunctions {
    /// Describes a convolution. A weight is a tensor to MIOpen.
    pub(super) fn describe(
        &self,
        problem: &ConvolutionProblem,
    ) -> Result<DnnDescriptors, LibraryError> {
        let number = Numbers::number(problem.element)
            .ok_or_else(|| LibraryError::unsupported("MIOpen has no convolutions of this type"))?;
        let tensor = |shape: &[usize]| {
            let strides = problem.strides(shape);
            self.tensors().describe(self, number, shape, &strides)
        };
        Ok(DnnDescriptors {
            x: tensor(&problem.x)?,
            weight: tensor(&problem.weight)?,
            y: tensor(&problem.y)?,
            windows: self.windows(problem)?,
        })
    }

    /// The functions for tensors.
    pub(super) fn tensors(&self) -> TensorFunctions {
        TensorFunctions {
            create: ("miopenCreateTensorDescriptor", self.tensor_create),
            set: ("miopenSetTensorDescriptor", self.tensor_set),
            destroy: self.tensor_destroy,
        }
    }

    fn windows(&self, problem: &ConvolutionProblem) -> Result<DnnDescriptor, LibraryError> {
        let window = WindowLengths::new(problem)?;
        let added = lengths(&problem.output_padding)?;
        let create = ("miopenCreateConvolutionDescriptor", self.windows_create);
        let windows = DnnDescriptor::new(self, create, self.windows_destroy)?;
        // SAFETY: the descriptor exists, and every array has `rank` numbers.
        let code = unsafe {
            (self.windows_set)(
                windows.pointer(),
                window.rank(),
                window.padding.as_ptr(),
                window.stride.as_ptr(),
                window.dilation.as_ptr(),
                Numbers::MODES[usize::from(problem.is_transposed())],
            )
        };
        self.check("miopenInitConvolutionNdDescriptor", code)?;
        // SAFETY: the descriptor exists.
        let code = unsafe { (self.set_groups)(windows.pointer(), window.groups) };
        self.check("miopenSetConvolutionGroupCount", code)?;
        // SAFETY: the descriptor exists, and the array has `rank` numbers.
        let code =
            unsafe { (self.set_output_padding)(windows.pointer(), window.rank(), added.as_ptr()) };
        self.check("miopenSetTransposeConvNdOutputPadding", code)?;
        Ok(windows)
    }
}
