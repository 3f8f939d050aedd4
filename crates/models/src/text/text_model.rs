//! A text backbone with a head: what every encoder and decoder of text has in common.

use super::text_head::TextHead;
use crate::capabilities::Capabilities;
use crate::network::Network;
use burn::tensor::Tensor;
use testgen_nn::{backend::Ops, context::ForwardContext, forward::ForwardError, inputs::Inputs};

/// What a backbone gives to its head.
pub(crate) struct Hidden<B: Ops> {
    /// [batch, seq, width], after the final norm where there is one.
    pub(crate) last: Tensor<B, 3>,
    /// [batch, width], of types with a pooler.
    pub(crate) pooled: Option<Tensor<B, 2>>,
}

/// A text model without its head.
pub(crate) trait Backbone<B: Ops>: Send {
    /// Reads `input_ids` and what else the type takes, leaves the traces.
    fn hidden(&self, inputs: &Inputs<'_, B>, context: &mut ForwardContext<'_, B>) -> Result<Hidden<B>, ForwardError>;

    /// See [`Network::capabilities`].
    fn capabilities(&self) -> Capabilities;
}

/// The two together.
pub(crate) struct TextModel<B: Ops, T: Backbone<B>> {
    pub(crate) backbone: T,
    pub(crate) head: TextHead<B>,
}

impl<B: Ops, T: Backbone<B>> Network<B> for TextModel<B, T> {
    fn forward(&self, inputs: &Inputs<'_, B>, context: &mut ForwardContext<'_, B>) -> Result<(), ForwardError> {
        let hidden = self.backbone.hidden(inputs, context)?;
        self.head.forward(hidden, inputs, context)
    }

    fn capabilities(&self) -> Capabilities {
        self.backbone.capabilities()
    }
}
