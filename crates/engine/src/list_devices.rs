//! The GPUs that an engine could open, before it opens one.

use crate::{
    call::Call,
    command::EngineCommand,
    engine_name::EngineName,
    error::EngineError,
    greeting::greet,
    reply::{DevicesReply, ListedDevice},
    tensors::Tensors,
};
use std::time::Duration;

/// The GPUs that the engine `name` reports. Starts `command` for this question alone, which takes seconds.
///
/// # Errors
///
/// When it does not start, or does not have the call.
pub fn list_devices(
    command: EngineCommand,
    name: &EngineName,
    limit: Duration,
) -> Result<Vec<ListedDevice>, EngineError> {
    let greeted = greet(command, name, limit)?;
    let (DevicesReply { devices }, _) = greeted.process.call(Call::Devices, &Tensors::new())?;
    Ok(devices)
}
