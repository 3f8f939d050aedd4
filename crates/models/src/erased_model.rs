//! A loaded model, independent of its backend.

use crate::capabilities::Capabilities;
use testgen_nn::{
    array::Arrays,
    forward::{Forward, ForwardError, Session, Unsupported},
    timing::{CallTimes, CallsByShape, LayerTimes, TimedCall},
};
use testgen_types::Repetitions;

/// A loaded model, independent of its backend.
pub trait ErasedModel: Send {
    /// Computes every output of the transformers class, with the hidden states if `traced`.
    fn forward(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError>;

    /// A new sequence with a key-value cache, or `None` for a model that does not generate. An
    /// engine may not support it.
    fn session(&self) -> Result<Option<Box<dyn Session + '_>>, ForwardError>;

    /// Its limits, its cache, and what padding may change.
    fn capabilities(&self) -> Capabilities;

    /// The times of a call that is repeated. Its outputs stay on the device, which is idle before
    /// and after each call.
    fn time(
        &self,
        _call: TimedCall<'_>,
        _repetitions: Repetitions,
    ) -> Result<CallTimes, ForwardError> {
        Err(Unsupported("timed calls".to_owned()).into())
    }

    /// The times of the layers in forward calls, or `None` if they are not streamed.
    fn time_layers(
        &self,
        _inputs: &Arrays,
        _repetitions: Repetitions,
    ) -> Result<Option<Vec<LayerTimes>>, ForwardError> {
        Ok(None)
    }

    /// The times of the products and convolutions in each of repeated forward calls, or `None` if
    /// the model does not know them.
    fn time_calls(
        &self,
        _inputs: &Arrays,
        _repetitions: Repetitions,
    ) -> Result<Option<Vec<CallsByShape>>, ForwardError> {
        Ok(None)
    }
}
