//! Reading `config.json`: strict about every field that could change the numbers.
//!
//! A field is read (it is in the model's config struct), inert (transformers does not use it in a forward pass), or an
//! error that names it. Nothing is ignored because nobody thought of it.

mod inert;
mod json;
mod nested;
mod not_finite;

pub(crate) use json::ImageSize;
pub(crate) use nested::Nested;

use inert::is_inert;
use not_finite::not_finite;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::path::PathBuf;
use testgen_types::Head;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is not there or not readable.
    #[error("cannot read `{path}`: {message}; a checkpoint directory has a config.json as `save_pretrained` writes it")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        message: String,
    },
    /// The file is not JSON.
    #[error("`{path}` is not JSON: {message}")]
    NotJson {
        /// The file.
        path: PathBuf,
        /// What the parser said.
        message: String,
    },
    /// A field has a value that this model type cannot have.
    #[error("config.json of a `{model_type}`: {message}")]
    Invalid {
        /// The type in `config.json`.
        model_type: String,
        /// The field and what is wrong with it.
        message: String,
    },
    /// A field that may change the numbers and that the model code does not know.
    #[error(
        "config.json of a `{model_type}` has `{field}` = {value}, which is not supported and may change the numbers; \
         null and false are taken as off"
    )]
    UnsupportedField {
        /// The type in `config.json`.
        model_type: String,
        /// The field.
        field: String,
        /// Its value, shortened.
        value: String,
    },
}

/// The configuration struct of a model type, with Hugging Face's field names and defaults.
pub(crate) trait Config: DeserializeOwned {
    /// Fields of this type that the forward pass of transformers does not use, beside those that no type uses.
    const INERT: &'static [&'static str] = &[];

    /// Values of fields that a file may leave out, where they differ from those of the structs that this one flattens; all of
    /// them where the configuration is nested in another, because files hold as little as `{}` of those.
    fn defaults() -> Value {
        Value::Null
    }

    /// What no field declares and serde keeps (`#[serde(flatten)]`).
    fn rest(&self) -> &Map<String, Value>;

    /// The configurations inside this one: the field that holds each, and the fields that were read from it.
    fn nested(&self) -> Vec<(&'static str, &[String])> {
        Vec::new()
    }

    /// Relations between fields; the message names the field.
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }

    /// Fields that are read and yet have no effect in this configuration with this head, with the reason.
    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let _ = head;
        Vec::new()
    }
}

/// A configuration and the names of the fields that were read from the file.
#[derive(Debug)]
pub(crate) struct Parsed<C> {
    pub(crate) config: C,
    pub(crate) fields: Vec<String>,
}

/// Reads the fields of `C` and accounts for all others.
pub(crate) fn parse<C: Config>(value: &Value) -> Result<Parsed<C>, ConfigError> {
    let model_type = model_type(value).to_owned();
    let invalid = |message| ConfigError::Invalid { model_type: model_type.clone(), message };
    let unread = |error: serde_json::Error| {
        let infinite = not_finite(value).into_iter().map(|(field, name)| format!("; `{field}` is {name}, not finite"));
        invalid(format!("{error}{}", infinite.collect::<String>()))
    };
    let config: C = serde_json::from_value(with_defaults::<C>(value)).map_err(unread)?;
    for (field, value) in config.rest() {
        let off = matches!(value, Value::Null | Value::Bool(false)) || is_empty(value);
        if !off && !is_inert(field) && !C::INERT.contains(&field.as_str()) {
            let value = value.to_string().chars().take(80).collect();
            return Err(ConfigError::UnsupportedField { model_type, field: field.clone(), value });
        }
    }
    config.validate().map_err(invalid)?;
    let object = value.as_object().into_iter().flat_map(Map::keys);
    let fields = object.filter(|field| !config.rest().contains_key(*field)).cloned().collect();
    let fields = with_nested(fields, &config);
    Ok(Parsed { config, fields })
}

fn with_defaults<C: Config>(value: &Value) -> Value {
    let mut value = value.clone();
    if let (Some(fields), Value::Object(defaults)) = (value.as_object_mut(), C::defaults()) {
        for (field, default) in defaults {
            fields.entry(field).or_insert(default);
        }
    }
    value
}

/// The fields of nested configurations as `outer.inner` in place of the fields that hold them.
fn with_nested<C: Config>(fields: Vec<String>, config: &C) -> Vec<String> {
    let nested = config.nested();
    let (holders, mut fields): (Vec<String>, Vec<String>) =
        fields.into_iter().partition(|field| nested.iter().any(|(name, _)| name == field));
    for (name, inner) in nested.iter().filter(|(name, _)| holders.iter().any(|holder| holder == name)) {
        fields.extend(inner.iter().map(|field| format!("{name}.{field}")));
    }
    fields.sort();
    fields
}

/// The field that names the class of a model of diffusers, which has no `model_type`.
const DIFFUSERS_CLASS: &str = "_class_name";

/// The `model_type` of a configuration, or the class of diffusers; empty where there is none.
pub(crate) fn model_type(value: &Value) -> &str {
    let name = value.get("model_type").or_else(|| value.get(DIFFUSERS_CLASS));
    name.and_then(Value::as_str).unwrap_or_default()
}

/// The first of `architectures`: the transformers class that saved the checkpoint.
pub(crate) fn saved_class(value: &Value) -> Option<&str> {
    value.get("architectures").and_then(|names| names.get(0)).or_else(|| value.get(DIFFUSERS_CLASS))?.as_str()
}

/// The number of labels of a classification head: that of `id2label`, else `num_labels`, else transformers' default.
pub(crate) fn label_count(value: &Value) -> usize {
    let named = value.get("id2label").and_then(Value::as_object).map(Map::len);
    let counted = value.get("num_labels").and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
    named.or(counted).unwrap_or(2)
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// Whether `whole` is a multiple of `part`; the message names both fields.
pub(crate) fn divides(whole_name: &str, whole: usize, part_name: &str, part: usize) -> Result<(), String> {
    if part > 0 && whole.is_multiple_of(part) {
        Ok(())
    } else {
        Err(format!("`{whole_name}` {whole} is not a multiple of `{part_name}` {part}"))
    }
}

/// Whether `position_embedding_type` is the one kind that transformers 5 has for BERT and its relatives.
pub(crate) fn absolute_positions(kind: &str) -> Result<(), String> {
    match kind {
        "absolute" => Ok(()),
        other => Err(format!("`position_embedding_type` {other:?} is not supported, only \"absolute\"")),
    }
}
