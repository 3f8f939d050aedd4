//! Fuzzing of the files of quantized checkpoints.

use super::QuantizedWeights;
use crate::error::SyntheticError;
use serde_json::{Value, json};
use std::{fs, path::Path};
use testgen_fuzz::{Target, assert_message, repair_safetensors, scratch_directory, seeds};

/// Whatever the file is, each method dequantizes each of its tensors to as many bytes as its shape
/// has, or refuses it.
#[test]
fn fuzz_quantized_weights() {
    let directory = scratch_directory();
    let path = directory.path();
    let configs = configs();
    Target {
        name: "quantized",
        seeds: seeds(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/quantized"),
            Some("safetensors"),
        ),
        dictionary: &[
            "\"dtype\":\"U8\"",
            "\"I32\"",
            "\"F8_E4M3\"",
            "\"F16\"",
            "\"F4\"",
            "\"shape\":[",
            "[0,1152921504606846976]",
            "[1]",
            ".g_idx",
            ".SCB",
            ".weight_scale",
            ".weight_scale_inv",
            "_blocks",
            ".weight.nested_absmax",
        ],
        repair: Some(repair_safetensors),
        executions: 1500,
        behaviours: 40,
        check: &|bytes| {
            fs::write(path.join("model.safetensors"), bytes).expect("it can be written");
            let behaviours = configs.iter().map(|config| {
                let opened = QuantizedWeights::open(path, config);
                opened.map_or_else(message, |weights| {
                    check_tensors(&weights.expect("the method is dequantized"))
                })
            });
            behaviours.collect::<Vec<_>>().join("; ")
        },
    }
    .run();
}

/// A configuration of each method.
fn configs() -> Vec<Value> {
    let methods = [
        json!({"quant_method": "awq"}),
        json!({"quant_method": "bitsandbytes", "load_in_4bit": true}),
        json!({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"block_structure": [32, 32]}}}}),
        json!({"quant_method": "fp8", "weight_block_size": [32, 32]}),
        json!({"quant_method": "gptq", "bits": 4}),
        json!({"quant_method": "mxfp4"}),
    ];
    methods
        .into_iter()
        .map(|method| json!({ "quantization_config": method }))
        .collect()
}

fn check_tensors(weights: &QuantizedWeights) -> String {
    assert_eq!(weights.identity().len(), 64);
    let behaviours = weights.names().map(|name| match weights.tensor(name) {
        Ok(tensor) => {
            let size = match tensor.dtype.as_str() {
                "F32" => 4,
                "F16" | "BF16" => 2,
                // A tensor that is not quantized.
                other => return other.chars().take(4).collect(),
            };
            assert_eq!(
                tensor.bytes.len(),
                size * tensor.shape.iter().product::<usize>()
            );
            format!("{size} {}", tensor.shape.len())
        }
        Err(error) => message(error),
    });
    behaviours.take(3).collect::<Vec<_>>().join(", ")
}

fn message(error: SyntheticError) -> String {
    assert_message(&error.to_string())
}
