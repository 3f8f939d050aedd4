//! Engines: processes that load a checkpoint on a device and compute, for instance with PyTorch.
//!
//! Owns the protocol ([`EngineCall`], the replies, how messages are framed), the supervision of the
//! process, which engines are built in, and how the user has tuned their libraries. Does not own
//! their Python (`testgen-python`), what is checked with the answers (`testgen-runtime`), nor burn,
//! so that the command line may use it.
//! docs/engines.md describes the protocol for authors of other engines.

mod answer;
mod call;
mod command;
mod device_identity;
mod engine;
mod engine_name;
mod error;
mod frame;
#[cfg(test)]
mod fuzz;
mod library_tuning;
mod operator_call;
mod process;
mod python;
mod reply;
#[cfg(feature = "schema")]
mod schema;
mod server;
mod started_engine;
mod tensors;
mod tuned_files;

pub use call::{
    Computation, ComputeOperation, DeviceClass, DeviceRequest, EngineCall, Implementation,
    InputDescription, RepeatedInputs, RequestHeader, VERSION,
};
pub use command::{
    CommandError, EngineCommand, GRAPHS_VARIABLE, LIBRARIES, LIBRARY_VARIABLE, PROGRAM_PREFIX,
    PYTHON_VARIABLE, isolated_python, python_program, share_processors,
};
pub use device_identity::device_mismatch;
pub use engine::{Engine, EngineForward, LoadRequest, RepeatedResult};
pub use engine_name::{EngineName, EngineNameError, LayerPlaces};
pub use error::EngineError;
pub use library_tuning::LibraryTuning;
pub use process::{EngineProcess, TIMEOUT_VARIABLE, time_limit};
pub use python::BUILT_IN;
pub use reply::{
    AlgorithmResults, AlgorithmsReply, Build, CallFailure, DevicesReply, FailureKind, Feature,
    ForwardReply, HelloReply, KeptResult, ListedDevice, LoadReply, MemoryReply, ModelTensors,
    OpenReply, OpenedDevice, OperatorReply, ResponseHeader, SessionReply, TensorPlacement,
    TimeReply,
};
#[cfg(feature = "schema")]
pub use schema::protocol_schema;
pub use server::{OperatorEngine, answer_requests};
pub use started_engine::StartedEngine;
pub use tensors::{Tensor, TensorData, Tensors};
