//! The interface of what computes calls.

use crate::calls::{
    call::Call,
    periodic::{PeriodicCall, PeriodicResult, Piece},
    tensor::HostTensor,
};
use testgen_types::{DeviceKind, Operator, Repetitions};

/// Computes calls: a device, or in tests an emulation with a fault.
pub trait Execute {
    /// Computes one call.
    ///
    /// # Errors
    ///
    /// When the operator is not implemented for these inputs, or the device failed.
    fn execute(&self, call: &Call) -> Result<Computed, CallError>;

    /// Computes one call on repeated inputs; `read` receives the pieces of the result in the order
    /// of their elements.
    ///
    /// # Errors
    ///
    /// As [`Execute::execute`], and where only whole tensors can be computed.
    fn execute_periodic(
        &self,
        call: &PeriodicCall,
        _read: &mut dyn FnMut(Piece<'_>),
    ) -> Result<PeriodicResult, CallError> {
        let message =
            "inputs are not repeated on the device by what computes calls here".to_owned();
        Err(CallError::Unsupported {
            operator: call.call.operator,
            message,
        })
    }

    /// The milliseconds of a call that is repeated: from inputs to the result on the device, which
    /// is idle before and after each.
    ///
    /// # Errors
    ///
    /// As [`Execute::execute`], and where calls cannot be timed.
    fn time(&self, call: &Call, _repetitions: Repetitions) -> Result<Vec<f64>, CallError> {
        Err(CallError::Unsupported {
            operator: call.operator,
            message: "it does not time calls".to_owned(),
        })
    }
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed {
    /// The elements.
    pub tensor: HostTensor,
    /// The kind of device that the tensor was on.
    pub device: DeviceKind,
}

/// A call was not computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The device failed; the backend's message.
    #[error("`{operator}` failed on the device: {message}")]
    Device {
        /// The operator.
        operator: Operator,
        /// The backend's message.
        message: String,
    },
    /// The inputs are not what the operator takes.
    #[error("`{operator}` takes other inputs: {problem}")]
    Inputs {
        /// The operator.
        operator: Operator,
        /// The difference.
        problem: String,
    },
    /// The operator is available, but not for this type or layout, or not on repeated inputs.
    #[error("`{operator}` is not supported: {message}")]
    Unsupported {
        /// The operator.
        operator: Operator,
        /// The reason.
        message: String,
    },
    /// Something other than a result was returned.
    #[error("`{operator}` was not computed: {message}")]
    NotComputed {
        /// The operator.
        operator: Operator,
        /// The error of the device, or the description of another result.
        message: String,
    },
}
