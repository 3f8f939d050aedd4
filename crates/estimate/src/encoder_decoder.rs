//! Encoder-decoders of text: BART, Marian, Pegasus and T5.

use crate::{
    call::NetworkCall,
    config::TIED,
    elementwise::ActivationMemory,
    error::EstimateError,
    layers::{Attention, MlpKind, NormKind},
    product::ProjectionMatrix,
    tensor::{AllocatedTensor, ElementType},
    text_head::vocabulary,
};
use testgen_types::{Head, ModelType};

/// One of the two stacks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stack {
    pub(crate) layers: u64,
    attention: Attention,
    mlp: MlpKind,
    norm: NormKind,
    /// Whether norms come before attention and MLP.
    before: bool,
    /// Whether embeddings are normalised.
    embedding_norm: bool,
    /// Whether positions are a bias for each head instead of a table.
    relative: bool,
    /// The type of the sums, which is wider than the type of the products in T5 with f16.
    sum: ElementType,
}

/// Encodes `tokens` tokens and decodes as many.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let t5 = call.model_type == ModelType::T5;
    let [encoder, decoder] = if t5 {
        t5_stacks(call)?
    } else {
        call.within(call.config.size("max_position_embeddings")?)?;
        bart_stacks(call, call.model_type == ModelType::Pegasus)?
    };
    let width = call.config.size("d_model")?;
    let encoded = encoder.encode(call, None);
    if call.head == Head::Encoder {
        call.output(encoded);
        return Ok(());
    }
    let hidden = decoder.decode(call, &encoded, None);
    match call.head {
        Head::ConditionalGeneration => {
            let tied = call.config.flag(TIED);
            let logits = vocabulary([width, decoder_vocab(call)?], tied).forward(hidden);
            call.output(logits);
        }
        Head::Base => call.output(hidden),
        head => {
            let out = if head == Head::QuestionAnswering {
                2
            } else {
                call.labels
            };
            call.output(ProjectionMatrix::linear(width, out, true).forward(hidden));
        }
    }
    call.output(encoded);
    Ok(())
}

/// Marian's decoder may have another vocabulary than its encoder.
fn decoder_vocab(call: &NetworkCall<'_>) -> Result<u64, EstimateError> {
    let config = call.config;
    let is_shared = config.flag("share_encoder_decoder_embeddings");
    match config.size_if_set("decoder_vocab_size") {
        Ok(Some(vocab)) if !is_shared => Ok(vocab),
        // `MarianConfig` reads 0 and null as `vocab_size`, too.
        _ => config.size("vocab_size"),
    }
}

/// The stacks of BART and its relatives; `before`: with norms before attention and MLP.
pub(crate) fn bart_stacks(
    call: &NetworkCall<'_>,
    before: bool,
) -> Result<[Stack; 2], EstimateError> {
    let config = call.config;
    let width = config.size("d_model")?;
    let activation = ActivationMemory::named(config.text("activation_function"));
    let stack = |layers: &str, heads: &str, inner: &str| -> Result<Stack, EstimateError> {
        Ok(Stack {
            layers: call.layers(layers)?,
            attention: Attention::new(width, config.size(heads)?, true),
            mlp: MlpKind::plain([width, config.size(inner)?], activation, true),
            norm: NormKind::Layer,
            before,
            // `layernorm_embedding`, which Marian, Pegasus and Whisper do not have.
            embedding_norm: call.model_type == ModelType::Bart,
            relative: false,
            sum: call.machine.element,
        })
    };
    Ok([
        stack(
            "encoder_layers",
            "encoder_attention_heads",
            "encoder_ffn_dim",
        )?,
        stack(
            "decoder_layers",
            "decoder_attention_heads",
            "decoder_ffn_dim",
        )?,
    ])
}

fn t5_stacks(call: &NetworkCall<'_>) -> Result<[Stack; 2], EstimateError> {
    let config = call.config;
    let (width, heads, inner) = (
        config.size("d_model")?,
        config.size("num_heads")?,
        config.size("d_ff")?,
    );
    let projection = config.text("feed_forward_proj");
    let gated = projection.starts_with("gated-");
    let name = projection.trim_start_matches("gated-");
    // transformers takes the approximation for this name.
    let activation = ActivationMemory::named(if projection == "gated-gelu" {
        "gelu_new"
    } else {
        name
    });
    let element = call.machine.element;
    let encoder = Stack {
        layers: call.layers("num_layers")?,
        attention: Attention {
            width,
            heads,
            inner: heads * config.size("d_kv")?,
            bias: false,
        },
        mlp: match gated {
            true => MlpKind::gated([width, inner], false, activation),
            false => MlpKind::plain([width, inner], activation, false),
        },
        norm: NormKind::Rms,
        before: true,
        embedding_norm: false,
        relative: true,
        // transformers keeps `wo` in f32 when the model is in f16.
        sum: if element == ElementType::F16 {
            ElementType::F32
        } else {
            element
        },
    };
    let layers = match config.size_if_set("num_decoder_layers")? {
        Some(_) => call.layers("num_decoder_layers")?,
        // transformers takes the encoder's number.
        None => encoder.layers,
    };
    Ok([encoder, Stack { layers, ..encoder }])
}

impl Stack {
    fn embed(&self, call: &NetworkCall<'_>, width: u64) -> AllocatedTensor {
        let tokens = call.empty(&[call.batch, call.tokens, width]);
        if self.relative {
            // T5 has positions in the scores only; its residual sum begins here, in f32 if the
            // model is in f16.
            return tokens.cast(self.sum);
        }
        let positions = call.empty(&[1, call.tokens, width]);
        let sum = tokens.combine(positions);
        if self.embedding_norm {
            sum.layer_norm()
        } else {
            sum
        }
    }

    /// `hidden` hides padding.
    pub(crate) fn encode(
        &self,
        call: &NetworkCall<'_>,
        hidden: Option<&AllocatedTensor>,
    ) -> AllocatedTensor {
        let mut x = self.embed(call, self.attention.width);
        // Only RAG hides padding, and its generator is a BART, which has no distances.
        let bias = self.distances(call).or_else(|| hidden.cloned());
        for _ in 0..self.layers {
            x = self.encode_layer(x, bias.as_ref());
        }
        self.finish(x, call)
    }

    /// One layer of an encoder.
    pub(crate) fn encode_layer(
        &self,
        x: AllocatedTensor,
        bias: Option<&AllocatedTensor>,
    ) -> AllocatedTensor {
        let x = self.add(x, |x| {
            let new = self.attention.keys_values(&x);
            self.attention.over(x, new, bias.cloned())
        });
        self.add(x, |x| self.mlp.forward_wide(x, self.sum))
    }

    pub(crate) fn decode(
        &self,
        call: &mut NetworkCall<'_>,
        encoded: &AllocatedTensor,
        source: Option<AllocatedTensor>,
    ) -> AllocatedTensor {
        let width = self.attention.width;
        let mut x = self.embed(call, width);
        let causal = call.causal_bias(call.tokens);
        let bias = match (self.distances(call), causal) {
            (Some(distances), Some(causal)) => Some(distances.combine(causal)),
            (distances, causal) => distances.or(causal),
        };
        for _ in 0..self.layers {
            x = self.add(x, |x| {
                let new = call.with_past(self.attention.keys_values(&x));
                self.attention.over(x, new, bias.clone())
            });
            x = self.add(x, |x| {
                // Kept, too: the keys of encoded tokens are the same in every step.
                let memory = call.with_past(self.attention.keys_values(encoded));
                self.attention.over(x, memory, source.clone())
            });
            x = self.add(x, |x| self.mlp.forward_wide(x, self.sum));
        }
        self.finish(x, call)
    }

    fn distances(&self, call: &NetworkCall<'_>) -> Option<AllocatedTensor> {
        self.relative
            .then(|| call.single(&[1, self.attention.heads, call.tokens, call.tokens]))
    }

    /// x + part(norm(x)), or norm(x + part(x)).
    fn add(
        &self,
        x: AllocatedTensor,
        part: impl FnOnce(AllocatedTensor) -> AllocatedTensor,
    ) -> AllocatedTensor {
        if !self.before {
            return part(x.clone()).add_layer_norm(x);
        }
        let normal = self.norm.forward(x.clone()).cast(x.machine().element);
        x.combine(part(normal).cast(self.sum))
    }

    pub(crate) fn finish(&self, x: AllocatedTensor, call: &NetworkCall<'_>) -> AllocatedTensor {
        if self.before {
            self.norm.forward(x).cast(call.machine.element)
        } else {
            x
        }
    }
}
