//! The key `checkpoint`: exactly one place, and the model on the Hub.

use super::layer_sizes;
use crate::spec::{
    fields::SpecDecoder,
    model_name::ModelName,
    schema,
    synthetic::{SyntheticConfig, SyntheticSource},
    tree::{Node, YamlValue},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use testgen_base::{closed_enum::ClosedEnum, text::Quoted};
use testgen_types::{ModelType, QuantizationScheme};

const LONGEST_PATH: usize = 1000;
const KEYS: &[&str] = &["fixture", "path", "synthetic", "quantise", "hub"];
const SYNTHETIC_KEYS: &[&str] = &["config", "seed"];

/// Where the checkpoint is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheckpointSource {
    /// Its place.
    #[serde(flatten)]
    pub place: CheckpointPlace,
    /// The scheme that quantizes the weights of `synthetic`, which are dense without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::scheme")]
    pub quantise: Option<QuantizationScheme>,
    /// The real model on the Hugging Face Hub, `owner/name`; used when `TESTGEN_CHECKPOINTS`
    /// requests it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub hub: Option<String>,
}

/// The place of a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckpointPlace {
    /// A directory in `fixtures/`, which is next to the directory of specs.
    Fixture(String),
    /// A directory, relative to this file or absolute. Used as it is; an absolute path works on one
    /// machine only.
    Path(String),
    /// A configuration and a seed, from which the weights are computed when a suite runs. `testgen
    /// record` writes the list of tensors and the goldens into the directory that has the name of
    /// this file without `.yaml`.
    Synthetic(SyntheticSource),
}

/// The value of `checkpoint`.
pub(super) fn source(
    decoder: &mut SpecDecoder,
    node: &Node,
    model_type: Option<ModelType>,
) -> Option<CheckpointSource> {
    let fields = decoder.mapping(node, "checkpoint", KEYS, &[])?;
    let hub = fields.optional("hub").and_then(|node| hub(decoder, node));
    let given = ["fixture", "path", "synthetic"].map(|key| fields.optional(key));
    let place = match given {
        [Some(node), None, None] => fixture(decoder, node).map(CheckpointPlace::Fixture),
        [None, Some(node), None] => {
            path(decoder, node, "checkpoint.path").map(CheckpointPlace::Path)
        }
        [None, None, Some(node)] => {
            synthetic(decoder, node, model_type).map(CheckpointPlace::Synthetic)
        }
        _ => {
            let found = match given.iter().flatten().count() {
                0 => "none",
                _ => "several",
            };
            let message = format!(
                "`checkpoint` must have exactly one of `fixture`, `path` and `synthetic`, found {found}"
            );
            decoder.complain(node, message, None);
            None
        }
    };
    // After the place: only synthetic weights are quantized.
    let quantise = fields
        .optional("quantise")
        .and_then(|node| scheme(decoder, node, place.as_ref(), model_type));
    place.map(|place| CheckpointSource {
        place,
        quantise,
        hub,
    })
}

/// The scheme, which needs weights that are computed and layers that it divides.
fn scheme(
    decoder: &mut SpecDecoder,
    node: &Node,
    place: Option<&CheckpointPlace>,
    model_type: Option<ModelType>,
) -> Option<QuantizationScheme> {
    let text = decoder.text(node, "checkpoint.quantise", usize::MAX)?;
    let Ok(scheme) = text.parse() else {
        let message = format!("unknown scheme {} in `checkpoint.quantise`", Quoted(text));
        // All of them: a scheme that is near in letters is another method or group.
        decoder.complain(node, message, Some(QuantizationScheme::known()));
        return None;
    };
    // A place that is wrong is reported already.
    match place? {
        CheckpointPlace::Fixture(_) | CheckpointPlace::Path(_) => {
            let message = "`checkpoint.quantise` is of `synthetic` weights only";
            let help = "a stored checkpoint is quantized already, or tested as it is";
            decoder.complain(node, message, Some(help.to_owned()));
        }
        CheckpointPlace::Synthetic(source) => {
            if let Some(problem) = layer_sizes::problem(scheme, &source.config, model_type) {
                decoder.complain(node, problem, None);
            }
        }
    }
    Some(scheme)
}

fn fixture(decoder: &mut SpecDecoder, node: &Node) -> Option<String> {
    let text = decoder.text(node, "checkpoint.fixture", usize::MAX)?;
    if let Err(error) = ModelName::new(text) {
        let help = "a fixture is a directory in `fixtures/`; for another place write `path: ...`";
        let message = format!("`checkpoint.fixture`: {error}");
        decoder.complain(node, message, Some(help.to_owned()));
    }
    // The problem is reported already, and reading on finds the others.
    Some(text.to_owned())
}

fn path(decoder: &mut SpecDecoder, node: &Node, key: &str) -> Option<String> {
    let text = decoder.text(node, key, LONGEST_PATH)?;
    if text.contains('\0') {
        let message = format!("`{key}` contains a NUL, which no path can");
        decoder.complain(node, message, None);
    }
    Some(text.to_owned())
}

fn synthetic(
    decoder: &mut SpecDecoder,
    node: &Node,
    model_type: Option<ModelType>,
) -> Option<SyntheticSource> {
    let key = "checkpoint.synthetic";
    let fields = decoder.mapping(node, key, SYNTHETIC_KEYS, SYNTHETIC_KEYS)?;
    let seed = fields
        .optional("seed")
        .and_then(|node| decoder.whole(node, &fields.key("seed")));
    let node = fields.optional("config")?;
    let config = match &node.value {
        YamlValue::Mapping(_) => SyntheticConfig::Inline(inline(decoder, node, model_type)),
        _ => SyntheticConfig::File(path(decoder, node, &fields.key("config"))?),
    };
    Some(SyntheticSource {
        config,
        seed: seed?,
    })
}

/// A configuration in the spec. It names its class, which the recorder builds, and the type of the
/// spec.
fn inline(decoder: &mut SpecDecoder, node: &Node, model_type: Option<ModelType>) -> Value {
    let key = "checkpoint.synthetic.config";
    let config = json(&node.value);
    // In diffusers, the class is the type.
    if config.get("_class_name").is_some() {
        unlike(decoder, node, &config, "_class_name", model_type);
        return config;
    }
    if config.get("architectures").is_none() {
        let help = "add the class of transformers, such as `architectures: [LlamaForCausalLM]`";
        let message = format!("missing key `{key}.architectures`");
        decoder.complain(node, message, Some(help.to_owned()));
    }
    unlike(decoder, node, &config, "model_type", model_type);
    config
}

/// Complains if a field of the configuration is not the type of the spec.
fn unlike(
    decoder: &mut SpecDecoder,
    node: &Node,
    config: &Value,
    field: &str,
    model_type: Option<ModelType>,
) {
    if let Some(model_type) = model_type.filter(|it| config[field] != it.as_str()) {
        let message =
            format!("`checkpoint.synthetic.config.{field}` is not `{model_type}`, the spec's type");
        let help = format!("write `{field}: {model_type}` there, too");
        decoder.complain(node, message, Some(help));
    }
}

fn json(value: &YamlValue) -> Value {
    match value {
        YamlValue::Null => Value::Null,
        YamlValue::Boolean(value) => (*value).into(),
        YamlValue::Integer(value) => (*value).into(),
        YamlValue::Negative(value) => (*value).into(),
        YamlValue::Number(value) => (*value).into(),
        YamlValue::Text(value) => value.as_str().into(),
        YamlValue::Sequence(items) => items.iter().map(|item| json(&item.value)).collect(),
        YamlValue::Mapping(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, node)| (key.value.clone(), json(&node.value)));
            Value::Object(entries.collect())
        }
    }
}

fn hub(decoder: &mut SpecDecoder, node: &Node) -> Option<String> {
    let text = decoder.text(node, "checkpoint.hub", 200)?;
    let mut parts = text.split('/');
    // One part is enough: old models of the Hub, such as `gpt2`, have no owner.
    let good = parts.clone().count() <= 2 && parts.all(|part| ModelName::new(part).is_ok());
    if !good {
        let message = format!(
            "`checkpoint.hub` {} is not a model of the Hub",
            Quoted(text)
        );
        decoder.complain(node, message, Some("write `owner/name`".to_owned()));
    }
    good.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Node, json};

    #[test]
    fn integers_and_floats_of_a_configuration_stay_what_they_are() {
        let node: Node = serde_yaml::from_str("[-1.0, -1, 1.0, 1]").expect("it is YAML");
        assert_eq!(json(&node.value), serde_json::json!([-1.0, -1, 1.0, 1]));
    }
}
