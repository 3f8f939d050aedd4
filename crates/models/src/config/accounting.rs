//! Every field of a file is read, inert, off, or an error.

use super::{
    config_error::ConfigError,
    config_struct::ModelConfig,
    defaults::{canonical, defaults_of},
    inert::is_inert,
};
use serde_json::{Map, Value};
use testgen_types::ModelType;

/// Fails at the first field that may change the numbers and that nothing reads. `path` is the field
/// that holds the configuration; empty for the whole file.
pub(super) fn check<C: ModelConfig>(
    model_type: &str,
    config: &C,
    file: &Map<String, Value>,
    path: &str,
) -> Result<(), ConfigError> {
    for (name, value) in file {
        let first = canonical(model_type, name);
        let read = !config.rest().contains_key(first) && !of_another_type(model_type, first);
        let inert = |name: &str| is_inert(name) || C::INERT.contains(&name);
        // Under both names, because the lists of inert fields have some fields by an alias.
        if !read && !is_off(value) && !inert(name) && !inert(first) {
            let (model_type, field) = (model_type.to_owned(), join(path, name));
            return Err(ConfigError::UnsupportedField {
                model_type,
                field,
                // A list or an object can be as long as the file.
                value: value.to_string().chars().take(80).collect(),
            });
        }
    }
    config
        .nested()
        .iter()
        .try_for_each(|(name, nested)| nested.check(&join(path, name)))
}

/// The fields of the file that are read, sorted; the fields of nested configurations as
/// `outer.inner` in place of the fields that hold them.
pub(super) fn read_fields<C: ModelConfig>(
    model_type: &str,
    config: &C,
    file: &Map<String, Value>,
) -> Vec<String> {
    let nested = config.nested();
    let mut fields: Vec<String> = file
        .keys()
        .filter(|name| {
            let first = canonical(model_type, name);
            // Under both names the field is still one field; its first name counts.
            let repeated = first != name.as_str() && file.contains_key(first);
            !config.rest().contains_key(first)
                && !repeated
                && !nested.iter().any(|(holder, _)| *holder == name.as_str())
                && !of_another_type(model_type, first)
        })
        .cloned()
        .collect();
    for (holder, inner) in nested
        .iter()
        // A nested configuration that is absent has defaults only, and no fields of the file.
        .filter(|(holder, _)| file.contains_key(*holder))
    {
        fields.extend(inner.fields().iter().map(|field| join(holder, field)));
    }
    fields.sort();
    fields
}

/// Whether the struct reads the field for another type that it loads.
fn of_another_type(model_type: &str, field: &str) -> bool {
    let Some(own) = ModelType::find(model_type) else {
        return false;
    };
    // Llama's struct loads Mistral, which has no `attention_bias`.
    !declares(own, field)
        && ModelType::ALL
            .iter()
            .filter(|kind| definition(**kind) == definition(own))
            .any(|kind| declares(*kind, field))
}

/// Whether the configuration class of a type has the field.
fn declares(kind: ModelType, field: &str) -> bool {
    defaults_of(kind.as_str()).defaults.contains_key(field)
}

/// Whether a field that nothing reads cannot change the numbers.
pub(crate) fn is_off(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(values) => values.is_empty(),
        // Not 0: as a factor or as an id it is a value like any other.
        _ => false,
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn definition(kind: ModelType) -> Option<&'static str> {
    kind.native().map(|entry| entry.definition)
}
