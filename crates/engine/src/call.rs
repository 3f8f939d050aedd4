//! Requests: what testgen asks of an engine.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use testgen_operators::calls::{Attributes, Element, Layout};
use testgen_types::{Operator, Precision};

/// The version of the protocol. An engine that speaks another one is refused.
pub const VERSION: u32 = 1;

/// The JSON header of a message from testgen to the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestHeader {
    /// Increases by one with every request; the response repeats it.
    pub id: u64,
    /// The call and its arguments.
    #[serde(flatten)]
    pub call: EngineCall,
}

/// One call. An engine answers calls one after another, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum EngineCall {
    /// The first call: versions and options.
    Hello {
        /// [`VERSION`] of testgen.
        version: u32,
        /// The options of the column, for instance `eager`; an engine refuses an option that it
        /// does not have.
        options: Vec<String>,
    },
    /// The GPUs that the engine could open, in place of [`EngineCall::Open`], where testgen's own
    /// process has no library that lists them. An engine without this call has only the devices
    /// that testgen finds.
    Devices,
    /// The second call: the device for everything that follows.
    Open {
        /// The device that testgen found.
        device: DeviceRequest,
    },
    /// One operation on the device, which probes its arithmetic. Tensors: `left`, for most
    /// operations also `right`, both f32 with values that `dtype` has. The reply has the tensor
    /// `result`, as f32.
    Compute {
        /// The operation.
        operation: ComputeOperation,
        /// The type that the operands are converted to.
        dtype: Precision,
        /// The type of the result before it is converted to f32.
        result: Precision,
    },
    /// Computes one operator with the arguments of PyTorch's function. Tensors: `input.0`,
    /// `input.1`, ...; floats as f32, integers as i64, booleans as u8. The reply has the tensor
    /// `result` in the same form, unless `repeated` is there. Only operators that the reply to
    /// `hello` names are asked for.
    Operator {
        /// The operator.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        operator: Operator,
        /// Type and layout of each input on the device.
        inputs: Vec<InputDescription>,
        /// Its other arguments, boxed because they are larger than all other calls.
        attributes: Box<Attributes>,
        /// How products of f32 are computed: `tf32`, else without rounding their factors.
        dtype: Precision,
        /// Larger inputs, which repeat the tensors of the message. The result remains on the
        /// device, and the reply has its number. Only engines whose reply to `hello` has `repeats`
        /// are asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeated: Option<RepeatedInputs>,
    },
    /// Reads neighbouring elements of a result that remained on the device, in row-major order. The
    /// reply has the tensor `result` with one dimension, in the form of `operator`.
    ReadResult {
        /// From the reply of `operator`.
        result: u64,
        /// The flat index of the first element.
        first: usize,
        /// The number of elements.
        count: usize,
    },
    /// Drops a result that remained on the device.
    DropResult {
        /// From the reply of `operator`.
        result: u64,
    },
    /// Computes a list of calls of the engine's own with every algorithm that its library offers for
    /// each, and compares them. Only engines whose reply to `hello` has `algorithms` are asked.
    Algorithms {
        /// The operators of the list. The engine's list of products belongs to `gemm`, and its list
        /// of convolutions to `conv2d`.
        #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
        operators: Vec<Operator>,
        /// The type of results.
        dtype: Precision,
        /// Whether a part of the list is enough, on a simulated device.
        reduced: bool,
    },
    /// Loads a checkpoint.
    Load {
        /// The directory, as `save_pretrained` writes it.
        directory: String,
        /// Replaces the content of `config.json`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        config: Option<Value>,
        /// The `model_type` of the checkpoint, for diffusers its `_class_name`.
        model_type: String,
        /// The class to compute, for instance `BertForMaskedLM`.
        class: String,
        /// The type of weights and activations.
        dtype: Precision,
        /// The implementation in place of the column's own, from the reply to `hello`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        implementation: Option<Implementation>,
    },
    /// Computes every output. Tensors: the arguments of the model's call, by their names in
    /// transformers.
    Forward {
        /// From the reply of `load`.
        model: u64,
        /// Whether the hidden states are part of the reply.
        traced: bool,
    },
    /// Starts a sequence with a key-value cache.
    OpenSession {
        /// From the reply of `load`.
        model: u64,
    },
    /// Reads more tokens of a sequence. Tensors: as of `forward`, for the new tokens only; an
    /// attention mask covers the earlier tokens, too. An encoder's inputs come with the first step
    /// only.
    Step {
        /// From the reply of `open_session`.
        session: u64,
    },
    /// Repeats a `forward`, a `step` or an `operator`, with its tensors, and measures each. A time
    /// covers the computation, with a wait for the device before and after it: from inputs on the
    /// host (of an operator from inputs on the device) to results that stay on the device. Only
    /// engines whose reply to `hello` has `times` are asked.
    Time {
        /// The call, with its name and its arguments.
        timed: Box<EngineCall>,
        /// The fewest calls before the measured ones.
        warmup: u32,
        /// The fewest calls that are measured.
        iterations: u32,
        /// The milliseconds that must have passed before the calls of the warm-up end, and again
        /// before the measured calls end; 0 for calls by number alone. From 10,000 calls on it adds
        /// none.
        min_time_ms: u32,
    },
    /// Forgets the tokens of a sequence.
    ResetSession {
        /// From the reply of `open_session`.
        session: u64,
    },
    /// Ends a sequence.
    CloseSession {
        /// From the reply of `open_session`.
        session: u64,
    },
    /// The memory that tensors of the engine use.
    Memory,
    /// Drops a model and its sequences.
    Unload {
        /// From the reply of `load`.
        model: u64,
    },
}

impl EngineCall {
    /// The name in the protocol, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "hello",
            Self::Devices => "devices",
            Self::Open { .. } => "open",
            Self::Compute { .. } => "compute",
            Self::Operator { .. } => "operator",
            Self::ReadResult { .. } => "read_result",
            Self::DropResult { .. } => "drop_result",
            Self::Algorithms { .. } => "algorithms",
            Self::Load { .. } => "load",
            Self::Forward { .. } => "forward",
            Self::OpenSession { .. } => "open_session",
            Self::Step { .. } => "step",
            Self::Time { .. } => "time",
            Self::ResetSession { .. } => "reset_session",
            Self::CloseSession { .. } => "close_session",
            Self::Memory => "memory",
            Self::Unload { .. } => "unload",
        }
    }
}

/// An input of an operator on the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputDescription {
    /// The type of its elements, which the numbers of the message have.
    pub element: Element,
    /// Its layout.
    pub layout: Layout,
}

/// Inputs that are made on the device by repeating the tensors of a message, so that an input of
/// gigabytes is not sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepeatedInputs {
    /// The shape of each input, of the rank of its tensor. A tensor is repeated along each dimension
    /// that is longer here; the last repetition is cut.
    pub shapes: Vec<Vec<usize>>,
    /// The shape of a tensor that is filled with NaN and dropped before the operator runs, so that
    /// the allocator returns its memory for the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Vec<usize>>,
}

/// One of several implementations of a computation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Implementation {
    /// The computation.
    pub of: Computation,
    /// The engine's name for it, for instance `sdpa`.
    pub name: String,
}

/// A part of a model that an engine may compute in several ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Computation {
    /// Attention.
    Attention,
    /// The experts of a mixture of experts.
    Experts,
}

impl Computation {
    /// The word in the protocol, for messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::Experts => "experts",
        }
    }
}

/// The device to open, as testgen found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceRequest {
    /// Its kind.
    pub kind: DeviceClass,
    /// Its index among the visible devices of its kind.
    pub index: u32,
    /// `GPU-...`, if the driver reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// `0000:03:00.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pci_address: Option<String>,
}

/// A kind of device. The devices of a HIP build of torch are `rocm`, although torch calls them
/// `cuda`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeviceClass {
    /// The host processor.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// An AMD GPU.
    Rocm,
}

/// An operation of [`EngineCall::Compute`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComputeOperation {
    /// `left` as it is, converted to the type of the result on the device.
    Cast,
    /// `left + right`.
    Add,
    /// `left * right`, element by element.
    Multiply,
    /// The matrix product of `left` [rows, inner] and `right` [inner, columns].
    MatrixProduct,
    /// The sum of all elements of `left`, a tensor of one element.
    Sum,
}
