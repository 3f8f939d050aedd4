//! Marian (Junczys-Dowmunt et al. 2018), the translation models of Helsinki-NLP:
//! `transformers.models.marian`. BART without a norm after the embeddings, with fixed positions,
//! and with a vocabulary for each language where they are not shared.

use super::bart::{BartFields, Stacks, language_model, mark_tables, tables};
use crate::{
    config::{ModelConfig, computed_positions},
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
    backend::Ops,
    inputs::put_floats,
    layer::Embedding,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct MarianConfig {
    #[serde(flatten)]
    fields: BartFields,
    max_position_embeddings: usize,
    decoder_vocab_size: Option<usize>,
    share_encoder_decoder_embeddings: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl MarianConfig {
    /// The sizes of the vocabularies.
    fn vocabularies(&self) -> Stacks<usize> {
        let encoder = self.fields.vocab_size;
        let own = self
            .decoder_vocab_size
            // `MarianConfig` reads 0 and null as `vocab_size`.
            .filter(|size| *size > 0 && !self.share_encoder_decoder_embeddings);
        Stacks {
            encoder,
            decoder: own.unwrap_or(encoder),
        }
    }
}

impl ModelConfig for MarianConfig {
    const INERT: &'static [&'static str] = BartFields::INERT;

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        computed_positions(self.max_position_embeddings)?;
        self.fields.validate()
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = vec![(
            "max_position_embeddings",
            "positions are computed; it only limits the length",
        )];
        if !self.fields.tie_word_embeddings {
            fields.push((
                "share_encoder_decoder_embeddings",
                "without tying each stack has a table of its own",
            ));
        }
        if self.share_encoder_decoder_embeddings {
            fields.push(("decoder_vocab_size", "the vocabulary is shared"));
        }
        fields.extend(BartFields::inert_fields(head));
        fields
    }
}

/// `model_type` `marian`.
pub(crate) struct Marian;

impl ModelDef for Marian {
    type Config = MarianConfig;

    fn load<B: Ops>(
        config: &MarianConfig,
        head: Head,
        _: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let network = MarianNetwork {
            fields: &config.fields,
            positions: config.max_position_embeddings,
            vocabularies: config.vocabularies(),
            is_shared: config.share_encoder_decoder_embeddings,
            pre_norm: false,
        };
        network.load(head, w)
    }
}

/// The sizes of a network with fixed positions.
pub(super) struct MarianNetwork<'c> {
    pub(super) fields: &'c BartFields,
    pub(super) positions: usize,
    pub(super) vocabularies: Stacks<usize>,
    /// Whether encoder and decoder have one table of embeddings.
    pub(super) is_shared: bool,
    /// Whether the norms are before each block.
    pub(super) pre_norm: bool,
}

impl MarianNetwork<'_> {
    pub(super) fn load<B: Ops>(&self, head: Head, w: &Weights<B>) -> LoadedNetwork<B> {
        let (fields, base) = (self.fields, w.strip_prefix("model"));
        let variant = BartVariant {
            pre_norm: self.pre_norm,
            embedding_norm: false,
            key_bias: true,
            // `MarianSinusoidalPositionalEmbedding` counts from 0: no row is reserved for padding.
            offset: 0,
        };
        let Stacks { encoder, decoder } = fields.shapes(variant);
        let encoder = self.stack(
            BartShape {
                vocab: self.vocabularies.encoder,
                ..encoder
            },
            false,
            &base,
        )?;
        let decoder = self.stack(
            BartShape {
                vocab: self.vocabularies.decoder,
                ..decoder
            },
            true,
            &base,
        )?;
        // Tables that are not shared are both read, so that no copy is left to account for.
        if self.is_shared {
            mark_tables(&base, fields.tie_word_embeddings);
        }
        let head = match head {
            Head::ConditionalGeneration => {
                // Tied to the decoder's table, not to the encoder's: the vocabularies may differ.
                let shape = [fields.d_model, self.vocabularies.decoder];
                language_model(w, shape, fields.tie_word_embeddings, decoder.embedding())?
            }
            _ => DecoderHead::Base,
        };
        Ok(Box::new(EncoderDecoder {
            encoder,
            decoder,
            head,
        }))
    }

    /// The encoder or the decoder below `base`.
    fn stack<B: Ops>(
        &self,
        shape: BartShape,
        decoder: bool,
        base: &Weights<B>,
    ) -> Result<BartLayers<B>, WeightsError> {
        let w = base.module(if decoder { "decoder" } else { "encoder" });
        // Not by the shared names then: the table of the other stack has other tokens.
        let table = if self.is_shared {
            base.module_named(&tables(decoder))
        } else {
            w.module("embed_tokens")
        };
        let table = Embedding::load(&table, shape.vocab, shape.width)?;
        let positions = positions(self.positions, shape.width, &w)?;
        BartLayers::load(&shape, decoder, table, positions, &w)
    }
}

/// The table [positions, width] that older files have and newer ones leave out: sines in the first
/// half, cosines in the second, of frequencies that fall from 1 to 1 / 10000.
fn positions<B: Ops>(
    count: usize,
    width: usize,
    w: &Weights<B>,
) -> Result<Tensor<B, 2>, WeightsError> {
    const NAME: &str = "embed_positions.weight";
    if w.has(NAME) {
        return w.tensor(NAME, [count, width]);
    }
    let values =
        (0..count).flat_map(|position| (0..width).map(move |column| wave(position, column, width)));
    Ok(put_floats(
        values.collect(),
        [count, width],
        w.device(),
        w.dtype(),
    ))
}

/// The value of a column of the table at a position.
fn wave(position: usize, column: usize, width: usize) -> f32 {
    // The sines come first, one more of them if the width is odd (`sentinel` of transformers).
    let half = width.div_ceil(2);
    let (pair, function): (usize, fn(f64) -> f64) = if column < half {
        (column, f64::sin)
    } else {
        (column - half, f64::cos)
    };
    // In f64 and then rounded, because numpy computes the table of transformers.
    function(position as f64 / 10_000_f64.powf(2.0 * pair as f64 / width as f64)) as f32
}
