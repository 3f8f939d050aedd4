//! A configuration inside another one, as models of several towers have them.

use super::{Config, Parsed, parse};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;
use std::ops::Deref;

/// A configuration of which files may hold as little as `{}`.
pub(crate) trait WithDefaults: Config {
    /// The values of the fields that a file leaves out, as transformers has them.
    fn defaults() -> Value;
}

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

impl<C: WithDefaults> Nested<C> {
    fn read(value: &Value) -> Result<Self, String> {
        let mut whole = C::defaults();
        let (Some(object), Some(given)) = (whole.as_object_mut(), value.as_object()) else {
            return Err(format!("a nested configuration is `{value}`, not an object"));
        };
        given.iter().for_each(|(name, value)| drop(object.insert(name.clone(), value.clone())));
        let Parsed { config, mut fields } = parse::<C>(&whole).map_err(|error| error.to_string())?;
        fields.retain(|field| given.contains_key(field));
        Ok(Self { config, fields })
    }
}

impl<'de, C: WithDefaults> Deserialize<'de> for Nested<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Option::<Value>::deserialize(deserializer)?;
        Self::read(&value.unwrap_or_else(|| Value::Object(serde_json::Map::new()))).map_err(D::Error::custom)
    }
}

impl<C: WithDefaults> Default for Nested<C> {
    fn default() -> Self {
        Self::read(&Value::Object(serde_json::Map::new())).expect("the defaults of a type are a configuration of it")
    }
}
