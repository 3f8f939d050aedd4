//! Configurations of types that share their fields: what counts where a file is silent, or says
//! something twice.

mod capabilities;
mod damaged;
mod defaults;
mod limits;
mod wrong_inputs;

use crate::{
    checkpoint::Checkpoint,
    config::{ModelConfig, model_type, parse},
    decoder_only::{llama::Llama, qwen2::Qwen2, qwen3::Qwen3},
    encoder_only::{albert::AlbertConfig, electra::ElectraConfig},
    moe::mixtral::Mixtral,
    object_detection::yolos::YolosConfig,
    ssm::mamba2::Mamba2Config,
    vision::dinov2::Dinov2Config,
};
use serde_json::{Value, json};
use std::fmt::Debug;

/// The configuration that the type reads from a file, as text.
fn described<C: ModelConfig + Debug>(model_type: &str, file: &Value) -> String {
    format!(
        "{:?}",
        parse::<C>(model_type, file)
            .expect("the file is a configuration")
            .config
    )
}

#[test]
fn a_silent_file_has_the_defaults_of_its_type() {
    let silent = json!({});
    for (text, expected) in [
        (
            described::<ElectraConfig>("electra", &silent),
            "hidden_size: 256, num_hidden_layers: 12, num_attention_heads: 4",
        ),
        (
            described::<AlbertConfig>("albert", &silent),
            "hidden_size: 4096, num_hidden_layers: 12, num_attention_heads: 64",
        ),
        (
            described::<AlbertConfig>("albert", &silent),
            "intermediate_size: 16384, hidden_act: GeluNew",
        ),
        (
            described::<Dinov2Config>("dinov2", &silent),
            "image_size: Square(224), patch_size: Square(14)",
        ),
        (
            described::<YolosConfig>("yolos", &silent),
            "image_size: Each([512, 864]), patch_size: Square(16)",
        ),
        (
            described::<Llama>("mistral", &silent),
            "intermediate_size: 14336",
        ),
        (
            described::<Llama>("mistral", &silent),
            "num_key_value_heads: Some(8)",
        ),
        (
            described::<Llama>("mistral", &silent),
            "max_position_embeddings: 131072",
        ),
        (
            described::<Llama>("mistral", &silent),
            "sliding_window: Some(4096)",
        ),
        (described::<Qwen2>("qwen2", &silent), "vocab_size: 151936"),
        (described::<Qwen3>("qwen3", &silent), "vocab_size: 151936"),
        (described::<Qwen3>("qwen3", &silent), "head_dim: Some(128)"),
        (
            described::<Mixtral>("mixtral", &silent),
            "rope_theta: Some(1000000.0)",
        ),
        (
            described::<Mamba2Config>("mamba2", &silent),
            "hidden_size: 4096, state_size: 128, num_hidden_layers: 64",
        ),
    ] {
        assert!(text.contains(expected), "{expected} is not in {text}");
    }
}

#[test]
fn rope_scaling_counts_before_rope_parameters() {
    let linear = |factor: f64| json!({ "rope_type": "linear", "factor": factor });
    let file = json!({ "rope_parameters": linear(2.0), "rope_scaling": linear(3.0) });
    let config = parse::<Llama>("llama", &file)
        .expect("the file is a configuration")
        .config;
    assert_eq!(config.fields.rope_parameters().factor, Some(3.0));
}

/// The configuration as text, or its error.
fn read<C: ModelConfig + Debug>(text: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory can be made");
    std::fs::write(directory.path().join("config.json"), text).expect("it can be written");
    let file = Checkpoint::at(directory.path())
        .config()
        .expect("the file is what Python writes");
    parse::<C>(model_type(&file), &file).map_or_else(
        |error| error.to_string(),
        |parsed| format!("{:?}", parsed.config),
    )
}

#[test]
fn numbers_that_are_not_finite_are_read_where_they_are_allowed() {
    let limits = r#"{ "model_type": "mamba2", "time_step_limit": [0.0, Infinity] }"#;
    let transformers =
        r#"{ "model_type": "mamba2", "time_step_limit": [0.0, {"__float__": "Infinity"}] }"#;
    assert!(
        read::<Mamba2Config>(limits).contains("name: \"Infinity\""),
        "{}",
        read::<Mamba2Config>(limits)
    );
    assert_eq!(
        read::<Mamba2Config>(limits),
        read::<Mamba2Config>(transformers)
    );
    for (text, expected) in [
        (
            read::<Mamba2Config>(&limits.replace("Infinity", "NaN")),
            "`time_step_limit` contains something that is not a number",
        ),
        (
            read::<Llama>(r#"{ "model_type": "llama", "rms_norm_eps": -Infinity }"#),
            "rms_norm_eps: is -Infinity, not finite",
        ),
        (
            read::<Llama>(
                r#"{ "model_type": "llama", "rope_scaling": { "rope_type": "linear", "factor": NaN } }"#,
            ),
            "rope_scaling.factor: is NaN, not finite",
        ),
    ] {
        assert!(text.contains(expected), "{expected} is not in {text}");
    }
}
