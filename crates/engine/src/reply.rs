//! Responses: an engine's answers.

use crate::call::{Computation, DeviceClass};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use testgen_operators::calls::Element;
use testgen_types::{Precision, ProviderShare};

/// The JSON header of a message from the engine to testgen: a reply or an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResponseHeader {
    /// The id of the request.
    pub id: u64,
    /// The reply, whose fields depend on the call; `{}` for a call that only reports success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Value>,
    /// The error in place of a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CallFailure>,
}

/// A call that the engine could not carry out. It remains usable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallFailure {
    /// The kind.
    pub kind: FailureKind,
    /// One line for the user.
    pub message: String,
}

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The engine, in this version or with these options, does not have what was asked for; the
    /// check is ignored, with the message.
    Unsupported,
    /// It has it, and it failed; so does the check.
    Failed,
    /// The device has not enough memory; the check fails. The message says what was requested and
    /// what is free.
    OutOfMemory,
    /// The call failed, and so would every later one: a kernel has ended the process's context on
    /// the device. The process is ended.
    DeviceLost,
}

/// The reply to `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HelloReply {
    /// The version of the protocol that the engine speaks.
    pub version: u32,
    /// The versions of its libraries by name, for instance `torch`.
    pub versions: BTreeMap<String, String>,
    /// The kind of GPU that its libraries were built for.
    pub build: Build,
    /// The names of the implementations that the engine has of a computation, if it has several. A
    /// class may lack some: loading it with one that it lacks is `unsupported`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub implementations: BTreeMap<Computation, Vec<String>>,
    /// The names of the operators that the call `operator` computes; empty in an engine that has
    /// only models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<String>,
    /// Whether the engine computes nothing but operators, so that checks of models are ignored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_operators: bool,
    /// Whether the engine has the call `algorithms`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub algorithms: bool,
    /// Whether the engine has the call `time`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub times: bool,
    /// Whether `operator` takes repeated inputs, and the engine has the calls `read_result` and
    /// `drop_result`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
}

/// The kind of GPU that an engine was built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Build {
    /// None.
    Cpu,
    /// NVIDIA.
    Cuda,
    /// AMD.
    Hip,
}

/// The reply to `devices`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DevicesReply {
    /// Every GPU, in the order of the engine's own indices.
    pub devices: Vec<ListedDevice>,
}

/// A GPU that an engine could open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedDevice {
    /// As the reply to `open` describes it. It counts only with the PCI address of a GPU that the
    /// kernel lists.
    #[serde(flatten)]
    pub device: OpenedDevice,
    /// Its architecture, for instance `gfx942`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Its memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_memory: Option<u64>,
}

/// The reply to `open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenReply {
    /// The device that everything runs on from now on. The CPU in place of a GPU is a fallback,
    /// which testgen marks.
    pub device: OpenedDevice,
    /// Why it is not the requested one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A device as the engine's own library reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenedDevice {
    /// Its kind.
    pub kind: DeviceClass,
    /// Its name.
    pub name: String,
    /// Its UUID; letter case, hyphens and a prefix `GPU-` do not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// `0000:03:00.0`. A GPU needs this or the UUID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pci_address: Option<String>,
}

/// The reply to `load`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadReply {
    /// Identifies the model in later calls.
    pub model: u64,
    /// The tensors of the checkpoint.
    #[serde(flatten)]
    pub tensors: ModelTensors,
    /// The features that the model does not have in this engine, each with the reason; checks that
    /// need them are ignored.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lacks: BTreeMap<Feature, String>,
}

/// A feature that the models of some engines do not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// `forward` returns hidden states where they are asked for.
    HiddenStates,
    /// `load` accepts a configuration that differs from the checkpoint's.
    Configuration,
    /// `read` and `unused` are complete.
    Tensors,
}

/// The tensors of a checkpoint, by their names in its files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelTensors {
    /// Tensors that the model has read.
    pub read: Vec<String>,
    /// Tensors that it does not use.
    pub unused: Vec<String>,
}

/// The reply to `forward` and to `step`. Its tensors, as f32 (integers as i64), are
/// `output.<name>`, `trace.<name>` and, for integers that were decided on the host, `host.<name>`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForwardReply {
    /// Where each output and trace was computed, in the order of the computation.
    pub placements: Vec<TensorPlacement>,
    /// The execution providers that computed the nodes of a graph, if the engine has providers;
    /// from the first call of a model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub providers: Vec<ProviderShare>,
}

/// Where a tensor was before it was copied to the host, read from the tensor itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TensorPlacement {
    /// The name of the tensor, for instance `output.logits`.
    pub name: String,
    /// The kind of device.
    pub device: DeviceClass,
    /// The type of its elements.
    pub dtype: Precision,
}

/// The reply to `operator`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperatorReply {
    /// The type of the result on the device, read from the tensor before it was copied.
    pub element: Element,
    /// The kind of device that the result was on.
    pub device: DeviceClass,
    /// A result that remained on the device, because the inputs were repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptResult>,
}

/// A result that remained on the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeptResult {
    /// Its number.
    pub result: u64,
    /// Its shape.
    pub shape: Vec<usize>,
}

/// The reply to `algorithms`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AlgorithmsReply {
    /// The results of each algorithm.
    pub rows: Vec<AlgorithmResults>,
    /// The computations that no algorithm has, with the reason, one line for each group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsupported: Vec<String>,
}

/// The results of one algorithm of a library, compared with a reference in float64.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AlgorithmResults {
    /// Types, transposition, and the library's own id or solution index.
    pub name: String,
    /// The results that were compared.
    pub results: u64,
    /// Results that are wrong.
    pub wrong: u64,
    /// The least of bound / error; absent where every element is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<f64>,
    /// Descriptions of the first wrong results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// The reply to `time`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeReply {
    /// The time of each measured call, in their order.
    pub milliseconds: Vec<f64>,
}

/// The reply to `open_session`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionReply {
    /// Identifies the sequence in later calls.
    pub session: u64,
}

/// The reply to `memory`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryReply {
    /// Bytes that tensors use on the device; absent if the engine does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_use: Option<u64>,
    /// The most bytes that tensors have used on the device since the last `load` began; absent if
    /// the engine does not count them, and before the first `load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<u64>,
}
