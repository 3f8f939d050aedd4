//! Every registered type and class has an estimate, except two, and the images of those that read any size.

use super::{headers, write_checkpoint};
use crate::{CallSizes, CheckpointHeaders, Estimate, EstimateError, tensor::Backend};
use serde_json::json;
use std::fs;
use testgen_types::{ModelType, Precision};

/// The types whose measured peaks an estimate missed (docs/memory.md).
const MISSED: [ModelType; 2] = [ModelType::Graphormer, ModelType::Rag];

/// As many tensors as the default configurations have layers.
const TENSORS: usize = 64;

/// The estimate of a class with the default configuration of its type.
fn estimate(model_type: ModelType, class: &str) -> Result<Estimate, EstimateError> {
    let config = json!({
        "model_type": model_type, "architectures": [class], "sample_size": 64,
        "backbone_config": { "model_type": "resnet" }, "vision_config": {}, "text_config": {}
    });
    let names: Vec<String> = (0..TENSORS).map(|index| format!("a.{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let sizes = CallSizes {
        batch: 2,
        tokens: 5,
    };
    headers(&config, &names).estimate(Backend::Host, Precision::Bf16, sizes)
}

#[test]
fn every_class_of_the_other_native_types_has_an_estimate() {
    let native = ModelType::ALL
        .iter()
        .filter(|model_type| model_type.native().is_some() && !MISSED.contains(model_type));
    let mut classes = 0;
    for model_type in native {
        for class in model_type.classes() {
            let found = estimate(*model_type, &class);
            let peak = found.map(|estimate| estimate.activations);
            assert!(matches!(peak, Ok(1..)), "{class}: {peak:?}");
            classes += 1;
        }
    }
    assert!(classes > 160, "{classes}");
    for model_type in MISSED {
        let class = &model_type.classes()[0];
        assert!(estimate(model_type, class).is_err(), "{class}");
    }
}

#[test]
fn images_have_the_size_of_the_configuration_else_of_the_processor() {
    let config = json!({ "model_type": "resnet" });
    assert_eq!(headers(&config, &["a"]).image_size(), [224, 224]);
    let config = json!({ "model_type": "swin", "image_size": [32, 48] });
    assert_eq!(headers(&config, &["a"]).image_size(), [32, 48]);
    let config = json!({ "model_type": "detr" });
    assert_eq!(headers(&config, &["a"]).image_size(), [800, 1333]);
    let directory = tempfile::tempdir().expect("it can be made");
    write_checkpoint(directory.path(), &config, &["a"]);
    let processor = json!({ "size": { "shortest_edge": 32, "longest_edge": 44 } });
    let file = directory.path().join("preprocessor_config.json");
    fs::write(file, processor.to_string()).expect("it can be written");
    let checkpoint = CheckpointHeaders::read(directory.path()).expect("it is a checkpoint");
    assert_eq!(checkpoint.image_size(), [32, 44]);
}
