//! The encoder and the decoder of BART and its relatives: token and position embeddings, and layers
//! of attention and feed forward that normalise after each sum, or before each part.

use super::encoder_decoder::{
    EncoderOutput, HiddenStates, SourceEncoder, TargetDecoder, source_bias,
};
use burn_tensor::{Int, Tensor};
use testgen_nn::{
    backend::{Activation, Ops},
    context::{ForwardContext, LayerSlot},
    forward::ForwardError,
    inputs::Inputs,
    layer::{
        AttentionNames, CachedAttention, CachedAttentionShape, Embedding, LayerNorm, Mlp,
        decoder_bias, padding_bias,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};

/// The sizes of one of the two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BartShape {
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) layers: usize,
    pub(crate) inner: usize,
    pub(crate) vocab: usize,
    pub(crate) activation: Activation,
    /// The factor of token embeddings.
    pub(crate) scale: f64,
    pub(crate) variant: BartVariant,
}

/// The properties in which the types differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BartVariant {
    /// Whether a layer normalises before each part, and the stack after its last layer; else after
    /// each sum.
    pub(crate) pre_norm: bool,
    /// Whether embeddings are normalised.
    pub(crate) embedding_norm: bool,
    /// Whether the map to keys has a bias.
    pub(crate) key_bias: bool,
    /// Rows of the position table before the row of position 0.
    pub(crate) offset: usize,
}

/// The epsilon, which every type of the family leaves at PyTorch's default.
const EPS: f64 = 1e-5;

/// The encoder or the decoder.
pub(crate) struct BartLayers<B: Ops> {
    embed_tokens: Embedding<B>,
    /// [offset + positions, width].
    positions: Tensor<B, 2>,
    layernorm_embedding: Option<LayerNorm<B>>,
    layers: LayerStack<B, BartLayer<B>>,
    layer_norm: Option<LayerNorm<B>>,
    vocab: usize,
    scale: f64,
    offset: usize,
    /// The first token of a decoder's input that is the encoder's, shifted by one, or `None` if
    /// that is an error.
    pub(crate) shifted_start: Option<i64>,
}

impl<B: Ops> BartLayers<B> {
    pub(crate) fn load(
        shape: &BartShape,
        decoder: bool,
        embed_tokens: Embedding<B>,
        positions: Tensor<B, 2>,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let BartShape {
            width,
            vocab,
            scale,
            variant,
            ..
        } = *shape;
        Ok(Self {
            embed_tokens,
            positions,
            layernorm_embedding: variant
                .embedding_norm
                .then(|| load_norm("layernorm_embedding", w, width))
                .transpose()?,
            layers: BartLayer::load_all(shape, decoder, w)?,
            layer_norm: variant
                .pre_norm
                .then(|| load_norm("layer_norm", w, width))
                .transpose()?,
            vocab,
            scale,
            offset: variant.offset,
            shifted_start: None,
        })
    }

    /// The table [vocab, width], for a tied head.
    pub(crate) fn embedding(&self) -> Tensor<B, 2> {
        self.embed_tokens.weight()
    }

    fn embed(
        &self,
        ids: Tensor<B, 2, Int>,
        past: usize,
        context: &mut ForwardContext<'_, B>,
    ) -> HiddenStates<B> {
        let seq = ids.dims()[1];
        let tokens = self.embed_tokens.forward(ids);
        // A product with one changes no bit, and would be another pass over the tensor.
        let tokens = if self.scale == 1.0 {
            tokens
        } else {
            tokens * self.scale
        };
        let mut x = tokens + self.positions_at(past, seq)?.unsqueeze::<3>();
        if let Some(norm) = &self.layernorm_embedding {
            x = norm.forward(x);
        }
        context.trace_embed(&x)?;
        Ok(x)
    }

    fn positions_at(&self, past: usize, seq: usize) -> Result<Tensor<B, 2>, ForwardError> {
        let limit = self.limit();
        if past + seq > limit {
            // Checked here, because a slice past the end of the table would panic.
            return Err(ForwardError::OutOfRange {
                name: "position",
                value: (past + seq - 1) as i64,
                limit,
            });
        }
        Ok(self.positions.clone().narrow(0, self.offset + past, seq))
    }

    fn limit(&self) -> usize {
        self.positions.dims()[0] - self.offset
    }

    fn finish(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        match &self.layer_norm {
            Some(norm) => norm.forward(x),
            None => x,
        }
    }

    /// `decoder_input_ids`, else `input_ids` shifted to the right.
    fn target(&self, inputs: &Inputs<'_, B>) -> Result<Tensor<B, 2, Int>, ForwardError> {
        const NAME: &str = "decoder_input_ids";
        // Explicit decoder ids take precedence, as in `BartModel.forward`.
        let Some(start) = self.shifted_start.filter(|_| inputs.host(NAME).is_none()) else {
            return inputs.indices(NAME, self.vocab);
        };
        let ids = inputs.host("input_ids").ok_or_else(missing_ids)?;
        let &[batch, seq] = ids.shape() else {
            return Err(missing_ids());
        };
        let rows = ids.as_integers().ok_or_else(missing_ids)?.chunks(seq);
        let shifted = rows
            // `shift_tokens_right` of transformers.
            .flat_map(|row| std::iter::once(&start).chain(&row[..seq - 1]))
            .copied()
            .collect();
        inputs.checked_indices(NAME, shifted, [batch, seq], self.vocab)
    }
}

impl<B: Ops> SourceEncoder<B> for BartLayers<B> {
    fn encode(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> HiddenStates<B> {
        let x = self.embed(inputs.indices("input_ids", self.vocab)?, 0, context)?;
        let [batch, seq, _] = x.dims();
        let bias = padding_bias(inputs, [batch, seq])?;
        encode_layers(&self.layers, x, bias, context, |x| self.finish(x))
    }
}

/// All layers of an encoder and its final norm; stores the traces.
pub(crate) fn encode_layers<B: Ops>(
    layers: &LayerStack<B, BartLayer<B>>,
    x: Tensor<B, 3>,
    mut bias: Option<Tensor<B, 4>>,
    context: &mut ForwardContext<'_, B>,
    finish: impl FnOnce(Tensor<B, 3>) -> Tensor<B, 3>,
) -> HiddenStates<B> {
    layers.run(
        context,
        x,
        &mut bias,
        |layer, x, bias, _| layer.encode(x, bias.clone()),
        finish,
    )
}

impl<B: Ops> TargetDecoder<B> for BartLayers<B> {
    fn decode(
        &self,
        encoded: EncoderOutput<'_, B>,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> HiddenStates<B> {
        let past = context.past();
        let x = self.embed(self.target(inputs)?, past, context)?;
        let [batch, new, _] = x.dims();
        let bias = decoder_bias(inputs, [batch, new], past)?;
        // Once for all layers, which see the same source.
        let source = source_bias(encoded, batch, inputs, context)?;
        self.layers.run(
            context,
            x,
            &mut (bias, encoded.cloned(), source),
            |layer, x, (bias, encoded, source), LayerSlot { index, context }| {
                let x = layer.attend(x, |x| {
                    Ok(layer
                        .attention
                        .attend_cached(x, bias.clone(), index, context))
                })?;
                let x = layer.cross(x, |attention, x| {
                    attention.attend_cross(x, encoded.as_ref(), source.clone(), index, context)
                })?;
                Ok(layer.feed_forward(x))
            },
            |x| self.finish(x),
        )
    }

    fn layers(&self) -> usize {
        self.layers.depth()
    }

    fn max_positions(&self) -> Option<usize> {
        Some(self.limit())
    }
}

/// Self-attention, in a decoder cross-attention, and an MLP, each with a norm.
pub(crate) struct BartLayer<B: Ops> {
    attention: CachedAttention<B>,
    attention_norm: LayerNorm<B>,
    cross: Option<(CachedAttention<B>, LayerNorm<B>)>,
    mlp: Mlp<B>,
    final_norm: LayerNorm<B>,
    pre_norm: bool,
}

impl<B: Ops> BartLayer<B> {
    /// Those below `layers`.
    pub(crate) fn load_all(
        shape: &BartShape,
        decoder: bool,
        w: &Weights<B>,
    ) -> Result<LayerStack<B, Self>, WeightsError> {
        let shape = *shape;
        LayerStack::load(&w.module("layers"), shape.layers, move |_, w| {
            Self::load(&shape, decoder, w)
        })
    }

    fn load(shape: &BartShape, decoder: bool, w: &Weights<B>) -> Result<Self, WeightsError> {
        let BartShape {
            width,
            heads,
            inner,
            activation,
            variant,
            ..
        } = *shape;
        let head_dim = width / heads;
        // In f64 and rounded once, like Python's `head_dim**-0.5`.
        let scale = (head_dim as f64).powf(-0.5);
        let attention = CachedAttentionShape {
            width,
            heads,
            head_dim,
            bias: true,
            key_bias: variant.key_bias,
            scale,
        };
        let load =
            |name| CachedAttention::load(&w.module(name), &AttentionNames::DEFAULT, &attention);
        let norm = |name| LayerNorm::load(&w.module(name), width, EPS);
        Ok(Self {
            attention: load("self_attn")?,
            attention_norm: norm("self_attn_layer_norm")?,
            cross: decoder
                .then(|| Ok((load("encoder_attn")?, norm("encoder_attn_layer_norm")?)))
                .transpose()?,
            mlp: Mlp::load(w, ["fc1", "fc2"], [width, inner], activation, true)?,
            final_norm: norm("final_layer_norm")?,
            pre_norm: variant.pre_norm,
        })
    }

    /// As a layer of an encoder.
    pub(crate) fn encode(&self, x: Tensor<B, 3>, bias: Option<Tensor<B, 4>>) -> HiddenStates<B> {
        let x = self.attend(x, |x| Ok(self.attention.attend_self(x, bias)))?;
        Ok(self.feed_forward(x))
    }

    fn attend(
        &self,
        x: Tensor<B, 3>,
        part: impl FnOnce(Tensor<B, 3>) -> Result<Tensor<B, 3>, ForwardError>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        self.around(x, &self.attention_norm, part)
    }

    fn cross(
        &self,
        x: Tensor<B, 3>,
        part: impl FnOnce(&CachedAttention<B>, Tensor<B, 3>) -> Result<Tensor<B, 3>, ForwardError>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        match &self.cross {
            Some((attention, norm)) => self.around(x, norm, |x| part(attention, x)),
            None => Ok(x),
        }
    }

    fn feed_forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        match self.pre_norm {
            true => x.clone() + self.mlp.forward(self.final_norm.forward(x)),
            false => self.final_norm.forward_sum(self.mlp.forward(x.clone()), x),
        }
    }

    /// x + part(norm(x)), or norm(x + part(x)).
    fn around(
        &self,
        x: Tensor<B, 3>,
        norm: &LayerNorm<B>,
        part: impl FnOnce(Tensor<B, 3>) -> Result<Tensor<B, 3>, ForwardError>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        match self.pre_norm {
            true => Ok(x.clone() + part(norm.forward(x))?),
            false => Ok(norm.forward_sum(part(x.clone())?, x)),
        }
    }
}

fn load_norm<B: Ops>(
    name: &str,
    w: &Weights<B>,
    width: usize,
) -> Result<LayerNorm<B>, WeightsError> {
    LayerNorm::load(&w.module(name), width, EPS)
}

fn missing_ids() -> ForwardError {
    ForwardError::MissingInput {
        name: "decoder_input_ids",
    }
}
