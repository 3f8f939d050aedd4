//! The first call to an engine, which both sides need before any other.

use crate::{
    call::{Call, VERSION},
    command::EngineCommand,
    engine_name::EngineName,
    error::EngineError,
    process::EngineProcess,
    reply::HelloReply,
    tensors::Tensors,
};
use std::time::Duration;

/// A running engine without a device.
pub(crate) struct Greeted {
    pub(crate) process: EngineProcess,
    pub(crate) hello: HelloReply,
}

/// Starts an engine, and refuses another version of the protocol.
pub(crate) fn greet(command: EngineCommand, name: &EngineName, limit: Duration) -> Result<Greeted, EngineError> {
    let process = EngineProcess::start(command, limit)?;
    let call = Call::Hello { version: VERSION, options: name.options().to_vec() };
    let (hello, _): (HelloReply, _) = process.call(call, &Tensors::new())?;
    if hello.version != VERSION {
        let version = hello.version;
        let problem = format!("it speaks version {version} of the protocol, this testgen version {VERSION}");
        return Err(EngineError::Invalid { call: "hello", problem, output: String::new() });
    }
    Ok(Greeted { process, hello })
}
