//! The encoder and the decoder of BART and its relatives: token and position embeddings, and layers
//! of attention and feed forward that normalise after each sum, or before each part.

mod layer;

pub(crate) use layer::{BartLayer, BartShape, BartVariant};

use super::encoder_decoder::{
    EncoderOutput, HiddenStates, SourceEncoder, TargetDecoder, source_bias,
};
use burn_tensor::{Int, Tensor};
use layer::load_norm;
use testgen_nn::{
    backend::Ops,
    context::{ForwardContext, LayerSlot},
    forward::ForwardError,
    inputs::Inputs,
    layer::{Embedding, LayerNorm, decoder_bias, padding_bias},
    stack::LayerStack,
    weights::{Weights, WeightsError},
};

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

fn missing_ids() -> ForwardError {
    ForwardError::MissingInput {
        name: "decoder_input_ids",
    }
}
