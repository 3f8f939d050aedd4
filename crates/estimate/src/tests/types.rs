//! Every registered type and class has an estimate, and the images of those that read any size.

use super::{headers, write_checkpoint};
use crate::{CallSizes, CheckpointHeaders, Estimate, EstimateError, tensor::Backend};
use serde_json::{Value, json};
use std::fs;
use testgen_types::{ModelType, Precision};

/// As many tensors as the default configurations have layers.
const TENSORS: usize = 64;

/// A small configuration, completed with the defaults of the type.
fn config(model_type: ModelType, class: &str) -> Value {
    json!({
        "model_type": model_type, "architectures": [class], "sample_size": 64,
        "backbone_config": { "model_type": "resnet" }, "vision_config": {}, "text_config": {}
    })
}

/// A checkpoint with the configuration.
fn checkpoint(config: &Value) -> Result<CheckpointHeaders, EstimateError> {
    let names: Vec<String> = (0..TENSORS).map(|index| format!("a.{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let directory = tempfile::tempdir().expect("it can be made");
    write_checkpoint(directory.path(), config, &names);
    CheckpointHeaders::read(directory.path())
}

/// The estimate of a class with the default configuration of its type.
fn estimate(model_type: ModelType, class: &str) -> Result<Estimate, EstimateError> {
    let sizes = CallSizes {
        batch: 2,
        tokens: 5,
    };
    checkpoint(&config(model_type, class))?.estimate(Backend::Host, Precision::Bf16, sizes)
}

/// The native types, all of which have an estimate.
fn estimated() -> impl Iterator<Item = ModelType> {
    let all = ModelType::ALL.iter().copied();
    all.filter(|model_type| model_type.native().is_some())
}

/// Files are not trusted: none of their numbers may end in a panic, or in work without an end.
#[test]
fn every_number_of_a_configuration_has_an_estimate_or_an_error() {
    let largest = u64::from(u32::MAX);
    let sizes = [(largest, 3), (2, largest)].map(|(batch, tokens)| CallSizes { batch, tokens });
    let mut answers = [0; 2];
    for model_type in estimated() {
        let small = config(model_type, &model_type.base_class());
        let fields = checkpoint(&small).expect("it is one").config.numbers();
        for field in &fields {
            for number in [0, 1, largest] {
                let mut config = small.clone();
                config[field] = number.into();
                let checkpoint = checkpoint(&config);
                for (backend, sizes) in [Backend::Host, Backend::Gpu].into_iter().zip(sizes) {
                    let estimate = |checkpoint: &CheckpointHeaders| {
                        checkpoint.estimate(backend, Precision::F16, sizes)
                    };
                    let is_estimated = checkpoint.as_ref().is_ok_and(|it| estimate(it).is_ok());
                    answers[usize::from(is_estimated)] += 1;
                }
            }
        }
    }
    assert!(answers.iter().all(|count| *count > 200), "{answers:?}");
}

#[test]
fn every_class_of_the_native_types_has_an_estimate_and_no_other() {
    let mut classes = 0;
    for model_type in estimated() {
        for class in model_type.classes() {
            let found = estimate(model_type, &class);
            let peak = found.map(|estimate| estimate.activations);
            assert!(matches!(peak, Ok(1..)), "{class}: {peak:?}");
            classes += 1;
        }
    }
    assert!(classes > 160, "{classes}");
    let other = estimate(ModelType::Vits, "VitsModel");
    assert!(
        matches!(other, Err(EstimateError::NoEstimate(_))),
        "{other:?}"
    );
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

#[test]
fn a_map_smaller_than_a_window_has_no_estimate() {
    let estimate = |image: u64| {
        let config = json!({
            "model_type": "swin", "architectures": ["SwinModel"], "image_size": image
        });
        let sizes = CallSizes {
            batch: 1,
            tokens: 5,
        };
        checkpoint(&config)?.estimate(Backend::Host, Precision::F32, sizes)
    };
    // Patches of 4 and three mergers: the last map has a side of 7, as a window has, and of 6.
    assert!(estimate(224).is_ok());
    let error = estimate(192).expect_err("is too small").to_string();
    assert_eq!(
        error,
        "`window_size` in config.json is `7`, expected at most a side of the smallest map"
    );
}
