//! Softmax, activations, pools, reductions and norms of operators, with the first algorithm of the
//! library.

use super::call_error::{library_error, not_computed};
use crate::{
    gpu::LibraryGpu, library_error::LibraryError, primitive::PrimitiveProblem,
    primitive_library::PrimitiveLibrary, primitives::PrimitiveCase,
};
use testgen_operators::calls::{Call, CallError, HostTensor};

/// Computes operators on one tensor, which is copied to dense memory.
pub(super) struct PrimitiveExecutor<'a> {
    pub(super) gpu: &'a dyn LibraryGpu,
    pub(super) library: &'a dyn PrimitiveLibrary,
}

impl PrimitiveExecutor<'_> {
    pub(super) fn execute(&self, call: &Call) -> Result<HostTensor, CallError> {
        let problem = PrimitiveProblem::of_call(call)?;
        // The libraries reject lengths of zero. A problem has no such input and a result.
        let values = if problem.is_empty() {
            Vec::new()
        } else {
            self.compute(call, &problem)?
        };
        Ok(HostTensor::new(problem.shape, problem.element, values))
    }

    fn compute(&self, call: &Call, problem: &PrimitiveProblem) -> Result<Vec<f64>, CallError> {
        let failed = |error: LibraryError| library_error(call, error);
        let algorithms = self.library.primitive_algorithms(problem).map_err(failed)?;
        let algorithm = algorithms
            .first()
            .ok_or_else(|| not_computed(call, "the library lacks its function".to_owned()))?;
        let result = PrimitiveCase::new(self.gpu, self.library, problem, call)
            .and_then(|case| case.compute(algorithm))
            .map_err(|error| failed(error.into()))?;
        result.values().map_err(failed)
    }
}
