//! The declarations of a configuration struct besides its fields.

use super::config_error::ConfigError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use testgen_types::Head;

/// The configuration struct of a model type, with the field names of transformers.
pub(crate) trait ModelConfig: DeserializeOwned {
    /// The type whose defaults count if the struct is nested in another one, for instance
    /// `clip_text_model`.
    const NESTED_TYPE: &'static str = "";

    /// Fields of this type that the forward pass of transformers does not use, beside the fields
    /// that no type uses.
    const INERT: &'static [&'static str] = &[];

    /// The undeclared fields, which serde collects (`#[serde(flatten)]`).
    fn rest(&self) -> &Map<String, Value>;

    /// The configurations inside this one, by the field that holds each.
    fn nested(&self) -> Vec<(&'static str, &dyn NestedConfig)> {
        Vec::new()
    }

    /// Relations between fields; the message names the field.
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }

    /// Fields that are read and yet have no effect in this configuration with this head, with the
    /// reason.
    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let _ = head;
        Vec::new()
    }
}

/// A configuration that another one holds.
pub(crate) trait NestedConfig {
    /// The fields that were read from the file, without the name of the object.
    fn fields(&self) -> Vec<String>;

    /// As for a whole file: no unknown field, and valid relations. `path` is the field that holds
    /// the configuration.
    fn check(&self, path: &str) -> Result<(), ConfigError>;
}
