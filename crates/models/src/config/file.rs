//! The fields of `config.json` that describe the model as a whole: its type, its class, its labels.

use super::config_error::ConfigError;
use serde_json::{Map, Value};
use testgen_types::excerpt;

/// The field that names the class of a model of diffusers, which has no `model_type`.
const DIFFUSERS_CLASS: &str = "_class_name";

/// The `model_type` of a configuration, or the class of diffusers; empty where there is none.
pub(crate) fn model_type(value: &Value) -> &str {
    let name = value
        .get("model_type")
        .or_else(|| value.get(DIFFUSERS_CLASS));
    name.and_then(Value::as_str).unwrap_or_default()
}

/// The first of `architectures`: the transformers class that saved the checkpoint.
pub(crate) fn saved_class(value: &Value) -> Option<&str> {
    value
        .get("architectures")
        .and_then(|names| names.get(0))
        .or_else(|| value.get(DIFFUSERS_CLASS))?
        .as_str()
}

/// The types of torch that weights are saved in.
const DTYPES: &[&str] = &[
    "auto",
    "bfloat16",
    "double",
    "float",
    "float16",
    "float32",
    "float64",
    "float8_e4m3fn",
    "float8_e5m2",
    "half",
    "int8",
    "uint8",
];

/// Whether the type that the weights were saved in is one of torch: transformers fails to load the
/// checkpoint otherwise.
pub(crate) fn check_dtype(model_type: &str, value: &Value) -> Result<(), ConfigError> {
    // transformers 5 writes the first name, older versions wrote the second.
    for field in ["dtype", "torch_dtype"] {
        let Some(found) = value.get(field).filter(|found| !found.is_null()) else {
            continue;
        };
        let name = found
            .as_str()
            .map(|name| name.strip_prefix("torch.").unwrap_or(name));
        // An object has a type for each part of the model.
        if !found.is_object() && name.is_none_or(|name| !DTYPES.contains(&name)) {
            let message = format!(
                "`{field}` is {}, which is not a type of weights in torch",
                excerpt(&found.to_string())
            );
            return Err(ConfigError::Invalid {
                model_type: model_type.to_owned(),
                message,
            });
        }
    }
    Ok(())
}

/// The number of labels of a classification head: the number of entries of `id2label`, else
/// `num_labels`, else transformers' default.
pub(crate) fn label_count(value: &Value) -> usize {
    let named = value
        .get("id2label")
        .and_then(Value::as_object)
        .map(Map::len);
    let counted = value
        .get("num_labels")
        .and_then(Value::as_u64)
        .and_then(|count| usize::try_from(count).ok());
    // `num_labels` of `PreTrainedConfig` is the length of `id2label`.
    named.or(counted).unwrap_or(2)
}
