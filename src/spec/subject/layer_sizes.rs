//! Layers that a scheme does not divide, found in the configuration of a decoder before anything is
//! recorded.
//!
//! The recipe that `testgen record` writes has the layers of every model type, and is checked when
//! it is read.

use crate::spec::synthetic::SyntheticConfig;
use serde_json::Value;
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
    let SyntheticConfig::Inline(config) = config else {
        return None;
    };
    let model_type = model_type.filter(|model_type| LIKE_LLAMA.contains(model_type));
    let layers = model_type.and_then(|_| layers(config));
    layers.into_iter().flatten().find_map(|(layer, sizes)| {
        let problem = scheme.size_problem(sizes)?;
        Some(format!("`{scheme}` cannot quantize `{layer}`: {problem}"))
    })
}

/// Outputs and inputs of each layer; `None` if the configuration leaves one to its default.
fn layers(config: &Value) -> Option<[(&'static str, [u64; 2]); 7]> {
    let size = |field: &str| config[field].as_u64();
    let (width, inner) = (size("hidden_size")?, size("intermediate_size")?);
    let heads = size("num_attention_heads")?;
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
