//! One operator on one tensor, with its parameters, in the memory of a device.

use crate::{
    evaluation::AlgorithmResult,
    gpu::{DeviceAddress, GpuError, LibraryGpu},
    guarded::{Guarded, GuardedWorkspace},
    library_error::LibraryError,
    number_type::NumberType,
    primitive::{PrimitiveKind, PrimitiveProblem},
    primitive_library::{PrimitiveAlgorithm, PrimitiveBuffers, PrimitiveLibrary},
};
use std::iter::once;
use testgen_operators::calls::{Call, Element};

/// An operator whose tensors are in the memory of a device.
pub(crate) struct PrimitiveCase<'a> {
    gpu: &'a dyn LibraryGpu,
    library: &'a dyn PrimitiveLibrary,
    problem: &'a PrimitiveProblem,
    x: Guarded<'a>,
    parameters: Vec<Guarded<'a>>,
    y: Guarded<'a>,
}

impl<'a> PrimitiveCase<'a> {
    /// Copies the inputs of `call` to the device. The result and all guards are NaN.
    pub(crate) fn new(
        gpu: &'a dyn LibraryGpu,
        library: &'a dyn PrimitiveLibrary,
        problem: &'a PrimitiveProblem,
        call: &Call,
    ) -> Result<Self, GpuError> {
        let buffer = |element: Element, elements: usize| {
            Guarded::tensor(gpu, NumberType::of_element(element), elements)
        };
        let input = |element: Element, index: usize| -> Result<Guarded<'a>, GpuError> {
            let values = &call.inputs[index].tensor.values;
            let mut tensor = buffer(element, values.len())?;
            tensor.write(|_, place, _| values[place])?;
            Ok(tensor)
        };
        let parameter = |index: usize| input(problem.parameter_element(), 1 + index);
        Ok(Self {
            gpu,
            library,
            problem,
            x: input(problem.element, 0)?,
            parameters: (0..problem.parameters.len())
                .map(parameter)
                .collect::<Result<_, _>>()?,
            y: buffer(problem.element, problem.y.iter().product())?,
        })
    }

    /// Computes the operator with an algorithm. An error is one of the device.
    pub(crate) fn compute(
        &self,
        algorithm: &PrimitiveAlgorithm,
    ) -> Result<AlgorithmResult, GpuError> {
        Ok(self.compute_with_statistics(algorithm)?.0)
    }

    /// As [`Self::compute`], with the numbers of f32 that a norm has written to the workspace.
    pub(super) fn compute_with_statistics(
        &self,
        algorithm: &PrimitiveAlgorithm,
    ) -> Result<(AlgorithmResult, Vec<f64>), GpuError> {
        self.y.restore()?;
        let workspace = GuardedWorkspace::new(self.gpu, algorithm.workspace)?;
        let parameters: Vec<DeviceAddress> = self.parameters.iter().map(Guarded::address).collect();
        let buffers = PrimitiveBuffers {
            x: self.x.address(),
            parameters: &parameters,
            y: self.y.address(),
            workspace: workspace.address(),
        };
        match self.library.run_primitive(self.problem, algorithm, buffers) {
            Ok(()) => {}
            Err(LibraryError::Gpu(error)) => return Err(error),
            Err(error) => return Ok((AlgorithmResult::Refused(error), Vec::new())),
        }
        self.gpu.synchronise()?;
        let (values, outside) = self.y.read()?;
        let overwritten = outside.or(workspace.overwritten()?);
        let statistics = self.statistics(algorithm, &workspace)?;
        let result = AlgorithmResult::Computed {
            values,
            overwritten,
        };
        Ok((result, statistics))
    }

    /// The workspace of a norm, which has nothing but its statistics.
    fn statistics(
        &self,
        algorithm: &PrimitiveAlgorithm,
        workspace: &GuardedWorkspace<'_>,
    ) -> Result<Vec<f64>, GpuError> {
        let number = NumberType::F32;
        match self.problem.kind {
            PrimitiveKind::Norm(_) => workspace.read(number, algorithm.workspace / number.bytes()),
            // The workspace of another operator has intermediate results, which no document
            // defines.
            _ => Ok(Vec::new()),
        }
    }

    /// Whether the memory of an input, or the memory around it, has changed.
    pub(crate) fn is_input_changed(&self) -> Result<bool, GpuError> {
        for input in once(&self.x).chain(&self.parameters) {
            if input.is_changed()? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
