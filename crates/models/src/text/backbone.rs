//! Text backbones: the interface between every encoder or decoder of text and its head.

use crate::capabilities::Capabilities;
use burn_tensor::Tensor;
use testgen_nn::{backend::Ops, context::ForwardContext, forward::ForwardError, inputs::Inputs};

/// The result of a backbone, which its head reads.
pub(crate) struct Hidden<B: Ops> {
    /// [batch, seq, width], after the final norm where there is one.
    pub(crate) last: Tensor<B, 3>,
    /// [batch, width], of types with a pooler.
    pub(crate) pooled: Option<Tensor<B, 2>>,
}

/// A text model without its head.
pub(crate) trait Backbone<B: Ops>: Send {
    /// Reads `input_ids` and what else the type takes, stores the traces.
    fn hidden(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Hidden<B>, ForwardError>;

    /// See [`Network::capabilities`](crate::network::Network::capabilities).
    fn capabilities(&self) -> Capabilities;
}
