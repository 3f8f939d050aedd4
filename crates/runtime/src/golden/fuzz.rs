//! Fuzzing of `golden.safetensors`: its tensors and its metadata.

use super::{FILE, Golden};
use crate::{compare::compare, tolerance::Tolerance};
use std::fs;
use testgen_fuzz::{Target, assert_message, repair_safetensors, scratch_directory};
use testgen_nn::array::Array;
use testgen_processing::image::Image;
use testgen_types::Precision;

/// An accepted golden can be used: the inputs of generation and of the preprocessors exist or are
/// refused, and every tensor is compared with itself.
#[test]
fn fuzz_goldens() {
    let directory = scratch_directory();
    Target {
        name: "golden",
        seeds: Vec::new(),
        dictionary: &[
            "\"model_class\":\"RagTokenForGeneration\",",
            "\"text\":\"[\\\"a\\\"]\",",
            "\"noise.f16\":\"{\\\"logits\\\":[0.1,0.2]}\",",
            "\"noise.reference\":\"float32\",",
            "\"pad_token_id\":\"",
            "\"summaries\":\"{\\\"output.y\\\":{\\\"shape\\\":[9],\\\"largest\\\":1}}\",",
            "\"drawn\":\"{\\\"input.x\\\":{\\\"shape\\\":[9],\\\"seed\\\":1,\\\"mean\\\":0,\\\"std\\\":1}}\",",
            "input.",
            "output.",
            "case.1.",
            "trace.layer.",
            "decoder_input_ids",
            "attention_mask",
            "tokens.start",
            "tokens.prompt",
            "graph.0.num_nodes",
            "image.0",
            "audio.",
            "router.0",
            "\"F16\"",
            "\"I64\"",
            "\"U8\"",
            "\"BOOL\"",
            "\"shape\":[",
            "[0,2]",
        ],
        repair: Some(repair_safetensors),
        executions: 2000,
        behaviours: 30,
        check: &|bytes| {
            fs::write(directory.path().join(FILE), bytes).expect("it can be written");
            match Golden::read(directory.path()) {
                Ok(golden) => check_golden(&golden),
                Err(error) => assert_message(&error.to_string()),
            }
        },
    }
    .run();
}

fn check_golden(golden: &Golden) -> String {
    let (start, prompt) = (golden.start_tokens().is_some(), golden.prompt().is_some());
    for &precision in Precision::ALL {
        let tolerance = Tolerance::new(&golden.noise, &[], precision, false);
        for (name, result) in golden.cases.iter().flat_map(|case| &case.outputs) {
            let threshold = tolerance.golden(name);
            assert!(
                threshold.rel_l2.is_finite() && threshold.rel_l2 > 0.0,
                "{name} {threshold:?}"
            );
            let Some(array) = result.whole() else {
                let computed = Array::floats([1], vec![result.largest() as f32]);
                assert!(result.beside(&computed).is_none() || result.shape() == [1]);
                continue;
            };
            let comparison = compare(name, array, array, threshold);
            assert!(
                comparison.failure.is_none() || array.as_floats().is_none(),
                "{name}: not equal to itself"
            );
        }
    }
    for graph in &golden.graphs {
        let nodes = graph.get("num_nodes").and_then(Array::as_integers);
        assert!(nodes.is_some_and(|nodes| nodes[0] > 0), "{graph:?}");
    }
    let inputs: String = golden
        .images
        .iter()
        .filter_map(|image| Image::from_array(image).err())
        .map(|error| assert_message(&error.to_string()))
        .collect();
    let parts = [
        golden.trace.len(),
        golden.routers.len(),
        golden.images.len(),
        golden.audio.len(),
        golden.graphs.len(),
    ];
    format!(
        "{} {start} {prompt} {inputs} {:?}",
        golden.cases.len().min(3),
        parts.map(|count| count.min(2))
    )
}
