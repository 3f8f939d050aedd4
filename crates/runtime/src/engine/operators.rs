//! Operators in an engine, in the place of the native executor.

use super::{attached::AttachedEngine, timed::timed};
use std::sync::Arc;
use testgen_engine::EngineError;
use testgen_operators::calls::{
    Call, CallError, Computed, Execute, PeriodicCall, PeriodicResult, Piece,
};
use testgen_types::{Operator, Precision, Repetitions};

/// Operators that an engine computes.
struct EngineOperators {
    engine: Arc<AttachedEngine>,
    precision: Precision,
}

/// The operators of an engine, with products in `precision`.
pub(crate) fn operators(
    engine: &Arc<AttachedEngine>,
    precision: Precision,
) -> Box<dyn Execute + Send + Sync> {
    Box::new(EngineOperators {
        engine: Arc::clone(engine),
        precision,
    })
}

impl Execute for EngineOperators {
    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        let computed = self.engine.engine().operator(call, self.precision);
        let (tensor, device) = computed.map_err(|error| failed(call.operator, error))?;
        Ok(Computed {
            tensor,
            device: AttachedEngine::kind_of(device),
        })
    }

    fn execute_periodic(
        &self,
        call: &PeriodicCall,
        read: &mut dyn FnMut(Piece<'_>),
    ) -> Result<PeriodicResult, CallError> {
        let engine = self.engine.engine();
        let computed = engine.repeated_operator(call, self.precision, read);
        let result = computed.map_err(|error| failed(call.call.operator, error))?;
        Ok(PeriodicResult {
            shape: result.shape,
            element: result.element,
            device: AttachedEngine::kind_of(result.device),
        })
    }

    fn time(&self, call: &Call, repetitions: Repetitions) -> Result<Vec<f64>, CallError> {
        let engine = self.engine.engine();
        timed(repetitions, |repetitions| {
            engine.time_operator(call, self.precision, repetitions)
        })
        .map_err(|error| failed(call.operator, error))
    }
}

fn failed(operator: Operator, error: EngineError) -> CallError {
    match error {
        EngineError::Unsupported { message } => CallError::Unsupported { operator, message },
        // Any other error is a failure of the check: an operator that fails is not one that is
        // missing.
        error => CallError::NotComputed {
            operator,
            message: error.to_string(),
        },
    }
}
