//! One operator on one tensor in the memory of a device.

use crate::{
    evaluation::AlgorithmResult,
    gpu::{GpuError, LibraryGpu},
    guarded::{Guarded, GuardedWorkspace},
    library_error::LibraryError,
    number_type::NumberType,
    primitive::PrimitiveProblem,
    primitive_library::{PrimitiveAlgorithm, PrimitiveBuffers, PrimitiveLibrary},
};

/// An operator whose tensors are in the memory of a device.
pub(crate) struct PrimitiveCase<'a> {
    gpu: &'a dyn LibraryGpu,
    library: &'a dyn PrimitiveLibrary,
    problem: &'a PrimitiveProblem,
    x: Guarded<'a>,
    y: Guarded<'a>,
}

impl<'a> PrimitiveCase<'a> {
    /// Copies the input to the device. The result and all guards are NaN.
    pub(crate) fn new(
        gpu: &'a dyn LibraryGpu,
        library: &'a dyn PrimitiveLibrary,
        problem: &'a PrimitiveProblem,
        values: &[f64],
    ) -> Result<Self, GpuError> {
        let number = NumberType::of_element(problem.element);
        let buffer = |lengths: &[usize]| Guarded::tensor(gpu, number, lengths.iter().product());
        let mut case = Self {
            gpu,
            library,
            problem,
            x: buffer(&problem.x)?,
            y: buffer(&problem.y)?,
        };
        case.x.write(|_, place, _| values[place])?;
        Ok(case)
    }

    /// Computes the operator with an algorithm. An error is one of the device.
    pub(crate) fn compute(
        &self,
        algorithm: &PrimitiveAlgorithm,
    ) -> Result<AlgorithmResult, GpuError> {
        self.y.restore()?;
        let workspace = GuardedWorkspace::new(self.gpu, algorithm.workspace)?;
        let buffers = PrimitiveBuffers {
            x: self.x.address(),
            y: self.y.address(),
            workspace: workspace.address(),
        };
        match self.library.run_primitive(self.problem, algorithm, buffers) {
            Ok(()) => {}
            Err(LibraryError::Gpu(error)) => return Err(error),
            Err(error) => return Ok(AlgorithmResult::Refused(error)),
        }
        self.gpu.synchronise()?;
        let (values, outside) = self.y.read()?;
        let overwritten = outside.or(workspace.overwritten()?);
        Ok(AlgorithmResult::Computed {
            values,
            overwritten,
        })
    }

    /// Whether the memory of the input, or the memory around it, has changed.
    pub(crate) fn is_input_changed(&self) -> Result<bool, GpuError> {
        self.x.is_changed()
    }
}
