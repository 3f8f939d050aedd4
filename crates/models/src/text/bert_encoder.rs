//! The common part of BERT and its relatives: embeddings, and layers that normalise after attention
//! and MLP.
//!
//! Does not own configurations nor heads.

use super::{
    backbone::{Backbone, Hidden},
    text_embeddings::{EmbeddingsShape, TextEmbeddings},
    text_head::{MaskedLm, MaskedLmNames, MaskedLmShape, first_token},
};
use crate::capabilities::Capabilities;
use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{
        AttentionNames, AttentionShape, LayerNorm, Linear, Mlp, RelativeBias, SelfAttention,
        padding_bias,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};

/// The sizes of a layer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BertLayerShape {
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) inner: usize,
    pub(crate) activation: Activation,
    pub(crate) eps: f64,
}

/// The names of a layer's parts.
pub(crate) struct BertLayerNames {
    pub(crate) attention: AttentionNames,
    pub(crate) attention_norm: &'static str,
    pub(crate) up: &'static str,
    pub(crate) down: &'static str,
    pub(crate) output_norm: &'static str,
}

/// The names in BERT.
pub(crate) const BERT: BertLayerNames = BertLayerNames {
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
pub(crate) struct BertEncoder<B: Ops> {
    pub(crate) embeddings: TextEmbeddings<B>,
    /// From the width of the embeddings to the width of the layers, if they differ.
    pub(crate) project: Option<Linear<B>>,
    pub(crate) layers: LayerStack<B, BertLayer<B>>,
    /// Added to the scores of all layers.
    pub(crate) relative: Option<RelativeBias<B>>,
    pub(crate) pooler: Option<Linear<B>>,
}

impl<B: Ops> BertEncoder<B> {
    /// The layers `0`, `1`, ... below `layers`, each taken once, without any of the options.
    pub(crate) fn load(
        embeddings: TextEmbeddings<B>,
        count: usize,
        shape: &BertLayerShape,
        names: &'static BertLayerNames,
        layers: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let shape = *shape;
        Ok(Self {
            embeddings,
            project: None,
            layers: LayerStack::load(layers, count, move |_, w| BertLayer::load(&shape, names, w))?,
            relative: None,
            pooler: None,
        })
    }

    /// A masked language model's head over layers of `width`, as wide before the decoder as the
    /// embeddings.
    pub(crate) fn masked_lm(
        &self,
        width: usize,
        activation: Activation,
        tied: bool,
        names: &MaskedLmNames,
        w: &Weights<B>,
    ) -> Result<MaskedLm<B>, WeightsError> {
        let EmbeddingsShape {
            width: inner,
            vocab,
            eps,
            ..
        } = *self.embeddings.shape();
        let shape = MaskedLmShape {
            width,
            inner,
            vocab,
            activation,
            eps,
            tied,
        };
        MaskedLm::load(w, names, &shape, self.embeddings.words())
    }

    /// The bias that is added to the scores: f32, [batch or 1, 1 or heads, 1 or query, key].
    fn bias(
        &self,
        inputs: &Inputs<'_, B>,
        [batch, seq]: [usize; 2],
    ) -> Result<Option<Tensor<B, 4>>, ForwardError> {
        let padding = padding_bias(inputs, [batch, seq])?;
        let relative = self
            .relative
            .as_ref()
            .map(|relative| relative.at(0, [seq, seq], inputs));
        // Their sum stays finite: next to the smallest f32 a learned bias is rounded away.
        Ok(match (padding, relative) {
            (Some(padding), Some(relative)) => Some(padding + relative),
            (padding, relative) => padding.or(relative),
        })
    }
}

impl<B: Ops> Backbone<B> for BertEncoder<B> {
    fn hidden(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Hidden<B>, ForwardError> {
        let mut x = self.embeddings.forward(inputs)?;
        // Before the trace: the first hidden state of transformers is as wide as the layers.
        if let Some(project) = &self.project {
            x = project.forward(x);
        }
        context.trace_embed(&x)?;
        let [batch, seq, _] = x.dims();
        let mut bias = self.bias(inputs, [batch, seq])?;
        x = self.layers.fold(context, x, &mut bias, |x, at, context| {
            let x = at.layer.forward(x, at.shared.clone());
            context.trace_layer(at.depth, &x)?;
            Ok(x)
        })?;
        let pooled =
            // `BertPooler` takes tanh whatever `hidden_act` is.
            self.pooler.as_ref().map(|pooler| activate(pooler.forward(first_token(x.clone())), Activation::Tanh));
        Ok(Hidden { last: x, pooled })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_positions: self.embeddings.max_positions(),
            ..Capabilities::default()
        }
    }
}

/// Attention and an MLP, normalised after each residual sum.
pub(crate) struct BertLayer<B: Ops> {
    attention: SelfAttention<B>,
    attention_norm: LayerNorm<B>,
    feed_forward: Mlp<B>,
    output_norm: LayerNorm<B>,
}

impl<B: Ops> BertLayer<B> {
    pub(crate) fn load(
        shape: &BertLayerShape,
        names: &BertLayerNames,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let BertLayerShape {
            width,
            heads,
            inner,
            eps,
            ..
        } = *shape;
        Ok(Self {
            attention: SelfAttention::load(
                w,
                &names.attention,
                &AttentionShape {
                    width,
                    heads,
                    bias: true,
                },
            )?,
            attention_norm: LayerNorm::load(&w.module(names.attention_norm), width, eps)?,
            feed_forward: Mlp::load(
                w,
                [names.up, names.down],
                [width, inner],
                shape.activation,
                true,
            )?,
            output_norm: LayerNorm::load(&w.module(names.output_norm), width, eps)?,
        })
    }

    /// [batch, seq, width].
    fn forward(&self, x: Tensor<B, 3>, bias: Option<Tensor<B, 4>>) -> Tensor<B, 3> {
        let x = self
            .attention_norm
            .forward_sum(self.attention.forward(x.clone(), bias), x);
        self.output_norm
            .forward_sum(self.feed_forward.forward(x.clone()), x)
    }
}
