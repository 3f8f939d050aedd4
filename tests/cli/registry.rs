//! The recorder's copy of the registry: `src/record/registry.json` is written from the table in `testgen-types`.

use crate::drift::assert_current;
use serde_json::json;
use testgen_types::{ModelType, ScoreFunction};

/// One line for each model type, in the order of the registry.
fn registry() -> String {
    let lines: Vec<String> = ModelType::ALL.iter().map(|kind| format!("  \"{kind}\": {}", line(*kind))).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

fn line(model_type: ModelType) -> serde_json::Value {
    let entry = model_type.entry();
    json!({
        "any_image_size": entry.any_image_size,
        "architecture": model_type.architecture().as_str(),
        "class": entry.class,
        "classes": model_type.classes(),
        "definition": entry.definition,
        "forced_tokenizer": entry.forced_tokenizer,
        "processor": entry.processor,
        "recorder": entry.recorder,
        "scores": match entry.scores {
            ScoreFunction::Softmax => "softmax",
            ScoreFunction::Sigmoid => "sigmoid",
        },
        "tokenizer": entry.tokenizer,
    })
}

#[test]
fn the_recorders_registry_is_current() {
    assert_current("src/record/registry.json", &registry());
}
