//! What BERT and its relatives share: embeddings, and layers that normalise behind attention and perceptron.
//!
//! Does not own configurations nor heads.

use super::{
    forward::ForwardError,
    network::{Inputs, Pass},
    text_embeddings::{EmbeddingsShape, TextEmbeddings},
    text_head::{MaskedLm, MaskedLmNames, MaskedLmShape, first_token},
    text_model::{Backbone, Hidden},
};
use crate::{
    backend::{Activation, Ops, activate},
    layer::{
        AttentionNames, AttentionShape, FeedForward, LayerNorm, Linear, RelativeBias, SelfAttention, padding_bias,
    },
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;

/// The sizes of a layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerShape {
    pub(super) width: usize,
    pub(super) heads: usize,
    pub(super) inner: usize,
    pub(super) activation: Activation,
    pub(super) eps: f64,
}

/// Where a layer keeps its parts.
pub(super) struct LayerNames {
    pub(super) attention: AttentionNames,
    pub(super) attention_norm: &'static str,
    pub(super) up: &'static str,
    pub(super) down: &'static str,
    pub(super) output_norm: &'static str,
}

/// The names that BERT gave.
pub(super) const BERT: LayerNames = LayerNames {
    attention: AttentionNames {
        query: "attention.self.query",
        key: "attention.self.key",
        value: "attention.self.value",
        output: "attention.output.dense",
    },
    attention_norm: "attention.output.LayerNorm",
    up: "intermediate.dense",
    down: "output.dense",
    output_norm: "output.LayerNorm",
};

/// A text encoder without its head.
pub(super) struct Encoder<B: Ops> {
    pub(super) embeddings: TextEmbeddings<B>,
    /// From the width of the embeddings to that of the layers, where they differ.
    pub(super) project: Option<Linear<B>>,
    pub(super) layers: Vec<Layer<B>>,
    /// Which of `layers` is taken at each depth.
    pub(super) order: Vec<usize>,
    /// Added to the scores of all layers.
    pub(super) relative: Option<RelativeBias<B>>,
    pub(super) pooler: Option<Linear<B>>,
}

impl<B: Ops> Encoder<B> {
    /// The layers `0`, `1`, ... below `layers`, each taken once, without any of the options.
    pub(super) fn load(
        embeddings: TextEmbeddings<B>,
        count: usize,
        shape: &LayerShape,
        names: &LayerNames,
        layers: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let layer = |index| Layer::load(shape, names, &layers.module(index));
        let layers = (0..count).map(layer).collect::<Result<_, _>>()?;
        Ok(Self { embeddings, project: None, layers, order: (0..count).collect(), relative: None, pooler: None })
    }

    /// A masked language model's head over layers of `width`, as wide in front of the decoder as the embeddings.
    pub(super) fn masked_lm(
        &self,
        width: usize,
        activation: Activation,
        tied: bool,
        names: &MaskedLmNames,
        w: &Weights<B>,
    ) -> Result<MaskedLm<B>, WeightsError> {
        let EmbeddingsShape { width: inner, vocab, eps, .. } = *self.embeddings.shape();
        let shape = MaskedLmShape { width, inner, vocab, activation, eps, tied };
        MaskedLm::load(w, names, &shape, self.embeddings.words())
    }

    /// What is added to the scores: f32, [batch or 1, 1 or heads, 1 or query, key].
    fn bias(&self, inputs: &Inputs<'_, B>, [batch, seq]: [usize; 2]) -> Result<Option<Tensor<B, 4>>, ForwardError> {
        let padding = padding_bias(inputs, [batch, seq])?;
        let relative = self.relative.as_ref().map(|relative| relative.at(0, [seq, seq], inputs));
        Ok(match (padding, relative) {
            (Some(padding), Some(relative)) => Some(padding + relative),
            (padding, relative) => padding.or(relative),
        })
    }
}

impl<B: Ops> Backbone<B> for Encoder<B> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let mut x = self.embeddings.forward(inputs)?;
        if let Some(project) = &self.project {
            x = project.forward(x);
        }
        pass.trace_embed(&x)?;
        let [batch, seq, _] = x.dims();
        let bias = self.bias(inputs, [batch, seq])?;
        for (depth, layer) in self.order.iter().enumerate() {
            x = self.layers[*layer].forward(x, bias.clone());
            pass.trace_layer(depth, &x)?;
        }
        let pooled =
            self.pooler.as_ref().map(|pooler| activate(pooler.forward(first_token(x.clone())), Activation::Tanh));
        Ok(Hidden { last: x, pooled })
    }

    fn max_positions(&self) -> Option<usize> {
        self.embeddings.max_positions()
    }
}

/// Attention and a perceptron, normalised behind each residual sum.
pub(super) struct Layer<B: Ops> {
    attention: SelfAttention<B>,
    attention_norm: LayerNorm<B>,
    feed_forward: FeedForward<B>,
    output_norm: LayerNorm<B>,
}

impl<B: Ops> Layer<B> {
    pub(super) fn load(shape: &LayerShape, names: &LayerNames, w: &Weights<B>) -> Result<Self, WeightsError> {
        let LayerShape { width, heads, inner, eps, .. } = *shape;
        Ok(Self {
            attention: SelfAttention::load(w, &names.attention, &AttentionShape { width, heads, bias: true })?,
            attention_norm: LayerNorm::load(&w.module(names.attention_norm), width, eps)?,
            feed_forward: FeedForward::load(w, [names.up, names.down], [width, inner], shape.activation, true)?,
            output_norm: LayerNorm::load(&w.module(names.output_norm), width, eps)?,
        })
    }

    /// [batch, seq, width].
    fn forward(&self, x: Tensor<B, 3>, bias: Option<Tensor<B, 4>>) -> Tensor<B, 3> {
        let x = self.attention_norm.forward_sum(self.attention.forward(x.clone(), bias), x);
        self.output_norm.forward_sum(self.feed_forward.forward(x.clone()), x)
    }
}
