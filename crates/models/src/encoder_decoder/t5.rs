//! T5 (Raffel et al. 2019) and its successors 1.1 and Flan-T5: `transformers.models.t5`.
//!
//! In f16 transformers keeps the last map of every feed forward in f32 (`_keep_in_fp32_modules`),
//! and with it the sum that the layers add to; in bf16 it does not.

mod block;
mod config;

use super::bart::tables;
use crate::{
    config::ConfigError,
    load_error::LoadError,
    model_def::{LoadedNetwork, ModelDef},
    text::encoder_decoder::{
        DecoderHead, EncoderDecoder, EncoderOnlyModel, EncoderOutput, HiddenStates, SourceEncoder,
        TargetDecoder, source_bias,
    },
};
use block::{T5Block, T5Types};
use burn_tensor::{DType, Tensor};
use config::T5Config;
use testgen_nn::{
    backend::Ops,
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{Embedding, Linear, RelativeBias, RmsNorm, decoder_bias, padding_bias},
    stack::LayerStack,
    weights::Weights,
};
use testgen_types::Head;

/// `model_type` `t5`.
pub(crate) struct T5;

impl ModelDef for T5 {
    type Config = T5Config;

    fn load<B: Ops>(config: &T5Config, head: Head, _: usize, w: &Weights<B>) -> LoadedNetwork<B> {
        let (width, vocab) = (config.d_model, config.vocab_size);
        let encoder = T5Layers::load(
            config,
            Embedding::load(&w.module_named(&tables(false)), vocab, width)?,
            config.num_layers,
            false,
            &w.module("encoder"),
        )?;
        if head == Head::Encoder {
            // A file may have the table under several names, one of which was read.
            tables(false)
                .iter()
                .for_each(|name| w.module(name).mark_tied("weight"));
            return Ok(Box::new(EncoderOnlyModel(encoder)));
        }
        // Older configurations have one number for both stacks.
        let layers = config.num_decoder_layers.unwrap_or(config.num_layers);
        let decoder = T5Layers::load(
            config,
            Embedding::load(&w.module_named(&tables(true)), vocab, width)?,
            layers,
            true,
            &w.module("decoder"),
        )?;
        tables(true)
            .iter()
            .for_each(|name| w.module(name).mark_tied("weight"));
        let head = match head {
            Head::ConditionalGeneration => {
                let w = w.module("lm_head");
                // By the file and not by `tie_word_embeddings`, which older files set for another
                // purpose.
                let head = match w.has("weight") {
                    true => Linear::load_with_bias(&w, width, vocab, false)?,
                    false => Linear::tied(encoder.embed_tokens.weight(), None),
                };
                DecoderHead::LanguageModel {
                    head,
                    // With a tied head T5 scales the decoder's output by d_model**-0.5; 1.1 unties
                    // the head and does not.
                    scale: config.scale(),
                }
            }
            _ => DecoderHead::Base,
        };
        Ok(Box::new(EncoderDecoder {
            encoder,
            decoder,
            head,
        }))
    }
}

/// The encoder or the decoder.
struct T5Layers<B: Ops> {
    embed_tokens: Embedding<B>,
    relative_attention_bias: RelativeBias<B>,
    blocks: LayerStack<B, T5Block<B>>,
    final_layer_norm: RmsNorm<B>,
    vocab: usize,
    types: T5Types,
}

impl<B: Ops> T5Layers<B> {
    fn load(
        config: &T5Config,
        embed_tokens: Embedding<B>,
        layers: usize,
        decoder: bool,
        w: &Weights<B>,
    ) -> Result<Self, LoadError> {
        let product = w.dtype();
        let types = T5Types {
            product,
            sum: if product == DType::F16 {
                DType::F32
            } else {
                product
            },
        };
        // Only the first block has the table; `T5Stack` hands its bias on to the others.
        let bias = w.module("block.0.layer.0.SelfAttention.relative_attention_bias");
        if decoder {
            // Releases before 2.0 saved one that cross-attention never had.
            w.mark_unused("block.0.layer.1.EncDecAttention.relative_attention_bias.weight");
        }
        // In the type of the sum that it reads: in f16 its weight would lose what the sum has kept.
        let norm = w.module("final_layer_norm").in_type(types.sum);
        let feed_forward = config.feed_forward().map_err(invalid)?;
        Ok(Self {
            embed_tokens,
            relative_attention_bias: RelativeBias::load(
                &bias,
                config.buckets(!decoder),
                config.num_heads,
            )?,
            blocks: LayerStack::load(&w.module("block"), layers, {
                let config = config.clone();
                move |_, w| T5Block::load(&config, feed_forward, decoder, types, w)
            })?,
            final_layer_norm: RmsNorm::load(&norm, config.d_model, config.layer_norm_epsilon)?,
            vocab: config.vocab_size,
            types,
        })
    }

    fn embed(
        &self,
        name: &'static str,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let x = self.embed_tokens.forward(inputs.indices(name, self.vocab)?);
        context.trace_embed(&x)?;
        // After the trace, which has the type of the embedding.
        Ok(x.cast(self.types.sum))
    }

    /// Stores the trace of layer `index`; the trace of the last layer is the output of the final
    /// norm.
    fn trace(
        &self,
        index: usize,
        x: &Tensor<B, 3>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        if index + 1 == self.blocks.depth() {
            Ok(())
        } else {
            context.trace_layer(index, &x.clone().cast(self.types.product))
        }
    }

    fn finish(&self, x: Tensor<B, 3>, context: &mut ForwardContext<'_, B>) -> HiddenStates<B> {
        let x = self.final_layer_norm.forward(x).cast(self.types.product);
        // The last hidden state of transformers is the one after the norm.
        context.trace_layer(self.blocks.depth().saturating_sub(1), &x)?;
        Ok(x)
    }
}

impl<B: Ops> SourceEncoder<B> for T5Layers<B> {
    fn encode(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> HiddenStates<B> {
        let x = self.embed("input_ids", inputs, context)?;
        let [batch, seq, _] = x.dims();
        // Once for all blocks, which share the table of the first.
        let distances = self.relative_attention_bias.at(0, [seq, seq], inputs);
        let mut bias = sum(distances, padding_bias(inputs, [batch, seq])?);
        // Not `run`, which would trace the sum in its type.
        let x = self.blocks.fold(context, x, &mut bias, |x, at, context| {
            let (block, bias) = (at.layer, at.shared.clone());
            let seen = block
                .attention
                .attend_self(block.normal(x.clone()), Some(bias));
            // Rounded first, because the products of transformers return their type.
            let x = block.feed_forward(x + seen.cast(self.types.sum));
            self.trace(at.depth, &x, context)?;
            Ok(x)
        })?;
        self.finish(x, context)
    }
}

impl<B: Ops> TargetDecoder<B> for T5Layers<B> {
    fn decode(
        &self,
        encoded: EncoderOutput<'_, B>,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> HiddenStates<B> {
        let x = self.embed("decoder_input_ids", inputs, context)?;
        let ([batch, new, _], past) = (x.dims(), context.past());
        let distances = self
            .relative_attention_bias
            .at(past, [new, past + new], inputs);
        let bias = sum(distances, decoder_bias(inputs, [batch, new], past)?);
        let source = source_bias(encoded, batch, inputs, context)?;
        let mut shared = (bias, encoded.cloned(), source);
        let x = self
            .blocks
            .fold(context, x, &mut shared, |x, at, context| {
                let (block, index, (bias, encoded, source)) = (at.layer, at.depth, at.shared);
                let normal = block.normal(x.clone());
                let seen =
                    block
                        .attention
                        .attend_cached(normal, Some(bias.clone()), index, context);
                let x = block.cross(
                    x + seen.cast(self.types.sum),
                    encoded.as_ref(),
                    source.clone(),
                    index,
                    context,
                )?;
                let x = block.feed_forward(x);
                self.trace(index, &x, context)?;
                Ok(x)
            })?;
        self.finish(x, context)
    }

    fn layers(&self) -> usize {
        self.blocks.depth()
    }

    fn max_positions(&self) -> Option<usize> {
        // Relative positions have no end.
        None
    }
}

fn sum<B: Ops>(distances: Tensor<B, 4>, mask: Option<Tensor<B, 4>>) -> Tensor<B, 4> {
    match mask {
        Some(mask) => distances + mask,
        None => distances,
    }
}

fn invalid(message: String) -> LoadError {
    LoadError::Config(ConfigError::Invalid {
        model_type: "t5".to_owned(),
        message,
    })
}
