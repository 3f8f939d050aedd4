//! PEGASUS (Zhang et al. 2020): `transformers.models.pegasus`. Marian with one vocabulary, and
//! norms before each block and after the last one.

use super::{
    bart::{BartFields, Stacks},
    marian::MarianNetwork,
};
use crate::{
    config::{ModelConfig, computed_positions},
    model_def::{LoadedNetwork, ModelDef},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{backend::Ops, weights::Weights};
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
        let mut fields = vec![(
            "max_position_embeddings",
            "positions are computed; it only limits the length",
        )];
        fields.extend(BartFields::inert_fields(head));
        fields
    }
}

impl ModelDef for Pegasus {
    type Config = Self;

    fn load<B: Ops>(config: &Self, head: Head, _: usize, w: &Weights<B>) -> LoadedNetwork<B> {
        let vocab = config.fields.vocab_size;
        let network = MarianNetwork {
            fields: &config.fields,
            positions: config.max_position_embeddings,
            vocabularies: Stacks {
                encoder: vocab,
                decoder: vocab,
            },
            // No field as in Marian: `PegasusModel` always has one table.
            is_shared: true,
            // `PegasusEncoderLayer` never reads `normalize_before`.
            pre_norm: true,
        };
        network.load(head, w)
    }
}
