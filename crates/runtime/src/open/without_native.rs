//! A build without the native engine, which opens no device.

use super::{error::OpenError, open_device::OpenDevice};
use testgen_device::Device;

/// An error: the native engine is not in this build.
///
/// # Errors
///
/// Always; a suite for engines in other processes is built so.
pub fn open(device: Device) -> Result<OpenDevice, OpenError> {
    Err(OpenError::not_built(&device, "native"))
}

/// As [`open`].
pub(super) fn open_with_library(device: Device) -> Result<(OpenDevice, String), OpenError> {
    open(device).map(|opened| (opened, String::new()))
}

/// Has no opened device to prepare.
pub(crate) fn recover() {}
