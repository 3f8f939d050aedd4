//! Operators in an engine, in the place of the native executor, and the algorithms of an engine that is a library.

use super::{
    attached::{AttachedEngine, dtype},
    scope::last_attached,
};
use std::sync::Arc;
use testgen_calls::{Call, CallError, Computed, Execute};
use testgen_engine::{AlgorithmsReply, EngineError};
use testgen_types::Precision;

/// Operators that an engine computes.
struct EngineOperators {
    engine: Arc<AttachedEngine>,
    precision: Precision,
}

/// The operators of an engine, with products in `precision`.
pub(crate) fn operators(engine: &Arc<AttachedEngine>, precision: Precision) -> Box<dyn Execute + Send + Sync> {
    Box::new(EngineOperators { engine: Arc::clone(engine), precision })
}

/// The results of every algorithm that the engine of this check offers for its own list of products; none for an engine without
/// such a list. On a simulated device, which computes on the host, a part of the list.
pub(crate) fn algorithms(precision: Precision) -> Result<Option<AlgorithmsReply>, String> {
    let Some(engine) = last_attached() else { return Ok(None) };
    engine.engine().algorithms(dtype(precision), engine.is_simulated()).map_err(|error| error.to_string())
}

impl Execute for EngineOperators {
    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        let computed = self.engine.engine().operator(call, dtype(self.precision));
        match computed {
            Ok((tensor, device)) => Ok(Computed { tensor, device: AttachedEngine::kind_of(device) }),
            Err(EngineError::Unsupported { message }) => {
                Err(CallError::Unsupported { operator: call.operator, message })
            }
            Err(error) => Err(CallError::NotComputed { operator: call.operator, message: error.to_string() }),
        }
    }
}
