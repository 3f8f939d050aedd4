//! PEGASUS (Zhang et al. 2020): `transformers.models.pegasus`. Marian with one vocabulary, and norms before each block and after
//! the last one.

use super::{
    bart::{BartFields, language_model, mark_tables, tables},
    marian::{VARIANT, positions},
};
use crate::{
    config::{ModelConfig, computed_positions},
    model_def::{LoadedNetwork, ModelDef},
    text::{
        bart_layers::{BartLayers, BartShape, BartVariant},
        encoder_decoder::{DecoderHead, EncoderDecoder},
    },
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::Ops,
    layer::Embedding,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json` of `model_type` `pegasus`.
#[derive(Debug, Deserialize)]
pub(crate) struct Pegasus {
    #[serde(flatten)]
    fields: BartFields,
    max_position_embeddings: usize,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for Pegasus {
    /// Of BART's, what files of this type have; and two options that are always on.
    const INERT: &'static [&'static str] = &[
        "add_final_layer_norm",
        "decoder_layerdrop",
        "encoder_layerdrop",
        "extra_pos_embeddings",
        "init_std",
        "is_encoder_decoder",
        "normalize_before",
        "num_hidden_layers",
        "static_position_embeddings",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        computed_positions(self.max_position_embeddings)?;
        self.fields.validate()
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = vec![("max_position_embeddings", "positions are computed; it only limits the length")];
        if head != Head::ConditionalGeneration {
            fields.push(("tie_word_embeddings", "only language models have a decoder to tie"));
        }
        fields
    }
}

impl ModelDef for Pegasus {
    type Config = Self;

    fn load<B: Ops>(config: &Self, head: Head, _: usize, w: &Weights<B>) -> LoadedNetwork<B> {
        let (fields, base) = (&config.fields, w.strip_prefix("model"));
        let [vocab, width] = [fields.vocab_size, fields.d_model];
        let stack = |shape: &BartShape, decoder: bool| -> Result<BartLayers<B>, WeightsError> {
            let w = base.module(if decoder { "decoder" } else { "encoder" });
            let table = Embedding::load(&base.module_named(&tables(decoder)), vocab, width)?;
            let positions = positions(config.max_position_embeddings, width, &w)?;
            BartLayers::load(shape, decoder, table, positions, &w)
        };
        let shapes = fields.shapes(BartVariant { pre_norm: true, ..VARIANT });
        let (encoder, decoder) = (stack(&shapes.encoder, false)?, stack(&shapes.decoder, true)?);
        mark_tables(&base, fields.tie_word_embeddings);
        let head = match head {
            Head::ConditionalGeneration => {
                language_model(w, [width, vocab], fields.tie_word_embeddings, decoder.embedding())?
            }
            _ => DecoderHead::Base,
        };
        Ok(Box::new(EncoderDecoder { encoder, decoder, head }))
    }
}
