//! Errors of calls that a library does not compute.

use crate::library_error::LibraryError;
use testgen_operators::calls::{Call, CallError};

pub(super) fn not_computed(call: &Call, message: String) -> CallError {
    CallError::NotComputed {
        operator: call.operator,
        message,
    }
}

pub(super) fn device_error(call: &Call, error: &LibraryError) -> CallError {
    CallError::Device {
        operator: call.operator,
        message: error.to_string(),
    }
}

/// The error of a library that may lack the operator: for these types, or with these arguments.
pub(super) fn library_error(call: &Call, error: LibraryError) -> CallError {
    match error {
        LibraryError::Unsupported { reason } => CallError::Unsupported {
            operator: call.operator,
            message: reason,
        },
        error => device_error(call, &error),
    }
}
