//! Causal decoders of text: embeddings, layers that see earlier tokens, a final norm. What the
//! types do in each is their own.

use super::{
    backbone::{Backbone, Hidden},
    text_head::TextHead,
    text_model::TextModel,
};
use crate::{capabilities::Capabilities, model_def::LoadedNetwork, network::Network};
use burn_tensor::Tensor;
use testgen_nn::{
    backend::Ops,
    context::{ForwardContext, LayerSlot},
    forward::ForwardError,
    inputs::Inputs,
    layer::{Embedding, LayerContext, LayerNorm, Linear, Positions, RmsNorm},
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// A decoder without its head.
pub(crate) struct CausalDecoder<B: Ops, E, L> {
    pub(crate) embeddings: E,
    /// How attention receives the positions of tokens.
    pub(crate) positions: Positions,
    pub(crate) layers: LayerStack<B, L>,
    pub(crate) final_norm: FinalNorm<B>,
}

/// The input of the first layer.
pub(crate) trait Embeddings<B: Ops>: Send {
    /// [batch, seq, width] of `input_ids` after `past` tokens.
    fn embed(&self, inputs: &Inputs<'_, B>, past: usize) -> States<B>;

    /// The tokens' own, [vocab, width], for a tied head.
    fn table(&self) -> Tensor<B, 2>;

    /// See [`Capabilities::max_positions`].
    fn max_positions(&self) -> Option<usize> {
        None
    }
}

/// One layer.
pub(crate) trait DecoderLayer<B: Ops>: Send {
    /// [batch, seq, width]; `view` is for the layer's attention.
    fn forward(
        &self,
        x: Tensor<B, 3>,
        view: LayerContext<'_, B>,
        slot: LayerSlot<'_, '_, B>,
    ) -> States<B>;

    /// How many tokens a token sees, itself the last, or `None` if it sees every earlier one.
    fn window(&self) -> Option<usize> {
        None
    }
}

/// Hidden states [batch, seq, width].
pub(crate) type States<B> = Result<Tensor<B, 3>, ForwardError>;

/// The norm after the last layer.
pub(crate) enum FinalNorm<B: Ops> {
    LayerNorm(LayerNorm<B>),
    RmsNorm(RmsNorm<B>),
    /// Each where there is one.
    Projected {
        norm: Option<LayerNorm<B>>,
        project: Option<Linear<B>>,
    },
}

impl<B: Ops, E: Embeddings<B>, L: DecoderLayer<B>> CausalDecoder<B, E, L> {
    /// [batch, seq, width] of `input_ids`.
    pub(crate) fn embed(
        &self,
        inputs: &Inputs<'_, B>,
        context: &ForwardContext<'_, B>,
    ) -> States<B> {
        self.embeddings.embed(inputs, context.past())
    }

    /// `x` [batch, seq, width] through the layers and the final norm; stores the traces.
    pub(crate) fn decode(
        &self,
        x: Tensor<B, 3>,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> States<B> {
        let [batch, seq, _] = x.dims();
        // Once: all layers share the rotation, and layers with the same window a bias.
        let mut attention =
            self.positions
                .attention_context(inputs, [batch, seq], context.past())?;
        context.trace_embed(&x)?;
        self.layers.run(
            context,
            x,
            &mut attention,
            |layer: &L, x, attention, slot| {
                layer.forward(x, attention.layer(layer.window())?, slot)
            },
            |x| self.final_norm.forward(x),
        )
    }

    /// A head where most types keep it: `padding` is what a classifier of texts looks for, `tied` a
    /// language model's head.
    pub(crate) fn standard_head(
        &self,
        w: &Weights<B>,
        head: Head,
        labels: usize,
        tied: bool,
        padding: Option<i64>,
    ) -> Result<TextHead<B>, WeightsError> {
        // Not from the configuration: OPT's embeddings can be narrower than its layers.
        let table = self.embeddings.table();
        let [vocab, width] = table.dims();
        TextHead::of_decoder(
            w,
            head,
            [width, vocab, labels],
            tied.then_some(table),
            padding,
        )
    }

    /// The whole model of a type that keeps its head where most do.
    pub(crate) fn with_standard_head(
        self,
        w: &Weights<B>,
        head: Head,
        labels: usize,
        tied: bool,
        padding: Option<i64>,
    ) -> LoadedNetwork<B>
    where
        E: 'static,
        L: 'static,
    {
        let head = self.standard_head(w, head, labels, tied, padding)?;
        Ok(self.with_head(head))
    }

    /// The whole model.
    pub(crate) fn with_head(self, head: TextHead<B>) -> Box<dyn Network<B>>
    where
        E: 'static,
        L: 'static,
    {
        Box::new(TextModel {
            backbone: self,
            head,
        })
    }
}

impl<B: Ops, E: Embeddings<B>, L: DecoderLayer<B>> Backbone<B> for CausalDecoder<B, E, L> {
    fn hidden(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Hidden<B>, ForwardError> {
        let last = self.decode(self.embed(inputs, context)?, inputs, context)?;
        Ok(Hidden { last, pooled: None })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_positions: self.embeddings.max_positions(),
            cacheable_length: self.positions.cacheable(),
            cache_reset_length: self.positions.cache_reset_length(),
            ..Capabilities::decoder(self.layers.depth())
        }
    }
}

impl<B: Ops> FinalNorm<B> {
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        match self {
            Self::LayerNorm(norm) => norm.forward(x),
            Self::RmsNorm(norm) => norm.forward(x),
            // OPT: models that normalise after each block have no norm
            // here, and the 350M model has narrower embeddings.
            Self::Projected { norm, project } => {
                let x = match norm {
                    Some(norm) => norm.forward(x),
                    None => x,
                };
                match project {
                    Some(project) => project.forward(x),
                    None => x,
                }
            }
        }
    }
}

/// Tokens as they are.
impl<B: Ops> Embeddings<B> for Embedding<B> {
    fn embed(&self, inputs: &Inputs<'_, B>, _past: usize) -> States<B> {
        Ok(self.forward(inputs.indices("input_ids", self.rows())?))
    }

    fn table(&self) -> Tensor<B, 2> {
        self.weight()
    }
}
