//! A text backbone with a head: what every encoder and decoder of text has in common.

use super::{
    forward::ForwardError,
    network::{Inputs, Network, Pass},
    text_head::TextHead,
};
use crate::backend::Ops;
use burn::tensor::Tensor;

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
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError>;

    /// See [`Network::cached_layers`].
    fn cached_layers(&self) -> Option<usize> {
        None
    }

    /// See [`Network::max_positions`].
    fn max_positions(&self) -> Option<usize>;

    /// See [`Network::cacheable_length`].
    fn cacheable_length(&self) -> Option<usize> {
        None
    }

    /// See [`Network::recomputed_beyond`].
    fn recomputed_beyond(&self) -> Option<usize> {
        None
    }
}

/// The two together.
pub(crate) struct TextModel<B: Ops, T: Backbone<B>> {
    pub(crate) backbone: T,
    pub(crate) head: TextHead<B>,
}

impl<B: Ops, T: Backbone<B>> Network<B> for TextModel<B, T> {
    fn forward(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<(), ForwardError> {
        let hidden = self.backbone.hidden(inputs, pass)?;
        self.head.forward(hidden, inputs, pass)
    }

    fn cached_layers(&self) -> Option<usize> {
        self.backbone.cached_layers()
    }

    fn max_positions(&self) -> Option<usize> {
        self.backbone.max_positions()
    }

    fn cacheable_length(&self) -> Option<usize> {
        self.backbone.cacheable_length()
    }

    fn recomputed_beyond(&self) -> Option<usize> {
        self.backbone.recomputed_beyond()
    }
}
