//! Layers that a scheme does not divide, found in the configuration of a decoder before anything is
//! recorded.
//!
//! The recipe that `testgen record` writes has the layers of every model type, and is checked when
//! it is read.

use crate::spec::synthetic::SyntheticConfig;
use serde_json::{Map, Value};
use testgen_estimate::complete_fields;
use testgen_types::{ModelType, QuantizationScheme};

/// The types with the fields and the layers of Llama.
const LIKE_LLAMA: &[ModelType] = &[
    ModelType::Llama,
    ModelType::Mistral,
    ModelType::Gemma,
    ModelType::Gemma2,
    ModelType::Olmo2,
    ModelType::Qwen2,
    ModelType::Qwen3,
];

/// The first layer that `scheme` cannot quantize, with its size.
pub(super) fn problem(
    scheme: QuantizationScheme,
    config: &SyntheticConfig,
    model_type: Option<ModelType>,
) -> Option<String> {
    let SyntheticConfig::Inline(Value::Object(config)) = config else {
        return None;
    };
    let model_type = model_type.filter(|model_type| LIKE_LLAMA.contains(model_type));
    let layers = model_type.and_then(|_| layers(&complete_fields(config.clone())));
    layers.into_iter().flatten().find_map(|(layer, sizes)| {
        let problem = scheme.size_problem(sizes)?;
        Some(format!("`{scheme}` cannot quantize `{layer}`: {problem}"))
    })
}

/// Outputs and inputs of each layer; `None` if a field is not a number.
fn layers(config: &Map<String, Value>) -> Option<[(&'static str, [u64; 2]); 7]> {
    let size = |field: &str| config.get(field)?.as_u64();
    let (width, inner) = (size("hidden_size")?, size("intermediate_size")?);
    let heads = size("num_attention_heads")?;
    // A type without a number as the default computes it, and the key heads, too.
    let head_dim = size("head_dim").or(width.checked_div(heads))?;
    // Not the width: `head_dim` of Gemma and Qwen3 is independent of it.
    let queries = heads.saturating_mul(head_dim);
    let groups = size("num_key_value_heads").unwrap_or(heads);
    let keys = groups.saturating_mul(head_dim);
    Some([
        ("q_proj", [queries, width]),
        ("k_proj", [keys, width]),
        ("v_proj", [keys, width]),
        ("o_proj", [width, queries]),
        ("gate_proj", [inner, width]),
        ("up_proj", [inner, width]),
        ("down_proj", [width, inner]),
    ])
}

#[cfg(test)]
mod tests {
    use super::{SyntheticConfig, problem};
    use serde_json::json;

    fn problem_of(scheme: &str, config: serde_json::Value) -> Option<String> {
        let model_type = config["model_type"]
            .as_str()
            .and_then(|name| name.parse().ok());
        let scheme = scheme.parse().expect("is a scheme");
        problem(scheme, &SyntheticConfig::Inline(config), model_type)
    }

    #[test]
    fn missing_fields_have_the_defaults_of_the_type() {
        // 8 key heads, however many query heads there are, and each is 8 wide.
        let mistral = json!({
            "model_type": "mistral", "hidden_size": 256, "intermediate_size": 256,
            "num_attention_heads": 32,
        });
        let expected =
            "`fp8-block-128` cannot quantize `k_proj`: its 64 outputs are not a multiple of 128";
        assert_eq!(
            problem_of("fp8-block-128", mistral).as_deref(),
            Some(expected)
        );
        // Heads are 256 wide, and not 256 / 3.
        let gemma = json!({
            "model_type": "gemma", "hidden_size": 256, "intermediate_size": 256,
            "num_attention_heads": 3, "num_key_value_heads": 1,
        });
        assert_eq!(problem_of("gptq-4-128", gemma), None);
        // Llama has no numbers as defaults: as many key heads as query heads, each 64 wide.
        let llama = json!({
            "model_type": "llama", "hidden_size": 192, "intermediate_size": 256,
            "num_attention_heads": 3,
        });
        let expected =
            "`fp8-block-128` cannot quantize `q_proj`: its 192 outputs are not a multiple of 128";
        assert_eq!(
            problem_of("fp8-block-128", llama).as_deref(),
            Some(expected)
        );
    }
}
