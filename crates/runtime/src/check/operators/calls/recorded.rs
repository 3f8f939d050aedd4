//! The calls that a relation makes, so that the wrong one among them can be kept.

use super::failed::{FailedCalls, Failing};
use std::cell::RefCell;
use testgen_operators::{
    calls::{Call, CallError, Computed, Execute},
    cases::{Arithmetic, evaluate, reference},
};

/// Computes calls with another executor, and records them.
pub(in crate::check::operators) struct RecordedCalls<'e> {
    executor: &'e dyn Execute,
    calls: RefCell<Vec<(Call, Result<Computed, CallError>)>>,
}

impl<'e> RecordedCalls<'e> {
    pub(in crate::check::operators) fn new(executor: &'e dyn Execute) -> Self {
        Self {
            executor,
            calls: RefCell::default(),
        }
    }

    /// Keeps the first call whose result is outside its bounds. Returns what to add to the message
    /// of the violated relation `case`.
    pub(in crate::check::operators) fn keep(
        &self,
        case: &str,
        arithmetic: Arithmetic,
        failed: &mut FailedCalls,
    ) -> String {
        for (call, result) in self.calls.borrow().iter() {
            // A relation compares bits, so that it may be violated although every result is within
            // its bounds. Such calls have nothing that a replay could compare with.
            let failure = match result {
                Ok(computed) => evaluate(&reference(call, arithmetic), &computed.tensor).failure,
                Err(error) => Some(error.to_string()),
            };
            if let Some(failure) = failure {
                let failing = Failing {
                    case: case.to_owned(),
                    call,
                    result: result.as_ref(),
                    failure: &failure,
                };
                return failed.keep(&failing, self.executor);
            }
        }
        String::new()
    }
}

impl Execute for RecordedCalls<'_> {
    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        let result = self.executor.execute(call);
        self.calls.borrow_mut().push((call.clone(), result.clone()));
        result
    }
}
