//! The defaults of `config.json`, by model type, and a file completed with them.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, sync::LazyLock};
use testgen_types::excerpt;

/// The declarations of the configuration class of a type.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct TypeDefaults {
    /// Second names of fields (`attribute_map`), and the fields that they name.
    pub(crate) aliases: BTreeMap<String, String>,
    /// The value of every field that a file leaves out; null if the loader derives it from other
    /// fields.
    pub(crate) defaults: Map<String, Value>,
}

/// Extracted from transformers by `python/fixtures/defaults.py`.
static DEFAULTS: LazyLock<BTreeMap<String, TypeDefaults>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("defaults.json")).expect("a script writes the file")
});

/// The defaults of a type. A type that no script knows has no defaults.
pub(crate) fn defaults_of(model_type: &str) -> &'static TypeDefaults {
    static NONE: LazyLock<TypeDefaults> = LazyLock::new(TypeDefaults::default);
    DEFAULTS.get(model_type).unwrap_or(&NONE)
}

/// The field that `name` is an alias of in files of the type.
pub(super) fn canonical<'a>(model_type: &str, name: &'a str) -> &'a str {
    defaults_of(model_type)
        .aliases
        .get(name)
        .map_or(name, String::as_str)
}

/// Every field that the type declares: as the file has it, by its first name, else the default.
///
/// The error is about a field that the file has twice, under two names and with two values.
pub(crate) fn complete(model_type: &str, file: &Map<String, Value>) -> Result<Value, String> {
    let mut fields = defaults_of(model_type).defaults.clone();
    // For structs that load several types and differ by it.
    fields.insert("model_type".to_owned(), model_type.into());
    for (name, value) in file {
        let first = canonical(model_type, name);
        match file.get(first).filter(|other| *other != value) {
            Some(other) => {
                let [value, other] =
                    [value, other].map(|value| excerpt(&value.to_string()).into_owned());
                return Err(format!("`{name}` {value} is not `{first}` {other}"));
            }
            None => fields.insert(first.to_owned(), value.clone()),
        };
    }
    Ok(Value::Object(fields))
}
