//! Files and sizes that no checkpoint has: refused by name, before memory is allocated for them.

use crate::{checkpoint::Checkpoint, load_model::load_model};
use serde_json::{Value, json};
use std::{fs, path::Path};
use testgen_nn::{
    device::BackendDevice,
    heap::{CountingAllocator, peak},
    weights::Residency,
};
use testgen_types::{ModelType, Precision};

fn fixture(name: &str) -> Checkpoint {
    Checkpoint::at(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures")
            .join(name),
    )
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The most memory of all tests of this process, which are small. A configuration of 8 MB with a
/// long list takes 400 MB; one tensor of the sizes here takes more than 4 GB.
const MEMORY: u64 = 2 << 30;

/// The error of loading a checkpoint, without memory for it.
#[track_caller]
fn error(model_type: ModelType, checkpoint: &Checkpoint) -> String {
    let device = BackendDevice::Cpu(Default::default());
    let error = load_model(
        model_type,
        checkpoint,
        &device,
        Precision::F32,
        Residency::Resident,
    )
    .expect_err("no checkpoint has that")
    .to_string();
    assert!(peak() < MEMORY, "{} bytes", peak());
    assert!(error.len() < 1000, "{} bytes", error.len());
    error
}

/// The error of a fixture with one field set.
#[track_caller]
fn error_with(model_type: ModelType, pointer: &str, value: Value) -> String {
    let checkpoint = fixture(model_type.as_str());
    let mut config = checkpoint.config().expect("the fixture has one");
    let (parent, name) = pointer.rsplit_once('/').expect("a JSON pointer");
    config.pointer_mut(parent).expect("the fixture has it")[name] = value;
    error(model_type, &checkpoint.with_config(config))
}

#[test]
fn quantized_weights_are_refused_by_their_method() {
    let options = json!({ "quant_method": "hqq", "bits": 4 });
    for (model_type, pointer) in [
        (ModelType::Llama, "/quantization_config"),
        (ModelType::Bert, "/quantization_config"),
    ] {
        let message = error_with(model_type, pointer, options.clone());
        let expected = "the weights are quantized with HQQ (4 bits), according to `quantization_config` in `config.json`";
        assert!(
            message.contains(expected)
                && message.contains("use the checkpoint that it was quantized from"),
            "{message}"
        );
    }
}

/// compressed-tensors stores integers under the name of the weight, as methods do that are refused.
#[test]
fn integers_of_a_method_that_is_dequantized_are_not_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let written = "../checkpoints/src/tests/written/compressed-tensors-int8";
    let written = Path::new(env!("CARGO_MANIFEST_DIR")).join(written);
    let config = fs::read(written.join("config.json")).expect("is there");
    let mut config: Value = serde_json::from_slice(&config).expect("JSON");
    config["model_type"] = json!("llama");
    let path = directory.path().join("config.json");
    fs::write(&path, config.to_string()).expect("is written");
    let name = "model.safetensors";
    fs::copy(written.join(name), directory.path().join(name)).expect("is copied");
    let checkpoint = Checkpoint::at(directory.path());
    // It has one layer only, and no sizes.
    let message = error(ModelType::Llama, &checkpoint);
    assert!(!message.contains("quantize"), "{message}");
    config["quantization_config"]["quant_method"] = json!("hqq");
    fs::write(&path, config.to_string()).expect("is written");
    let message = error(ModelType::Llama, &checkpoint);
    assert!(message.contains("quantized with HQQ"), "{message}");
}

#[test]
fn a_size_without_a_tensor_is_refused_by_name() {
    for (model_type, field, value, expected) in [
        (
            ModelType::Llama,
            "/head_dim",
            json!(1_000_000_000),
            "`head_dim` is 1000000000, and the largest tensor has",
        ),
        (
            ModelType::Llama,
            "/num_hidden_layers",
            json!(1_u64 << 63),
            "`num_hidden_layers` is 9223372036854775808, and",
        ),
        (
            ModelType::Bert,
            "/num_attention_heads",
            json!(u64::MAX),
            "`num_attention_heads` is 18446744073709551615, and",
        ),
        (
            ModelType::Gpt2,
            "/n_layer",
            json!(1_u64 << 40),
            "`n_layer` is 1099511627776, and the checkpoint has",
        ),
        (
            ModelType::Clip,
            "/text_config/hidden_size",
            json!(1_u64 << 40),
            "`text_config.hidden_size` is 1099511627776",
        ),
        (
            ModelType::Marian,
            "/max_position_embeddings",
            json!(1_u64 << 40),
            "`max_position_embeddings` is 1099511627776",
        ),
        (
            ModelType::Llama,
            "/dtype",
            json!("float37"),
            "`dtype` is \"float37\", which is not a type of weights",
        ),
        (
            ModelType::Llama,
            "/torch_dtype",
            json!(3),
            "`torch_dtype` is 3, which is not a type of weights",
        ),
        (
            ModelType::Llama,
            "/unknown",
            json!(vec![0; 1 << 17]),
            "`unknown` has 131072 entries",
        ),
    ] {
        let message = error_with(model_type, field, value);
        assert!(
            message.contains(expected),
            "{expected:?} is not in {message:?}"
        );
    }
}

#[test]
fn a_configuration_is_bounded_and_quoted_in_part() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let error = |text: String| {
        fs::write(directory.path().join("config.json"), text).expect("it can be written");
        error(ModelType::Llama, &Checkpoint::at(directory.path()))
    };
    let numbers = |bytes: usize| {
        format!(
            r#"{{"model_type": "llama", "extra": [{}1]}}"#,
            "1,".repeat(bytes / 2)
        )
    };
    assert!(
        error(numbers(50_000_000)).contains("config.json`: it has 50000"),
        "the size is named"
    );
    assert!(
        error(numbers(8_000_000)).contains("`extra` has 4000001 entries"),
        "the list is named"
    );
    let long = "x".repeat(1_000_000);
    for text in [
        format!(r#""{long}""#),
        format!(r#"{{"model_type": "{long}"}}"#),
        format!(r#"{{"model_type": "llama", "hidden_size": "{long}"}}"#),
        format!(r#"{{"model_type": "llama", "{long}": 2}}"#),
        format!(r#"{{"model_type": "llama", "extra": "{long}"}}"#),
        format!(r#"{{"model_type": "llama", "hidden_act": "{long}"}}"#),
        format!(r#"{{"model_type": "llama", "rope_scaling": {{"type": "linear", "{long}": 2}}}}"#),
        format!(r#"{{"model_type": "llama", "architectures": ["{long}"]}}"#),
        format!(r#"{{"model_type": "llama", {long}}}"#),
    ] {
        assert!(!error(text).contains(&"x".repeat(201)));
    }
}
