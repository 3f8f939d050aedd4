//! The interface that model code implements, generic over the backend.

use crate::capabilities::Capabilities;
use testgen_nn::{backend::Ops, context::ForwardContext, forward::ForwardError, inputs::Inputs};

/// A model in one backend's tensors.
pub(crate) trait Network<B: Ops>: Send {
    /// Computes every output of the transformers class and hands each to `context`.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError>;

    /// Its limits; read once, after the load.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
}
