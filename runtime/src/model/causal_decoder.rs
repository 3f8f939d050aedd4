//! Causal decoders of text: embeddings, layers that see earlier tokens, a last step. What the types do in each is their own.

use super::{
    class::Head,
    forward::ForwardError,
    network::{Inputs, Network, Pass},
    text_head::TextHead,
    text_model::{Backbone, Hidden, TextModel},
};
use crate::{
    backend::Ops,
    layer::{Embedding, LayerNorm, Linear, Positions, RmsNorm, View},
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;

/// The heads that most types have.
pub(crate) const DECODER_HEADS: &[Head] =
    &[Head::Base, Head::CausalLm, Head::SequenceClassification, Head::TokenClassification, Head::QuestionAnswering];

/// A decoder without its head.
pub(crate) struct CausalDecoder<B: Ops, E, L> {
    pub(crate) embeddings: E,
    /// How attention knows where tokens stand.
    pub(crate) positions: Positions,
    pub(crate) layers: Vec<L>,
    pub(crate) last_step: LastStep<B>,
}

/// What the first layer reads.
pub(crate) trait Embeddings<B: Ops>: Send {
    /// [batch, seq, width] of `input_ids` behind `past` tokens.
    fn embed(&self, inputs: &Inputs<'_, B>, past: usize) -> States<B>;

    /// The tokens' own, [vocab, width], for a tied head.
    fn table(&self) -> Tensor<B, 2>;

    /// See [`Network::max_positions`].
    fn max_positions(&self) -> Option<usize> {
        None
    }
}

/// One layer.
pub(crate) trait DecoderLayer<B: Ops>: Send {
    /// [batch, seq, width]; `view` is for the layer's attention.
    fn forward(&self, x: Tensor<B, 3>, view: View<'_, B>, place: Place<'_, '_, B>) -> States<B>;

    /// How many tokens a token sees, itself the last; none where it sees every earlier one.
    fn window(&self) -> Option<usize> {
        None
    }
}

/// Hidden states [batch, seq, width].
pub(crate) type States<B> = Result<Tensor<B, 3>, ForwardError>;

/// A layer's place in the cache of a pass.
pub(crate) type Place<'a, 'b, B> = (usize, &'a mut Pass<'b, B>);

/// What stands behind the last layer.
pub(crate) enum LastStep<B: Ops> {
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
    pub(crate) fn embed(&self, inputs: &Inputs<'_, B>, pass: &Pass<'_, B>) -> States<B> {
        self.embeddings.embed(inputs, pass.past())
    }

    /// `x` [batch, seq, width] through the layers and the last step; leaves the traces.
    pub(crate) fn decode(&self, x: Tensor<B, 3>, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> States<B> {
        let [batch, seq, _] = x.dims();
        let mut sight = self.positions.sight(inputs, [batch, seq], pass.past())?;
        pass.trace_embed(&x)?;
        let step = |layer: &L, x, place: Place<'_, '_, B>| layer.forward(x, sight.view(layer.window())?, place);
        pass.through(&self.layers, x, step, |x| self.last_step.forward(x))
    }

    /// A head where most types keep it: `padding` is what a classifier of texts looks for, `tied` a language model's head.
    pub(crate) fn usual_head(
        &self,
        w: &Weights<B>,
        (head, labels): (Head, usize),
        tied: bool,
        padding: Option<i64>,
    ) -> Result<TextHead<B>, WeightsError> {
        let table = self.embeddings.table();
        let [vocab, width] = table.dims();
        TextHead::of_decoder(w, head, [width, vocab, labels], tied.then_some(table), padding)
    }

    /// The whole model.
    pub(crate) fn with_head(self, head: TextHead<B>) -> Box<dyn Network<B>>
    where
        E: 'static,
        L: 'static,
    {
        Box::new(TextModel { backbone: self, head })
    }
}

impl<B: Ops, E: Embeddings<B>, L: DecoderLayer<B>> Backbone<B> for CausalDecoder<B, E, L> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let last = self.decode(self.embed(inputs, pass)?, inputs, pass)?;
        Ok(Hidden { last, pooled: None })
    }

    fn cached_layers(&self) -> Option<usize> {
        Some(self.layers.len())
    }

    fn max_positions(&self) -> Option<usize> {
        self.embeddings.max_positions()
    }

    fn cacheable_length(&self) -> Option<usize> {
        self.positions.cacheable()
    }

    fn recomputed_beyond(&self) -> Option<usize> {
        self.positions.recomputed_beyond()
    }
}

impl<B: Ops> LastStep<B> {
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        match self {
            Self::LayerNorm(norm) => norm.forward(x),
            Self::RmsNorm(norm) => norm.forward(x),
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
