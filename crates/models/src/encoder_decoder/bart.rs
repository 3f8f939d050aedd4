//! BART (Lewis et al. 2019): `transformers.models.bart`.

use crate::{
    config::{ModelConfig, divides},
    model_def::{LoadedNetwork, ModelDef},
    text::{
        bart_layers::{BartLayers, BartShape, BartVariant},
        encoder_decoder::{DecoderHead, EncoderDecoder},
    },
};
use burn_tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    layer::{Embedding, Linear},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The common fields of BART, Marian and PEGASUS configurations.
#[derive(Debug, Deserialize)]
pub(crate) struct BartFields {
    pub(crate) vocab_size: usize,
    encoder_layers: usize,
    encoder_ffn_dim: usize,
    encoder_attention_heads: usize,
    decoder_layers: usize,
    decoder_ffn_dim: usize,
    decoder_attention_heads: usize,
    activation_function: Activation,
    pub(crate) d_model: usize,
    scale_embedding: bool,
    pub(crate) tie_word_embeddings: bool,
}

impl BartFields {
    /// Fields of both types about training and generation, redundant fields, and options that
    /// transformers dropped because every released model of a type has the same.
    pub(crate) const INERT: &'static [&'static str] = &[
        "_num_labels",
        "decoder_layerdrop",
        "encoder_layerdrop",
        "extra_pos_embeddings",
        "force_bos_token_to_be_generated",
        "init_std",
        "is_encoder_decoder",
        "normalize_embedding",
        "replacing_rate",
        "save_step",
        "static_position_embeddings",
    ];

    pub(crate) fn validate(&self) -> Result<(), String> {
        let (encoder, decoder) = (self.encoder_attention_heads, self.decoder_attention_heads);
        divides("d_model", self.d_model, "encoder_attention_heads", encoder)?;
        divides("d_model", self.d_model, "decoder_attention_heads", decoder)
    }

    pub(crate) fn inert_fields(head: Head) -> Option<(&'static str, &'static str)> {
        let tied = (
            "tie_word_embeddings",
            "only language models have a decoder to tie",
        );
        (head != Head::ConditionalGeneration).then_some(tied)
    }

    pub(crate) fn shapes(&self, variant: BartVariant) -> Stacks<BartShape> {
        let scale = if self.scale_embedding {
            // In f64, like Python's `math.sqrt`; the product is rounded once.
            (self.d_model as f64).sqrt()
        } else {
            1.0
        };
        let shape = |heads, layers, inner| BartShape {
            width: self.d_model,
            heads,
            layers,
            inner,
            vocab: self.vocab_size,
            activation: self.activation_function,
            scale,
            variant,
        };
        Stacks {
            encoder: shape(
                self.encoder_attention_heads,
                self.encoder_layers,
                self.encoder_ffn_dim,
            ),
            decoder: shape(
                self.decoder_attention_heads,
                self.decoder_layers,
                self.decoder_ffn_dim,
            ),
        }
    }
}

/// Something that encoder and decoder have one of each.
pub(crate) struct Stacks<T> {
    pub(crate) encoder: T,
    pub(crate) decoder: T,
}

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct BartConfig {
    #[serde(flatten)]
    pub(crate) fields: BartFields,
    pub(crate) max_position_embeddings: usize,
    eos_token_id: i64,
    decoder_start_token_id: i64,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for BartConfig {
    const INERT: &'static [&'static str] = BartFields::INERT;

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = vec![];
        if ![Head::SequenceClassification, Head::QuestionAnswering].contains(&head) {
            fields.push((
                "decoder_start_token_id",
                "only without `decoder_input_ids` the input is shifted",
            ));
        }
        if head != Head::SequenceClassification {
            fields.push(("eos_token_id", "only classification looks for it"));
        }
        fields.extend(BartFields::inert_fields(head));
        fields
    }
}

/// `model_type` `bart`.
pub(crate) struct Bart;

/// Learned positions count from 2, as in fairseq, where 0 and 1 were padding.
const VARIANT: BartVariant = BartVariant {
    pre_norm: false,
    embedding_norm: true,
    key_bias: true,
    offset: 2,
};

impl ModelDef for Bart {
    type Config = BartConfig;

    fn load<B: Ops>(
        config: &BartConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let (fields, width) = (&config.fields, config.fields.d_model);
        let Stacks {
            encoder,
            mut decoder,
        } = stacks(config, &w.strip_prefix("model"))?;
        // For every head: `BartModel` shifts the ids if there are none for the decoder.
        decoder.shifted_start = Some(config.decoder_start_token_id);
        let head = match head {
            Head::ConditionalGeneration => language_model(
                w,
                [width, fields.vocab_size],
                fields.tie_word_embeddings,
                encoder.embedding(),
            )?,
            Head::QuestionAnswering => {
                DecoderHead::Span(Linear::load(&w.module("qa_outputs"), width, 2)?)
            }
            Head::SequenceClassification => {
                let w = w.module("classification_head");
                DecoderHead::Classification {
                    dense: Linear::load(&w.module("dense"), width, width)?,
                    out: Linear::load(&w.module("out_proj"), width, labels)?,
                    // The state at the last end-of-sequence token is classified, as
                    // `BartForSequenceClassification` does.
                    end: config.eos_token_id,
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

/// The encoder and the decoder below `base`.
fn stacks<B: Ops>(
    config: &BartConfig,
    base: &Weights<B>,
) -> Result<Stacks<BartLayers<B>>, WeightsError> {
    let (fields, width) = (&config.fields, config.fields.d_model);
    let stack = |shape: &BartShape, decoder| -> Result<BartLayers<B>, WeightsError> {
        let table = Embedding::load(
            &base.module_named(&tables(decoder)),
            fields.vocab_size,
            width,
        )?;
        let w = base.module(if decoder { "decoder" } else { "encoder" });
        // `BartLearnedPositionalEmbedding` adds the offset to the size of its table.
        let rows = config.max_position_embeddings + VARIANT.offset;
        BartLayers::load(
            shape,
            decoder,
            table,
            w.tensor("embed_positions.weight", [rows, width])?,
            &w,
        )
    };
    let shapes = fields.shapes(VARIANT);
    let stacks = Stacks {
        encoder: stack(&shapes.encoder, false)?,
        decoder: stack(&shapes.decoder, true)?,
    };
    // A file may have the shared table under all three names.
    mark_tables(base, fields.tie_word_embeddings);
    Ok(stacks)
}

/// A BART that is a part of another model.
pub(crate) struct Generator<B: Ops> {
    pub(crate) encoder: BartLayers<B>,
    pub(crate) decoder: BartLayers<B>,
    pub(crate) lm_head: Linear<B>,
}

impl<B: Ops> Generator<B> {
    pub(crate) fn load(config: &BartConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let fields = &config.fields;
        // Without a start token to shift: RAG always passes the ids of the decoder.
        let Stacks { encoder, decoder } = stacks(config, &w.strip_prefix("model"))?;
        let shape = [fields.d_model, fields.vocab_size];
        let lm_head = lm_head(w, shape, fields.tie_word_embeddings, encoder.embedding())?;
        Ok(Self {
            encoder,
            decoder,
            lm_head,
        })
    }
}

/// The names that the token embeddings of a stack may have.
pub(crate) fn tables(decoder: bool) -> [&'static str; 3] {
    // If nothing is tied, a stack has its own embeddings; else files keep those that encoder and
    // decoder share under one of these names.
    let [own, other] = ["encoder.embed_tokens", "decoder.embed_tokens"];
    if decoder {
        [other, "shared", own]
    } else {
        [own, "shared", other]
    }
}

/// Counts the tables that no stack reads.
pub(crate) fn mark_tables<B: Ops>(base: &Weights<B>, tied: bool) {
    for table in tables(true).map(|name| base.module(name)) {
        // Where they are tied, these are copies.
        if tied {
            table.mark_tied("weight")
        } else {
            table.mark_unused("weight")
        }
    }
}

/// The head over [`lm_head`].
pub(crate) fn language_model<B: Ops>(
    w: &Weights<B>,
    shape: [usize; 2],
    tied: bool,
    embedding: Tensor<B, 2>,
) -> Result<DecoderHead<B>, WeightsError> {
    Ok(DecoderHead::LanguageModel {
        head: lm_head(w, shape, tied, embedding)?,
        scale: 1.0,
    })
}

/// `lm_head`, or the embedding if it is tied, with `final_logits_bias` [1, vocab] if there is one.
fn lm_head<B: Ops>(
    w: &Weights<B>,
    [width, vocab]: [usize; 2],
    tied: bool,
    embedding: Tensor<B, 2>,
) -> Result<Linear<B>, WeightsError> {
    const BIAS: &str = "final_logits_bias";
    // A buffer: zeros in BART, the bias of the head in Marian, and left out by some files.
    let bias = w
        .has(BIAS)
        .then(|| w.tensor(BIAS, [1, vocab]))
        .transpose()?;
    let bias = bias.map(|bias| bias.reshape([vocab]));
    let w = w.module("lm_head");
    if tied {
        w.mark_tied("weight");
        return Ok(Linear::tied(embedding, bias));
    }
    Ok(Linear::load_with_bias(&w, width, vocab, false)?.with_bias(bias))
}
