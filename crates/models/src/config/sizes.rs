//! Sizes in `config.json` against the tensors of the checkpoint, before anything is allocated for
//! them.
//!
//! A size that no tensor has is found by the shapes of the tensors, too, but only after tables of
//! that size were computed. What is here is a bound; [`testgen_nn::weights`] compares the exact
//! sizes.

use super::config_error::ConfigError;
use serde_json::Value;
use testgen_nn::weights::Extent;
use testgen_types::excerpt;

/// Sizes up to these are never a problem, whatever the tensors.
// Image sizes and windows have no tensor, and layers may share one.
const HARMLESS_SIZE: usize = 1 << 20;
const HARMLESS_LAYERS: usize = 1024;
/// No list of a configuration is longer, without the names of labels, which are objects.
const LONGEST_LIST: usize = 1 << 16;

/// The ends of names of sizes that tensors have.
const SIZES: &[&str] = &[
    "_channels",
    "_dim",
    "_dims",
    "_experts",
    "_groups",
    "_head",
    "_heads",
    "_kernel",
    "_kernels",
    "_labels",
    "_queries",
    "_rank",
    "_size",
    "_sizes",
    "_stride",
    "_width",
    "classes",
    "d_ff",
    "d_kv",
    "d_model",
    "dim",
    "expand",
    "kdim",
    "mlp_ratio",
    "n_embd",
    "n_inner",
    "vdim",
];

/// The ends of names of numbers of layers.
const LAYERS: &[&str] = &["_layer", "_layers", "depths", "layers_per_block"];

/// Fails at the first field of `config` that no checkpoint with tensors of this `extent` can have.
pub(crate) fn check_sizes(
    model_type: &str,
    config: &Value,
    extent: Extent,
) -> Result<(), ConfigError> {
    check("", config, extent).map_err(|message| ConfigError::Invalid {
        model_type: model_type.to_owned(),
        message,
    })
}

fn check(path: &str, value: &Value, extent: Extent) -> Result<(), String> {
    match value {
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            check(&path, value, extent)
        }),
        Value::Array(values) if values.len() > LONGEST_LIST => Err(format!(
            "`{}` has {} entries, and at most {LONGEST_LIST} are read",
            excerpt(path),
            values.len()
        )),
        Value::Array(values) => values
            .iter()
            .try_for_each(|value| check(path, value, extent)),
        // A negative number or a fraction is not a size; the struct refuses it if it expects one.
        Value::Number(number) => number
            .as_u64()
            .map_or(Ok(()), |number| check_number(path, number, extent)),
        _ => Ok(()),
    }
}

fn check_number(path: &str, number: u64, extent: Extent) -> Result<(), String> {
    let name = path.rsplit('.').next().unwrap_or(path);
    let Extent { tensors, largest } = extent;
    if has_end(name, LAYERS) && is_above(tensors.max(HARMLESS_LAYERS), number) {
        return Err(format!(
            "`{}` is {number}, and the checkpoint has {tensors} tensors; correct it",
            excerpt(path)
        ));
    }
    if has_end(name, SIZES) && is_above(largest.max(HARMLESS_SIZE), number) {
        let field = excerpt(path);
        return Err(format!(
            "`{field}` is {number}, and the largest tensor has {largest} elements; correct it"
        ));
    }
    Ok(())
}

fn has_end(name: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| name.ends_with(end))
}

fn is_above(limit: usize, number: u64) -> bool {
    // A number that does not fit is larger than any tensor.
    usize::try_from(number).map_or(true, |number| number > limit)
}
