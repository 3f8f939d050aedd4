//! Configurations of types that share their fields: what counts where a file is silent, or says something twice.

use super::{
    albert::AlbertConfig, dinov2::Dinov2Config, electra::ElectraConfig, llama::LlamaConfig, mamba2::Mamba2Config,
    yolos::YolosConfig,
};
use crate::config::{Config, parse};
use serde_json::{Value, json};
use std::fmt::Debug;

fn told<C: Config + Debug>(file: &Value) -> String {
    format!("{:?}", parse::<C>(file).expect("the file is a configuration").config)
}

#[test]
fn a_silent_file_has_the_defaults_of_its_type() {
    let silent = json!({});
    for (told, expected) in [
        (told::<ElectraConfig>(&silent), "hidden_size: 256, num_hidden_layers: 12, num_attention_heads: 4"),
        (told::<AlbertConfig>(&silent), "hidden_size: 4096, num_hidden_layers: 12, num_attention_heads: 64"),
        (told::<AlbertConfig>(&silent), "intermediate_size: 16384, hidden_act: GeluNew"),
        (told::<Dinov2Config>(&silent), "image_size: Square(224), patch_size: Square(14)"),
        (told::<YolosConfig>(&silent), "image_size: Each([512, 864]), patch_size: Square(16)"),
        (told::<Mamba2Config>(&silent), "hidden_size: 4096, state_size: 128, num_hidden_layers: 64"),
    ] {
        assert!(told.contains(expected), "{expected} is not in {told}");
    }
}

#[test]
fn rope_scaling_counts_before_rope_parameters() {
    let linear = |factor: f64| json!({ "rope_type": "linear", "factor": factor });
    let file = json!({ "rope_parameters": linear(2.0), "rope_scaling": linear(3.0) });
    let config = parse::<LlamaConfig>(&file).expect("the file is a configuration").config;
    assert_eq!(config.fields.rope_parameters().factor, Some(3.0));
}
