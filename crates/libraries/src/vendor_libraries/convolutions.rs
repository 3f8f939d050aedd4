//! Convolutions of models: the algorithm of each by a rule, and the workspace that they share.

use crate::{
    convolution_library::{ConvolutionAlgorithm, ConvolutionBuffers, ConvolutionLibrary},
    convolution_problem::ConvolutionProblem,
    convolutions::MOST_WORKSPACE,
    gpu::{DeviceAddress, GpuError, LibraryGpu},
    library_error::LibraryError,
};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
};

/// The library of convolutions on a device.
pub(super) struct Convolutions {
    library: Box<dyn ConvolutionLibrary>,
    /// Asking the library takes longer than a small convolution.
    chosen: RefCell<HashMap<ConvolutionProblem, ConvolutionAlgorithm>>,
    /// Calls follow each other on one stream, so one workspace is enough.
    workspace: Cell<Workspace>,
}

/// Memory of the device, which a larger one replaces. The driver frees the last one with the process.
#[derive(Clone, Copy)]
struct Workspace {
    address: DeviceAddress,
    bytes: usize,
}

impl Convolutions {
    pub(super) fn new(library: Box<dyn ConvolutionLibrary>) -> Self {
        let workspace = Workspace {
            address: DeviceAddress(0),
            bytes: 0,
        };
        Self {
            library,
            chosen: RefCell::default(),
            workspace: Cell::new(workspace),
        }
    }

    pub(super) fn library(&self) -> &dyn ConvolutionLibrary {
        &*self.library
    }

    /// Starts a convolution on the device's default stream.
    pub(super) fn run(
        &self,
        gpu: &dyn LibraryGpu,
        problem: &ConvolutionProblem,
        buffers: ConvolutionBuffers,
    ) -> Result<(), LibraryError> {
        let algorithm = self.algorithm(problem)?;
        let workspace = self.workspace(gpu, algorithm.workspace)?;
        let buffers = ConvolutionBuffers {
            workspace,
            ..buffers
        };
        self.library.run(problem, &algorithm, buffers)
    }

    fn algorithm(
        &self,
        problem: &ConvolutionProblem,
    ) -> Result<ConvolutionAlgorithm, LibraryError> {
        if let Some(known) = self.chosen.borrow().get(problem) {
            return Ok(known.clone());
        }
        let offered = self.library.algorithms(problem)?;
        let chosen = by_rule(offered).ok_or_else(|| {
            let name = self.library.name();
            LibraryError::unsupported(&format!("{name} offers no algorithm for {problem}"))
        })?;
        let mut known = self.chosen.borrow_mut();
        Ok(known.entry(problem.clone()).or_insert(chosen).clone())
    }

    fn workspace(&self, gpu: &dyn LibraryGpu, bytes: usize) -> Result<DeviceAddress, GpuError> {
        let old = self.workspace.get();
        if bytes <= old.bytes {
            return Ok(old.address);
        }
        let larger = Workspace {
            address: gpu.allocate(bytes)?,
            bytes,
        };
        self.workspace.set(larger);
        if old.bytes > 0 {
            // An earlier convolution may still use it.
            gpu.synchronise()?;
            gpu.release(old.address, old.bytes)?;
        }
        Ok(larger.address)
    }
}

/// The first algorithm whose workspace is not too large; a deterministic one if the library names
/// any, because a suite requires the same bits in every run. Transforms (Winograd, FFT) are among
/// them, as in the programs that models are deployed with.
fn by_rule(mut offered: Vec<ConvolutionAlgorithm>) -> Option<ConvolutionAlgorithm> {
    offered.retain(|algorithm| algorithm.workspace <= MOST_WORKSPACE);
    let deterministic = offered.iter().position(|algorithm| algorithm.deterministic);
    (!offered.is_empty()).then(|| offered.swap_remove(deterministic.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::{ConvolutionAlgorithm, MOST_WORKSPACE, by_rule};

    fn algorithm(number: u64, deterministic: bool, workspace: usize) -> ConvolutionAlgorithm {
        ConvolutionAlgorithm {
            id: number.to_string(),
            configuration: String::new(),
            transforms: number == 0,
            deterministic,
            workspace,
            number,
            math: 0,
        }
    }

    #[test]
    fn the_first_deterministic_algorithm_that_fits_is_chosen() {
        let number = |offered: &[ConvolutionAlgorithm]| {
            by_rule(offered.to_vec()).map(|algorithm| algorithm.number)
        };
        let [large, winograd] = [MOST_WORKSPACE + 1, 0].map(|bytes| algorithm(0, true, bytes));
        let [atomic, other] = [1, 2].map(|number| algorithm(number, false, 8));
        assert_eq!(number(&[atomic.clone(), winograd]), Some(0));
        assert_eq!(number(&[large.clone(), atomic, other]), Some(1));
        assert_eq!(number(&[large]), None);
    }
}
