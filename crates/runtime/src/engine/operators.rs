//! Operators in an engine, in the place of the native executor.

use super::attached::AttachedEngine;
use std::sync::Arc;
use testgen_engine::EngineError;
use testgen_operators::calls::{Call, CallError, Computed, Execute};
use testgen_types::Precision;

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
        match computed {
            Ok((tensor, device)) => Ok(Computed {
                tensor,
                device: AttachedEngine::kind_of(device),
            }),
            Err(EngineError::Unsupported { message }) => Err(CallError::Unsupported {
                operator: call.operator,
                message,
            }),
            Err(error) => Err(CallError::NotComputed {
                operator: call.operator,
                message: error.to_string(),
            }),
        }
    }
}
