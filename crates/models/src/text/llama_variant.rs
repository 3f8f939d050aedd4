//! Types that differ from Llama by their configuration only: their fields, and the resulting shape
//! of the decoder.

use super::llama_shape::{LlamaFields, LlamaShape};
use crate::{
    config::ModelConfig,
    model_def::{LoadedNetwork, ModelDef},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use testgen_nn::{backend::Ops, weights::Weights};
use testgen_types::Head;

/// The `config.json` of such a type.
pub(crate) trait LlamaVariant: DeserializeOwned {
    /// See [`ModelConfig::NESTED_TYPE`].
    const NESTED_TYPE: &'static str = "";
    /// See [`ModelConfig::INERT`].
    const INERT: &'static [&'static str] = &[];

    /// The fields of every such type, and [`ModelConfig::rest`].
    fn parts(&self) -> (&LlamaFields, &Map<String, Value>);

    /// Its changes to Llama's decoder.
    fn shape(&self) -> LlamaShape;

    /// See [`ModelConfig::validate`].
    fn validate(&self) -> Result<(), String> {
        self.parts().0.validate()
    }

    /// See [`ModelConfig::inert_fields`].
    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        self.parts().0.inert_fields(head)
    }
}

impl<V: LlamaVariant> ModelConfig for V {
    const NESTED_TYPE: &'static str = V::NESTED_TYPE;
    const INERT: &'static [&'static str] = V::INERT;

    fn rest(&self) -> &Map<String, Value> {
        self.parts().1
    }

    fn validate(&self) -> Result<(), String> {
        LlamaVariant::validate(self)
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        LlamaVariant::inert_fields(self, head)
    }
}

impl<V: LlamaVariant> ModelDef for V {
    type Config = V;

    fn load<B: Ops>(config: &V, head: Head, labels: usize, w: &Weights<B>) -> LoadedNetwork<B> {
        config.shape().load(config.parts().0, head, labels, w)
    }
}
