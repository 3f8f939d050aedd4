//! Marian (Junczys-Dowmunt et al. 2018), the translation models of Helsinki-NLP: `transformers.models.marian`. BART without
//! a norm after the embeddings, with fixed positions, and with a vocabulary for each language where they are not shared.

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
        let own = self.decoder_vocab_size.filter(|size| *size > 0 && !self.share_encoder_decoder_embeddings);
        Stacks { encoder, decoder: own.unwrap_or(encoder) }
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
        let mut fields = vec![("max_position_embeddings", "positions are computed; it only limits the length")];
        if !self.fields.tie_word_embeddings {
            fields.push(("share_encoder_decoder_embeddings", "without tying each stack has a table of its own"));
        }
        if self.share_encoder_decoder_embeddings {
            fields.push(("decoder_vocab_size", "the vocabulary is shared"));
        }
        if head != Head::ConditionalGeneration {
            fields.push(("tie_word_embeddings", "only language models have a decoder to tie"));
        }
        fields
    }
}

/// `model_type` `marian`.
pub(crate) struct Marian;

pub(super) const VARIANT: BartVariant =
    BartVariant { pre_norm: false, embedding_norm: false, key_bias: true, offset: 0 };

impl ModelDef for Marian {
    type Config = MarianConfig;

    fn load<B: Ops>(config: &MarianConfig, head: Head, _: usize, w: &Weights<B>) -> LoadedNetwork<B> {
        let (fields, base, vocabularies) = (&config.fields, w.strip_prefix("model"), config.vocabularies());
        let stack = |shape: &BartShape, decoder: bool, vocab: usize| -> Result<BartLayers<B>, WeightsError> {
            let w = base.module(if decoder { "decoder" } else { "encoder" });
            let table = match config.share_encoder_decoder_embeddings {
                true => base.module_named(&tables(decoder)),
                false => w.module("embed_tokens"),
            };
            let table = Embedding::load(&table, vocab, fields.d_model)?;
            let shape = BartShape { vocab, ..*shape };
            let positions = positions(config.max_position_embeddings, fields.d_model, &w)?;
            BartLayers::load(&shape, decoder, table, positions, &w)
        };
        let shapes = fields.shapes(VARIANT);
        let encoder = stack(&shapes.encoder, false, vocabularies.encoder)?;
        let decoder = stack(&shapes.decoder, true, vocabularies.decoder)?;
        if config.share_encoder_decoder_embeddings {
            mark_tables(&base, fields.tie_word_embeddings);
        }
        let head = match head {
            Head::ConditionalGeneration => {
                let shape = [fields.d_model, vocabularies.decoder];
                language_model(w, shape, fields.tie_word_embeddings, decoder.embedding())?
            }
            _ => DecoderHead::Base,
        };
        Ok(Box::new(EncoderDecoder { encoder, decoder, head }))
    }
}

/// The table [positions, width] that older files have and newer ones leave out: sines in the first half, cosines in the
/// second, of frequencies that fall from 1 to 1 / 10000.
pub(super) fn positions<B: Ops>(count: usize, width: usize, w: &Weights<B>) -> Result<Tensor<B, 2>, WeightsError> {
    const NAME: &str = "embed_positions.weight";
    if w.has(NAME) {
        return w.tensor(NAME, [count, width]);
    }
    let half = width.div_ceil(2);
    let value = |position: usize, column: usize| {
        let (pair, function): (usize, fn(f64) -> f64) =
            if column < half { (column, f64::sin) } else { (column - half, f64::cos) };
        // In f64 and then rounded, because numpy computes the table of transformers.
        function(position as f64 / 10_000_f64.powf(2.0 * pair as f64 / width as f64)) as f32
    };
    let values = (0..count).flat_map(|position| (0..width).map(move |column| value(position, column)));
    Ok(put_floats(values.collect(), [count, width], w.device(), w.dtype()))
}
