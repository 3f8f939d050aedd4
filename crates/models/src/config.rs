//! Reading `config.json`: strict about every field that could change the numbers.
//!
//! A field is read (it is in the model's config struct), inert (transformers does not use it in a
//! forward pass), or an error that names it. What a file leaves out comes from `defaults.json`,
//! which `python/fixtures/defaults.py` extracts from the configuration classes of transformers; no
//! struct defines other defaults.

mod accounting;
mod config_error;
mod config_struct;
mod defaults;
mod file;
mod inert;
mod json;
mod locate;
mod nested;
mod not_finite;
mod parse;
mod relations;
mod sizes;

#[cfg(test)]
pub(crate) use accounting::is_off;
pub use config_error::ConfigError;
pub(crate) use config_struct::{ModelConfig, NestedConfig};
#[cfg(test)]
pub(crate) use defaults::{complete, defaults_of};
pub(crate) use file::{check_dtype, label_count, model_type, saved_class};
#[cfg(test)]
pub(crate) use inert::is_inert;
pub(crate) use json::ImageSize;
pub(crate) use nested::Nested;
pub(crate) use parse::{ParsedConfig, parse};
pub(crate) use relations::{absolute_positions, computed_positions, divides, divides_into_heads};
pub(crate) use sizes::check_sizes;
