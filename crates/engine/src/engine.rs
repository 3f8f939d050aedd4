//! An engine with an open device: the calls with their types.

use crate::{
    call::{Computation, ComputeOperation, DeviceClass, EngineCall, Implementation},
    engine_name::EngineName,
    error::EngineError,
    operator_call,
    process::EngineProcess,
    reply::{
        AlgorithmsReply, Build, ForwardReply, HelloReply, LoadReply, MemoryReply, OpenReply,
        OpenedDevice, OperatorReply, SessionReply, TensorPlacement, TimeReply,
    },
    tensors::{Tensor, TensorData, Tensors},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use testgen_operators::calls::{Call as OperatorCall, HostTensor};
use testgen_types::{Operator, Precision, ProviderShare, Repetitions};

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
struct Done {}

impl Engine {
    /// The engine after its reply to `open`, which must be a device that its build has.
    pub(crate) fn opened(
        process: EngineProcess,
        name: EngineName,
        hello: HelloReply,
        opened: OpenReply,
    ) -> Result<Self, EngineError> {
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

    /// The versions of its libraries, for instance `torch 2.15.0, transformers 5.23.0 (HIP build)`.
    pub fn describe_versions(&self) -> String {
        let versions = self
            .hello
            .versions
            .iter()
            .map(|(name, version)| format!("{name} {version}"));
        let build = match self.hello.build {
            Build::Cpu => "CPU",
            Build::Cuda => "CUDA",
            Build::Hip => "HIP",
        };
        format!(
            "{} ({build} build)",
            versions.collect::<Vec<_>>().join(", ")
        )
    }

    /// The process, for its id and whether it runs.
    pub fn process(&self) -> &EngineProcess {
        &self.process
    }

    /// Computes one operation on the device.
    ///
    /// # Errors
    ///
    /// See [`EngineProcess::call`].
    pub fn compute(
        &self,
        operation: ComputeOperation,
        operands: Tensors,
        dtype: Precision,
        result: Precision,
    ) -> Result<Vec<f32>, EngineError> {
        let (_, mut tensors) = self.call::<Done>(
            EngineCall::Compute {
                operation,
                dtype,
                result,
            },
            &operands,
        )?;
        match tensors.remove("result") {
            Some(Tensor {
                data: TensorData::F32(values),
                ..
            }) => Ok(values),
            Some(_) | None => Err(EngineError::Failed {
                call: "compute",
                message: "the reply has no tensor `result` of f32".to_owned(),
            }),
        }
    }

    /// Computes one call of an operator; products of f32 in TF32 where `dtype` says so. Returns the
    /// result and the kind of its device.
    ///
    /// # Errors
    ///
    /// See [`EngineProcess::call`].
    pub fn operator(
        &self,
        call: &OperatorCall,
        dtype: Precision,
    ) -> Result<(HostTensor, DeviceClass), EngineError> {
        let (reply, tensors): (OperatorReply, _) = self.call(
            operator_call::header(call, dtype),
            &operator_call::tensors(call),
        )?;
        let result = operator_call::result(&reply, tensors);
        let tensor = result.map_err(|message| EngineError::Failed {
            call: "operator",
            message,
        })?;
        Ok((tensor, reply.device))
    }

    /// The results of every algorithm of its library, in `dtype`, or `None` for an engine without
    /// that call.
    ///
    /// # Errors
    ///
    /// See [`EngineProcess::call`].
    pub fn algorithms(
        &self,
        dtype: Precision,
        reduced: bool,
    ) -> Result<Option<AlgorithmsReply>, EngineError> {
        if !self.hello.algorithms {
            return Ok(None);
        }
        let (reply, _) = self.call(EngineCall::Algorithms { dtype, reduced }, &Tensors::new())?;
        Ok(Some(reply))
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

    /// The milliseconds of repeated forward calls.
    ///
    /// # Errors
    ///
    /// `unsupported` for an engine that does not measure; see also [`EngineProcess::call`].
    pub fn time_forward(
        &self,
        model: u64,
        inputs: &Tensors,
        repetitions: Repetitions,
    ) -> Result<Vec<f64>, EngineError> {
        let traced = false;
        self.time(EngineCall::Forward { model, traced }, inputs, repetitions)
    }

    /// The milliseconds of a step of a sequence that is read repeatedly, after what was read
    /// before.
    ///
    /// # Errors
    ///
    /// As [`Engine::time_forward`].
    pub fn time_step(
        &self,
        session: u64,
        inputs: &Tensors,
        repetitions: Repetitions,
    ) -> Result<Vec<f64>, EngineError> {
        self.time(EngineCall::Step { session }, inputs, repetitions)
    }

    /// The milliseconds of a repeated call of an operator.
    ///
    /// # Errors
    ///
    /// As [`Engine::time_forward`].
    pub fn time_operator(
        &self,
        call: &OperatorCall,
        dtype: Precision,
        repetitions: Repetitions,
    ) -> Result<Vec<f64>, EngineError> {
        let header = operator_call::header(call, dtype);
        self.time(header, &operator_call::tensors(call), repetitions)
    }

    fn time(
        &self,
        timed: EngineCall,
        inputs: &Tensors,
        Repetitions { warmup, iterations }: Repetitions,
    ) -> Result<Vec<f64>, EngineError> {
        if !self.hello.times {
            let message = format!("engine {} does not measure times", self.name);
            return Err(EngineError::Unsupported { message });
        }
        let call = EngineCall::Time {
            timed: Box::new(timed),
            warmup,
            iterations,
        };
        let (TimeReply { milliseconds }, _) = self.call(call, inputs)?;
        // A time that was not measured would be taken for one.
        let measured = milliseconds.iter().all(|time| *time > 0.0);
        if measured && milliseconds.len() == iterations as usize {
            return Ok(milliseconds);
        }
        Err(EngineError::Failed {
            call: "time",
            message: format!("it does not have {iterations} times above 0: {milliseconds:?}"),
        })
    }

    /// Bytes that tensors use on the device, as the engine counts them.
    ///
    /// # Errors
    ///
    /// See [`EngineProcess::call`].
    pub fn memory(&self) -> Result<Option<u64>, EngineError> {
        let (MemoryReply { in_use }, _) = self.call(EngineCall::Memory, &Tensors::new())?;
        Ok(in_use)
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
