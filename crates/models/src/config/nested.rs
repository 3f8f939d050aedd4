//! A configuration inside another one, as models of several encoders have them.

use super::{
    accounting,
    config_error::ConfigError,
    config_struct::{ModelConfig, NestedConfig},
    defaults::complete,
};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Map, Value};
use std::ops::Deref;

/// An object of `config.json` that is held to the same rules as the whole file. Its defaults are
/// the defaults of the class of the object; null represents all of them.
#[derive(Debug)]
pub(crate) struct Nested<C> {
    config: C,
    file: Map<String, Value>,
}

impl<C> Deref for Nested<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.config
    }
}

impl<C: ModelConfig> NestedConfig for Nested<C> {
    fn fields(&self) -> Vec<String> {
        accounting::read_fields(C::NESTED_TYPE, &self.config, &self.file)
    }

    fn check(&self, path: &str) -> Result<(), ConfigError> {
        accounting::check(C::NESTED_TYPE, &self.config, &self.file, path)?;
        self.config
            .validate()
            .map_err(|message| ConfigError::Invalid {
                model_type: C::NESTED_TYPE.to_owned(),
                message: format!("{path}: {message}"),
            })
    }
}

impl<'de, C: ModelConfig> Deserialize<'de> for Nested<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = Option::<Map<String, Value>>::deserialize(deserializer)?.unwrap_or_default();
        let completed = complete(C::NESTED_TYPE, &file).map_err(D::Error::custom)?;
        let config = serde_json::from_value(completed).map_err(D::Error::custom)?;
        // With the file as it was: the account of fields is about these, not about the defaults.
        Ok(Self { config, file })
    }
}
