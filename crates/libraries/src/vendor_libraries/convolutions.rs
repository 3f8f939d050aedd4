//! Convolutions of models: the algorithm of each, as it was tuned or by a rule, and the workspace
//! that they share.

use super::{
    tunable_convolution::TunableConvolution,
    tuner::{Tunable as _, Tuner},
};
use crate::{
    convolution_library::{ConvolutionAlgorithm, ConvolutionBuffers, ConvolutionLibrary},
    convolution_problem::ConvolutionProblem,
    convolutions::OpenedConvolutions,
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
        tuner: Option<&Tuner>,
        problem: &ConvolutionProblem,
        buffers: ConvolutionBuffers,
    ) -> Result<(), LibraryError> {
        let algorithm = self.algorithm(gpu, tuner, problem)?;
        let workspace = self.workspace(gpu, algorithm.workspace)?;
        let buffers = ConvolutionBuffers {
            workspace,
            ..buffers
        };
        self.library.run(problem, &algorithm, buffers)
    }

    fn algorithm(
        &self,
        gpu: &dyn LibraryGpu,
        tuner: Option<&Tuner>,
        problem: &ConvolutionProblem,
    ) -> Result<ConvolutionAlgorithm, LibraryError> {
        if let Some(known) = self.chosen.borrow().get(problem) {
            return Ok(known.clone());
        }
        let library = &*self.library;
        let computation = TunableConvolution {
            opened: OpenedConvolutions { gpu, library },
            problem,
        };
        let tuned = tuner.map_or(Ok(None), |tuner| tuner.choose(&computation))?;
        let chosen = match tuned {
            None => computation.offered()?.into_iter().next(),
            tuned => tuned,
        };
        let chosen = chosen.ok_or_else(|| {
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
