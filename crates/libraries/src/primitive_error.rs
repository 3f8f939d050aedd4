//! Errors of calls that are not a problem of cuDNN or MIOpen.

use testgen_operators::calls::{Call, CallError};

/// The inputs of the call are not those of its operator.
pub(crate) fn inputs(call: &Call, problem: &str) -> CallError {
    CallError::Inputs {
        operator: call.operator,
        problem: problem.to_owned(),
    }
}

/// The library does not compute the call.
pub(crate) fn unsupported(call: &Call, message: &str) -> CallError {
    CallError::Unsupported {
        operator: call.operator,
        message: message.to_owned(),
    }
}
