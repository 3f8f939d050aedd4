//! The encoder of DeBERTa v2: embeddings without padding, disentangled attention, and the
//! convolution beside the first layer.

use crate::capabilities::Capabilities;
use crate::text::{
    backbone::{Backbone, Hidden},
    text_embeddings::{EmbeddingsShape, PositionNumbering, TextEmbeddings},
};
use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{
        Conv1d, Conv1dShape, Disentangled, DisentangledShape, LayerNorm, Linear, Mlp,
        padding_factor, pair_bias,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};

/// The sizes of an encoder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DebertaV2Shape {
    pub(crate) tables: EmbeddingsShape,
    pub(crate) attention: DisentangledShape,
    pub(crate) layers: usize,
    pub(crate) inner: usize,
    pub(crate) activation: Activation,
    pub(crate) eps: f64,
    /// Whether the table of distances is normalised.
    pub(crate) normalised_distances: bool,
    /// The kernel size of the convolution that runs in parallel with the first layer, and the
    /// activation after it.
    pub(crate) convolution: Option<(usize, Activation)>,
}

pub(crate) struct DebertaV2Encoder<B: Ops> {
    embeddings: TextEmbeddings<B>,
    layers: LayerStack<B, DebertaV2Layer<B>>,
    /// [2 * span, width], normalised if configured.
    distances: Option<Tensor<B, 2>>,
    convolution: Option<Convolution<B>>,
}

impl<B: Ops> DebertaV2Encoder<B> {
    pub(crate) fn load(shape: &DebertaV2Shape, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (encoder, width) = (w.module("encoder"), shape.attention.width);
        let embeddings =
            TextEmbeddings::load_projected(shape.tables, PositionNumbering::FromZero, width, w)?;
        // Files may have the table although `position_biased_input` is off; transformers ignores
        // it, too.
        w.mark_unused("embeddings.position_embeddings.weight");
        Ok(Self {
            embeddings,
            layers: LayerStack::load(&encoder.module("layer"), shape.layers, {
                let shape = *shape;
                move |_, w| DebertaV2Layer::load(&shape, w)
            })?,
            distances: distances(shape, &encoder)?,
            convolution: shape
                .convolution
                .map(|convolution| {
                    Convolution::load(convolution, width, shape.eps, &encoder.module("conv"))
                })
                .transpose()?,
        })
    }

    /// The table of words, for a tied head.
    pub(crate) fn words(&self) -> Tensor<B, 2> {
        self.embeddings.words()
    }
}

fn distances<B: Ops>(
    shape: &DebertaV2Shape,
    w: &Weights<B>,
) -> Result<Option<Tensor<B, 2>>, WeightsError> {
    let width = shape.attention.width;
    // Before the return without a table: `DebertaV2Encoder` has the norm in either case, so its
    // weights must count as read.
    let norm = shape
        .normalised_distances
        .then(|| LayerNorm::load(&w.module("LayerNorm"), width, shape.eps))
        .transpose()?;
    let Some(distances) = shape.attention.distances else {
        return Ok(None);
    };
    let table = w.tensor("rel_embeddings.weight", [2 * distances.span(), width])?;
    Ok(Some(match norm {
        Some(norm) => norm.forward(table),
        None => table,
    }))
}

impl<B: Ops> Backbone<B> for DebertaV2Encoder<B> {
    fn hidden(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Hidden<B>, ForwardError> {
        let x = self.embeddings.forward(inputs)?;
        let [batch, seq, _] = x.dims();
        let shown = padding_factor(inputs, [batch, seq])?.map(|shown| shown.cast(x.dtype()));
        // `DebertaV2Embeddings` multiplies by the mask, so that the convolution sees zeros beside a
        // short text.
        let embedded = without_padding(x, shown.as_ref());
        context.trace_embed(&embedded)?;
        let mut shared = (
            self.distances.clone(),
            pair_bias(inputs, [batch, seq])?,
            inputs.clone(),
        );
        let last = self
            .layers
            .fold(context, embedded.clone(), &mut shared, |x, at, context| {
                let (distances, bias, inputs) = at.shared;
                let mut x = at
                    .layer
                    .forward(x, distances.as_ref(), bias.clone(), inputs);
                // `DebertaV2Encoder` applies it after the first layer only, to the embeddings; the
                // first layer is on the model's device.
                if let Some(convolution) = self.convolution.as_ref().filter(|_| at.depth == 0) {
                    x = convolution.forward(embedded.clone(), x, shown.as_ref());
                }
                context.trace_layer(at.depth, &x)?;
                Ok(x)
            })?;
        Ok(Hidden { last, pooled: None })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_positions: self.embeddings.max_positions(),
            ..Capabilities::default()
        }
    }
}

fn without_padding<B: Ops>(x: Tensor<B, 3>, shown: Option<&Tensor<B, 3>>) -> Tensor<B, 3> {
    match shown {
        Some(shown) => x * shown.clone(),
        None => x,
    }
}

/// A convolution of the embeddings, added to the first layer's output and normalised.
struct Convolution<B: Ops> {
    convolution: Conv1d<B>,
    activation: Activation,
    norm: LayerNorm<B>,
}

impl<B: Ops> Convolution<B> {
    fn load(
        (kernel, activation): (usize, Activation),
        width: usize,
        eps: f64,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let shape = Conv1dShape {
            channels: [width; 2],
            kernel,
            stride: 1,
            // Keeps the length: kernels are odd, or the configuration is refused.
            padding: kernel / 2,
            groups: 1,
        };
        Ok(Self {
            convolution: Conv1d::load(&w.module("conv"), shape, true)?,
            activation,
            norm: LayerNorm::load(&w.module("LayerNorm"), width, eps)?,
        })
    }

    /// [batch, seq, width] each.
    fn forward(
        &self,
        embedded: Tensor<B, 3>,
        x: Tensor<B, 3>,
        shown: Option<&Tensor<B, 3>>,
    ) -> Tensor<B, 3> {
        // Padding is set to zero twice, as in `ConvLayer`: the norm makes it other than zero again.
        let near = without_padding(self.convolution.forward(embedded), shown);
        without_padding(
            self.norm.forward_sum(activate(near, self.activation), x),
            shown,
        )
    }
}

struct DebertaV2Layer<B: Ops> {
    attention: Disentangled<B>,
    attention_norm: LayerNorm<B>,
    feed_forward: Mlp<B>,
    output_norm: LayerNorm<B>,
}

impl<B: Ops> DebertaV2Layer<B> {
    fn load(shape: &DebertaV2Shape, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, norm) = (shape.attention.width, |name: &str| {
            LayerNorm::load(&w.module(name), shape.attention.width, shape.eps)
        });
        Ok(Self {
            attention: Disentangled::load(&w.module("attention"), shape.attention)?,
            attention_norm: norm("attention.output.LayerNorm")?,
            feed_forward: Mlp {
                up: Linear::load(&w.module("intermediate.dense"), width, shape.inner)?,
                activation: shape.activation,
                down: Linear::load(&w.module("output.dense"), shape.inner, width)?,
            },
            output_norm: norm("output.LayerNorm")?,
        })
    }

    fn forward(
        &self,
        x: Tensor<B, 3>,
        distances: Option<&Tensor<B, 2>>,
        bias: Option<Tensor<B, 4>>,
        inputs: &Inputs<'_, B>,
    ) -> Tensor<B, 3> {
        let x = self.attention_norm.forward_sum(
            self.attention.forward(x.clone(), distances, bias, inputs),
            x,
        );
        self.output_norm
            .forward_sum(self.feed_forward.forward(x.clone()), x)
    }
}
