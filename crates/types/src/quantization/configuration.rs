//! Signs of quantization in `config.json`.

use serde_json::{Map, Value};

/// The field of transformers; the field of compressed-tensors before transformers had it; the field
/// of MLX.
const FIELDS: [&str; 3] = ["quantization_config", "compression_config", "quantization"];

/// Options that describe a method, in the order of precedence.
const OPTIONS: [&str; 5] = ["fmt", "format", "quant_algo", "weights", "weights_dtype"];

/// The method, its options and the field, also if the field is in the configuration of a part of
/// the model.
pub(super) fn find(config: &Value) -> Option<(String, Option<String>, String)> {
    find_in(config.as_object()?, "")
}

/// The first of the fields, also in the configuration of a part of the model.
pub(super) fn options(config: &Value) -> Option<&Value> {
    let fields = config.as_object()?;
    let own = FIELDS.iter().find_map(|name| {
        fields
            .get(*name)
            .filter(|value| options_in(value).is_some())
    });
    own.or_else(|| fields.values().find_map(options))
}

pub(super) fn remove(config: &mut Value) {
    if let Some(fields) = config.as_object_mut() {
        fields.retain(|name, _| !FIELDS.contains(&name.as_str()));
        fields.values_mut().for_each(remove);
    }
}

fn find_in(fields: &Map<String, Value>, path: &str) -> Option<(String, Option<String>, String)> {
    for name in FIELDS {
        if let Some(options) = fields.get(name).and_then(options_in) {
            let method = method(name, options);
            return Some((
                method,
                detail(options),
                format!("`{path}{name}` in `config.json`"),
            ));
        }
    }
    fields
        .iter()
        // A part of the model, for instance its language model, may be quantized alone.
        .find_map(|(name, value)| find_in(value.as_object()?, &format!("{path}{name}.")))
}

/// The options in one of the fields.
fn options_in(value: &Value) -> Option<&Map<String, Value>> {
    // Null and an empty object are what an unquantized model has there.
    value.as_object().filter(|options| !options.is_empty())
}

fn method(field: &str, options: &Map<String, Value>) -> String {
    match options.get("quant_method").and_then(Value::as_str) {
        Some(method) => method,
        // Before transformers 4.32 bitsandbytes was the only method, and had no name.
        None if is_on("load_in_8bit", options) || is_on("load_in_4bit", options) => "bitsandbytes",
        None if field == "compression_config" || options.contains_key("config_groups") => {
            "compressed-tensors"
        }
        None if field == "quantization" => "mlx",
        // Options that only the tools of GPTQ and AWQ write.
        None if options.contains_key("desc_act") => "gptq",
        None if options.contains_key("zero_point") => "awq",
        None => "unnamed",
    }
    .to_owned()
}

/// The options that say which of a method's formats it is.
pub(super) fn detail(options: &Map<String, Value>) -> Option<String> {
    if is_on("load_in_8bit", options) {
        return Some("int8".to_owned());
    }
    if is_on("load_in_4bit", options) {
        // The default of bitsandbytes.
        return Some(
            option_text("bnb_4bit_quant_type", options).unwrap_or_else(|| "fp4".to_owned()),
        );
    }
    // AWQ's own tool writes `w_bit` where transformers and GPTQ have `bits`.
    let bits = ["bits", "w_bit"]
        .iter()
        .find_map(|name| options.get(*name)?.as_u64());
    bits.map(|bits| format!("{bits} bits"))
        .or_else(|| OPTIONS.iter().find_map(|name| option_text(name, options)))
}

fn is_on(name: &str, options: &Map<String, Value>) -> bool {
    options.get(name).and_then(Value::as_bool) == Some(true)
}

fn option_text(name: &str, options: &Map<String, Value>) -> Option<String> {
    options.get(name).and_then(Value::as_str).map(str::to_owned)
}
