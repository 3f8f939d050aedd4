//! An engine that has answered the first call, and has not opened a device.

use crate::{
    call::{DeviceRequest, EngineCall, VERSION},
    command::EngineCommand,
    engine::Engine,
    engine_name::EngineName,
    error::EngineError,
    process::EngineProcess,
    reply::{DevicesReply, HelloReply, ListedDevice, OpenReply},
    tensors::Tensors,
};
use std::time::Duration;

/// A running engine without a device: it has imported its libraries, which takes seconds, and uses
/// no memory of a GPU.
#[derive(Debug)]
pub struct StartedEngine {
    process: EngineProcess,
    name: EngineName,
    hello: HelloReply,
}

impl StartedEngine {
    /// Starts the engine `name`. Every call may take `limit`.
    ///
    /// # Errors
    ///
    /// When it does not start, speaks another version of the protocol, or does not have the options
    /// of the name.
    pub fn start(
        command: EngineCommand,
        name: &EngineName,
        limit: Duration,
    ) -> Result<Self, EngineError> {
        let process = EngineProcess::start(command, limit)?;
        let call = EngineCall::Hello {
            version: VERSION,
            options: name.options().to_vec(),
        };
        let (hello, _): (HelloReply, _) = process.call(call, &Tensors::new())?;
        // Compared before anything else is asked, because another version may read the calls
        // differently.
        if hello.version != VERSION {
            let version = hello.version;
            let problem = format!(
                "it speaks version {version} of the protocol, this testgen version {VERSION}"
            );
            return Err(EngineError::Invalid {
                call: "hello",
                problem,
                output: String::new(),
            });
        }
        Ok(Self {
            process,
            name: name.clone(),
            hello,
        })
    }

    /// The GPUs that it could open.
    ///
    /// # Errors
    ///
    /// When it does not have the call.
    pub fn devices(&self) -> Result<Vec<ListedDevice>, EngineError> {
        let (DevicesReply { devices }, _) =
            self.process.call(EngineCall::Devices, &Tensors::new())?;
        Ok(devices)
    }

    /// Opens `device`, which it keeps until it ends.
    ///
    /// # Errors
    ///
    /// When it does not answer, or opens a kind of device that its libraries were not built for.
    pub fn open(self, device: DeviceRequest) -> Result<Engine, EngineError> {
        let (opened, _): (OpenReply, _) = self
            .process
            .call(EngineCall::Open { device }, &Tensors::new())?;
        Engine::opened(self.process, self.name, self.hello, opened)
    }
}
