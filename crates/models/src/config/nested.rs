//! A configuration inside another one, as models of several encoders have them.

use super::{Config, Parsed, parse};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;
use std::ops::Deref;

/// An object of `config.json` that is held to the same rules as the whole file, with the names of the fields in it.
#[derive(Debug)]
pub(crate) struct Nested<C> {
    config: C,
    fields: Vec<String>,
}

impl<C> Nested<C> {
    /// The fields that were read from the file, without the name of the object.
    pub(crate) fn fields(&self) -> &[String] {
        &self.fields
    }
}

impl<C> Deref for Nested<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.config
    }
}

impl<C: Config> Nested<C> {
    fn read(value: &Value) -> Result<Self, String> {
        if !value.is_object() {
            return Err(format!("a nested configuration is `{value}`, not an object"));
        }
        let Parsed { config, fields } = parse::<C>(value).map_err(|error| error.to_string())?;
        Ok(Self { config, fields })
    }
}

impl<'de, C: Config> Deserialize<'de> for Nested<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Option::<Value>::deserialize(deserializer)?;
        Self::read(&value.unwrap_or_else(|| Value::Object(serde_json::Map::new()))).map_err(D::Error::custom)
    }
}

impl<C: Config> Default for Nested<C> {
    fn default() -> Self {
        Self::read(&Value::Object(serde_json::Map::new())).expect("the defaults of a type are a configuration of it")
    }
}
