//! The result of one forward call, on the host, and its errors.

use crate::{
    array::{Array, Arrays},
    weights::WeightsError,
};
use testgen_types::{DeviceKind, Precision};

/// The device and type of an output, read from the tensor itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The kind of device; a CUDA tensor of a compatibility layer is `Cuda` here, the endpoint
    /// knows the layer.
    pub device: DeviceKind,
    /// The type of its elements.
    pub precision: Precision,
}

/// The result of a forward call: complete tensors as f32, by the names of transformers' result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forward {
    /// `logits`, `last_hidden_state`, `pooler_output`, ...
    pub outputs: Arrays,
    /// `embed` and `layer.<i>`: the hidden states in their order, when a trace was asked for.
    pub trace: Vec<(String, Array)>,
    /// Where each output and trace lived on the device, in the order in which they were read.
    pub placements: Vec<(String, Placement)>,
    /// Integers that were decided on the host on the way: `retrieved_doc_ids` [batch, docs],
    /// `context_input_ids` and `context_attention_mask` [batch * docs, length].
    pub host_outputs: Arrays,
}

/// A feature that an engine does not have. Errors for that reason have it as their source, so that
/// a check is ignored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// A forward call failed.
#[derive(Debug, thiserror::Error)]
pub enum ForwardError {
    /// The call lacks an argument.
    #[error("input `{name}` is missing")]
    MissingInput {
        /// The argument's name in transformers.
        name: &'static str,
    },
    /// An argument has the wrong type or number of dimensions.
    #[error("input `{name}` is {found}, expected {expected}")]
    WrongInput {
        /// The argument's name in transformers.
        name: String,
        /// The shape or type of the argument.
        found: String,
        /// The requirement of the model.
        expected: String,
    },
    /// A token id, position or length that the model has no row for.
    #[error("input `{name}` has {value}, the model takes values below {limit}")]
    OutOfRange {
        /// The argument's name in transformers.
        name: &'static str,
        /// The value given.
        value: i64,
        /// The first value that is too large.
        limit: usize,
    },
    /// A decoder has nothing to attend to.
    #[error("nothing was encoded: the first call of a sequence needs the encoder's input, too")]
    NotEncoded,
    /// The device failed; burn's message.
    #[error("the device failed: {message}")]
    Device {
        /// The backend's message.
        message: String,
    },
    /// A streamed layer cannot be read.
    #[error("a layer cannot be streamed: {0}")]
    Stream(#[from] WeightsError),
    /// The engine that computes the model does not have what the call needs.
    #[error("not supported by the engine: {0}")]
    Unsupported(#[from] Unsupported),
    /// The engine that computes the model failed.
    #[error("{message}")]
    Engine {
        /// Its error, with its last output.
        message: String,
    },
    /// Passages could not be found or read.
    #[error("the retriever failed: {message}")]
    Retrieval {
        /// The operation that failed.
        message: String,
    },
    /// The model does not produce tokens step by step.
    #[error("`{class}` has no key-value cache")]
    NoCache {
        /// The transformers class.
        class: String,
    },
}

/// A sequence that grows step by step, with the cached keys and values of the tokens so far.
pub trait Session {
    /// Reads more tokens: `input_ids` [batch, new], optionally `attention_mask` [batch, all so far
    /// + new] and `position_ids` [batch, new]. Returns the outputs of the new positions.
    ///
    /// The tokens of an encoder-decoder are `decoder_input_ids`, optionally with
    /// `decoder_attention_mask`; the first call also has everything that the encoder reads, later
    /// ones only its `attention_mask`.
    fn advance(&mut self, inputs: &Arrays) -> Result<Forward, ForwardError>;
    /// Forgets all tokens and their cache.
    fn reset(&mut self);
    /// The number of tokens read so far.
    fn length(&self) -> usize;
}
