//! A text backbone with its head.

use super::{backbone::Backbone, text_head::TextHead};
use crate::{capabilities::Capabilities, network::Network};
use testgen_nn::{backend::Ops, context::ForwardContext, forward::ForwardError, inputs::Inputs};

/// A backbone with its head.
pub(crate) struct TextModel<B: Ops, T: Backbone<B>> {
    pub(crate) backbone: T,
    pub(crate) head: TextHead<B>,
}

impl<B: Ops, T: Backbone<B>> Network<B> for TextModel<B, T> {
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let hidden = self.backbone.hidden(inputs, context)?;
        self.head.forward(hidden, inputs, context)
    }

    fn capabilities(&self) -> Capabilities {
        self.backbone.capabilities()
    }
}
