//! One convolution in the memory of a device.

use super::opened::OpenedConvolutions;
use crate::{
    convolution_library::{ConvolutionAlgorithm, ConvolutionBuffers},
    convolution_problem::ConvolutionProblem,
    evaluation::AlgorithmResult,
    gpu::GpuError,
    guarded::{Guarded, GuardedWorkspace},
    library_error::LibraryError,
    number_type::NumberType,
};

/// A convolution whose tensors are in the memory of a device.
pub(crate) struct ConvolutionCase<'a> {
    opened: OpenedConvolutions<'a>,
    problem: &'a ConvolutionProblem,
    x: Guarded<'a>,
    weight: Guarded<'a>,
    y: Guarded<'a>,
}

impl<'a> ConvolutionCase<'a> {
    /// Copies the input and the weight to the device. The result and all guards are NaN.
    pub(crate) fn new(
        opened: OpenedConvolutions<'a>,
        problem: &'a ConvolutionProblem,
        [x, weight]: [&[f64]; 2],
    ) -> Result<Self, GpuError> {
        let number = NumberType::of_element(problem.element);
        let buffer = |shape: &[usize]| Guarded::tensor(opened.gpu, number, shape.iter().product());
        let mut case = Self {
            opened,
            problem,
            x: buffer(&problem.x)?,
            weight: buffer(&problem.weight)?,
            y: buffer(&problem.y)?,
        };
        // With channels last, memory has another order than `values`.
        let in_memory = |shape: &[usize], values: &[f64]| {
            let mut placed = vec![0.0; values.len()];
            for (flat, value) in values.iter().enumerate() {
                placed[problem.place(shape, flat)] = *value;
            }
            placed
        };
        let (x, weight) = (in_memory(&problem.x, x), in_memory(&problem.weight, weight));
        case.x.write(|_, place, _| x[place])?;
        case.weight.write(|_, place, _| weight[place])?;
        Ok(case)
    }

    /// Memory for the workspace of an algorithm.
    pub(crate) fn workspace(
        &self,
        algorithm: &ConvolutionAlgorithm,
    ) -> Result<GuardedWorkspace<'a>, GpuError> {
        GuardedWorkspace::new(self.opened.gpu, algorithm.workspace)
    }

    /// Starts the convolution.
    pub(crate) fn start(
        &self,
        algorithm: &ConvolutionAlgorithm,
        workspace: &GuardedWorkspace<'_>,
    ) -> Result<(), LibraryError> {
        let buffers = ConvolutionBuffers {
            x: self.x.address(),
            weight: self.weight.address(),
            y: self.y.address(),
            workspace: workspace.address(),
        };
        self.opened.library.run(self.problem, algorithm, buffers)
    }

    /// Computes the convolution with an algorithm. An error is one of the device.
    pub(crate) fn compute(
        &self,
        algorithm: &ConvolutionAlgorithm,
    ) -> Result<AlgorithmResult, GpuError> {
        // NaN again: an element of the last algorithm must not count for this one.
        self.y.restore()?;
        let workspace = match self.workspace(algorithm) {
            Err(error) if error.is_out_of_memory() => {
                let reason = "not enough memory is free for the workspace".to_owned();
                return Ok(AlgorithmResult::Refused(LibraryError::Unsupported {
                    reason,
                }));
            }
            workspace => workspace?,
        };
        match self.start(algorithm, &workspace) {
            Ok(()) => {}
            Err(LibraryError::Gpu(error)) => return Err(error),
            Err(error) => return Ok(AlgorithmResult::Refused(error)),
        }
        self.opened.gpu.synchronise()?;
        let (placed, outside) = self.y.read()?;
        let values = (0..placed.len())
            .map(|flat| placed[self.problem.place(&self.problem.y, flat)])
            .collect();
        let overwritten = outside.or(workspace.overwritten()?);
        Ok(AlgorithmResult::Computed {
            values,
            overwritten,
        })
    }

    /// A problem for each factor whose memory, or the memory around it, has changed.
    pub(crate) fn changed_factors(&self) -> Result<Vec<String>, GpuError> {
        let mut problems = Vec::new();
        for (name, buffer) in [("input", &self.x), ("weight", &self.weight)] {
            if buffer.is_changed()? {
                problems.push(format!(
                    "the convolution has changed the memory of its {name}, or around it"
                ));
            }
        }
        Ok(problems)
    }
}
