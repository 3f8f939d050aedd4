//! The return values of HIP functions (`hipError_t`) that the simulator uses.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a call failed. `hip_runtime_api.h` defines the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum HipError {
    /// `hipErrorInvalidValue`: an argument is out of range.
    InvalidValue = 1,
    /// `hipErrorOutOfMemory`.
    OutOfMemory = 2,
    /// `hipErrorNotInitialized`: the simulator's configuration cannot be used.
    NotInitialized = 3,
    /// `hipErrorNoDevice`.
    NoDevice = 100,
    /// `hipErrorInvalidDevice`: no device has this ordinal.
    InvalidDevice = 101,
    /// `hipErrorInvalidImage`: a code object does not load.
    InvalidImage = 200,
    /// `hipErrorNoBinaryForGpu`: a code object is not the simulator's.
    NoBinaryForGpu = 209,
    /// `hipErrorNotFound`: a module has no such kernel.
    NotFound = 500,
    /// `hipErrorLaunchFailure`.
    LaunchFailure = 719,
    /// `hipErrorUnknown`: an injected fault, or a panic in the simulator.
    Unknown = 999,
}

/// Runs `body` and returns its C status. A panic must not cross the C boundary, where it would
/// abort the process.
pub fn guarded(body: impl FnOnce() -> Result<(), HipError>) -> u32 {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(status)) => status as u32,
        Err(_) => HipError::Unknown as u32,
    }
}
