//! An engine with an open device: the calls of models with their types.

mod operators;
mod repeated;
mod times;

pub use repeated::RepeatedResult;

use crate::{
    call::{Computation, DeviceClass, EngineCall, Implementation},
    engine_name::EngineName,
    error::EngineError,
    library_tuning::LibraryTuning,
    process::EngineProcess,
    reply::{
        Build, ForwardReply, HelloReply, LoadReply, MemoryReply, OpenReply, OpenedDevice,
        SessionReply, TensorPlacement,
    },
    tensors::Tensors,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use testgen_types::{Operator, Precision, ProviderShare};

/// A running engine with an open device.
#[derive(Debug)]
pub struct Engine {
    process: EngineProcess,
    name: EngineName,
    hello: HelloReply,
    opened: OpenReply,
}

/// The arguments of `load`.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadRequest {
    /// The directory of the checkpoint.
    pub directory: String,
    /// Replaces the content of `config.json`.
    pub config: Option<Value>,
    /// The `model_type` of the checkpoint.
    pub model_type: String,
    /// The class to compute.
    pub class: String,
    /// The type to compute in.
    pub dtype: Precision,
    /// Replaces the column's own implementation.
    pub implementation: Option<Implementation>,
}

/// The outputs of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineForward {
    /// `output.*`, `trace.*` and `host.*`.
    pub tensors: Tensors,
    /// Where each output and trace was computed, in the order of the computation.
    pub placements: Vec<TensorPlacement>,
    /// The execution providers of a graph, if the engine has such.
    pub providers: Vec<ProviderShare>,
}

/// A reply without content.
#[derive(Deserialize)]
// With braces: serde reads a unit struct from null, and the protocol's empty reply is `{}`.
struct Done {}

impl Engine {
    /// The engine after its reply to `open`, which must be a device that its build has.
    pub(crate) fn opened(
        process: EngineProcess,
        name: EngineName,
        hello: HelloReply,
        opened: OpenReply,
    ) -> Result<Self, EngineError> {
        // The build and the device are two reports of one engine: if they disagree, neither can be
        // believed.
        match contradiction(hello.build, opened.device.kind) {
            None => Ok(Self {
                process,
                name,
                hello,
                opened,
            }),
            Some(problem) => Err(EngineError::Invalid {
                call: "open",
                problem,
                output: String::new(),
            }),
        }
    }

    /// The name with its options.
    pub fn name(&self) -> &EngineName {
        &self.name
    }

    /// The device that the engine reports.
    pub fn device(&self) -> &OpenedDevice {
        &self.opened.device
    }

    /// Why it is not the requested device.
    pub fn why_another_device(&self) -> Option<&str> {
        self.opened.why.as_deref()
    }

    /// The kind of GPU that its libraries were built for.
    pub fn build(&self) -> Build {
        self.hello.build
    }

    /// The names of its implementations of a computation; empty if it has one only.
    pub fn implementations(&self, of: Computation) -> &[String] {
        self.hello
            .implementations
            .get(&of)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Whether it computes an operator; one of models computes none.
    pub fn computes(&self, operator: Operator) -> bool {
        self.hello
            .operators
            .iter()
            .any(|name| name == operator.as_str())
    }

    /// Whether it computes nothing but operators.
    pub fn only_operators(&self) -> bool {
        self.hello.only_operators
    }

    /// The versions of its libraries and how they are tuned, for instance
    /// `torch 2.15.0, transformers 5.23.0, MIOPEN_FIND_MODE=FAST (HIP build)`.
    pub fn describe_versions(&self) -> String {
        let versions = self
            .hello
            .versions
            .iter()
            .map(|(name, version)| format!("{name} {version}"));
        // Tuning belongs to the versions: with another one, the same libraries compute with other
        // kernels.
        let libraries = LibraryTuning::of_engine(self.name.program(), self.opened.device.kind);
        let tuning = libraries.iter().flat_map(|libraries| libraries.state());
        let build = match self.hello.build {
            Build::Cpu => "CPU",
            Build::Cuda => "CUDA",
            Build::Hip => "HIP",
        };
        format!(
            "{} ({build} build)",
            versions.chain(tuning).collect::<Vec<_>>().join(", ")
        )
    }

    /// The process, for its id and whether it runs.
    pub fn process(&self) -> &EngineProcess {
        &self.process
    }

    /// Loads a checkpoint.
    ///
    /// # Errors
    ///
    /// See [`EngineProcess::call`].
    pub fn load(&self, request: LoadRequest) -> Result<LoadReply, EngineError> {
        let LoadRequest {
            directory,
            config,
            model_type,
            class,
            dtype,
            implementation,
        } = request;
        let load = EngineCall::Load {
            directory,
            config,
            model_type,
            class,
            dtype,
            implementation,
        };
        Ok(self.call(load, &Tensors::new())?.0)
    }

    /// Computes every output, with the hidden states if `traced`.
    ///
    /// # Errors
    ///
    /// See [`EngineProcess::call`].
    pub fn forward(
        &self,
        model: u64,
        inputs: &Tensors,
        traced: bool,
    ) -> Result<EngineForward, EngineError> {
        let (
            ForwardReply {
                placements,
                providers,
            },
            tensors,
        ) = self.call(EngineCall::Forward { model, traced }, inputs)?;
        Ok(EngineForward {
            tensors,
            placements,
            providers,
        })
    }

    /// Starts a sequence with a cache.
    ///
    /// # Errors
    ///
    /// See [`EngineProcess::call`].
    pub fn open_session(&self, model: u64) -> Result<u64, EngineError> {
        let (SessionReply { session }, _) =
            self.call(EngineCall::OpenSession { model }, &Tensors::new())?;
        Ok(session)
    }

    /// Reads more tokens.
    ///
    /// # Errors
    ///
    /// See [`EngineProcess::call`].
    pub fn step(&self, session: u64, inputs: &Tensors) -> Result<EngineForward, EngineError> {
        let (
            ForwardReply {
                placements,
                providers,
            },
            tensors,
        ) = self.call(EngineCall::Step { session }, inputs)?;
        Ok(EngineForward {
            tensors,
            placements,
            providers,
        })
    }

    /// Bytes that tensors use on the device, and the most since the last load, as the engine counts
    /// them.
    ///
    /// # Errors
    ///
    /// See [`EngineProcess::call`].
    pub fn memory(&self) -> Result<MemoryReply, EngineError> {
        Ok(self.call(EngineCall::Memory, &Tensors::new())?.0)
    }

    /// Forgets the tokens of a sequence.
    ///
    /// # Errors
    ///
    /// See [`EngineProcess::call`].
    pub fn reset_session(&self, session: u64) -> Result<(), EngineError> {
        self.call::<Done>(EngineCall::ResetSession { session }, &Tensors::new())
            .map(drop)
    }

    /// Ends a sequence.
    ///
    /// # Errors
    ///
    /// See [`EngineProcess::call`].
    pub fn close_session(&self, session: u64) -> Result<(), EngineError> {
        self.call::<Done>(EngineCall::CloseSession { session }, &Tensors::new())
            .map(drop)
    }

    /// Drops a model.
    ///
    /// # Errors
    ///
    /// See [`EngineProcess::call`].
    pub fn unload(&self, model: u64) -> Result<(), EngineError> {
        self.call::<Done>(EngineCall::Unload { model }, &Tensors::new())
            .map(drop)
    }

    fn call<Reply: DeserializeOwned>(
        &self,
        call: EngineCall,
        tensors: &Tensors,
    ) -> Result<(Reply, Tensors), EngineError> {
        self.process.call(call, tensors)
    }
}

/// Why a build cannot have opened a device of this kind.
fn contradiction(build: Build, kind: DeviceClass) -> Option<String> {
    match (build, kind) {
        // Every build can fall back to the CPU, which testgen marks.
        (_, DeviceClass::Cpu)
        | (Build::Cuda, DeviceClass::Cuda)
        | (Build::Hip, DeviceClass::Rocm) => None,
        (Build::Cpu, DeviceClass::Cuda | DeviceClass::Rocm) => {
            Some("a build without GPUs cannot have opened a GPU".to_owned())
        }
        (Build::Hip, DeviceClass::Cuda) => {
            Some("a HIP build cannot have opened a CUDA device".to_owned())
        }
        (Build::Cuda, DeviceClass::Rocm) => {
            Some("a CUDA build cannot have opened a ROCm device".to_owned())
        }
    }
}
