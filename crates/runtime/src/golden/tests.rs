//! Reading goldens: the goldens of the fixtures, and written ones that are minimal.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod refused;

use super::*;
use safetensors::tensor::TensorView;
use std::collections::HashMap;
use testgen_nn::array::Array;
use testgen_types::Precision;

fn write(directory: &Path, tensors: &[(&str, &[f32])], metadata: &[(&str, &str)]) {
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|(_, values)| {
            values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        })
        .collect();
    let views = tensors.iter().zip(&bytes).map(|((name, values), bytes)| {
        (
            *name,
            TensorView::new(safetensors::Dtype::F32, vec![values.len()], bytes).unwrap(),
        )
    });
    let metadata: HashMap<String, String> = metadata
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    safetensors::serialize_to_file(views, Some(metadata), &directory.join(FILE)).unwrap();
}

fn read(tensors: &[(&str, &[f32])], metadata: &[(&str, &str)]) -> Result<Golden, GoldenError> {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), tensors, metadata);
    Golden::read(directory.path())
}

const REQUIRED: [(&str, &[f32]); 2] = [("input.x", &[1.0, 2.0]), ("output.y", &[3.0])];
const CLASS: (&str, &str) = ("model_class", "BertModel");

#[test]
fn the_required_parts_alone_are_a_golden() {
    let golden = read(&REQUIRED, &[CLASS]).unwrap();
    assert_eq!(golden.model_class, "BertModel");
    assert_eq!(golden.cases.len(), 1);
    assert_eq!(
        golden.main().inputs["x"],
        Array::floats([2], vec![1.0, 2.0])
    );
    assert_eq!(
        golden.main().outputs["y"].whole(),
        Some(&Array::floats([1], vec![3.0]))
    );
    assert!(golden.trace.is_empty() && golden.images.is_empty() && golden.tokens.is_empty());
    assert_eq!(golden.noise.level(Precision::F32, "y"), None);
}

#[test]
fn optional_parts_are_read_in_order() {
    let mut tensors = REQUIRED.to_vec();
    let one: &[f32] = &[1.0];
    tensors.extend([
        ("case.10.input.x", one),
        ("case.10.output.y", one),
        ("case.2.input.x", one),
    ]);
    tensors.extend([
        ("case.2.output.y", one),
        ("trace.layer.10", one),
        ("trace.layer.9", one),
        ("trace.embed", one),
    ]);
    tensors.extend([
        ("tokens.greedy", one),
        ("margin.greedy", one),
        ("image.0", one),
    ]);
    let golden = read(
        &tensors,
        &[
            CLASS,
            ("case.2.text", "[\"a\", \"b\"]"),
            ("pad_token_id", "7"),
        ],
    )
    .unwrap();
    let names: Vec<&str> = golden.cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["main", "case.2", "case.10"]);
    let trace: Vec<&str> = golden.trace.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(trace, ["embed", "layer.9", "layer.10"]);
    assert_eq!(
        golden.cases[1].texts.as_deref(),
        Some(&["a".to_owned(), "b".to_owned()][..])
    );
    assert_eq!(golden.main().texts, None);
    assert_eq!(golden.pad_token_id, Some(7));
    assert!(golden.tokens.contains_key("greedy") && golden.margins.contains_key("greedy"));
    assert_eq!(golden.images.len(), 1);
}

#[test]
fn summaries_and_drawn_inputs_are_read() {
    let sums: &[f32] = &[5.0, -1.0];
    let tensors = [REQUIRED[0], REQUIRED[1], ("output.large", sums)];
    let summaries = r#"{"output.large": {"shape": [9], "largest": 3.5}}"#;
    let drawn = r#"{"input.pixels": {"shape": [2, 3], "seed": 7, "mean": 3, "std": 2}}"#;
    let metadata = [CLASS, ("summaries", summaries), ("drawn", drawn)];
    let golden = read(&tensors, &metadata).unwrap();
    let large = &golden.main().outputs["large"];
    assert_eq!((large.shape(), large.largest()), (&[9][..], 3.5));
    assert_eq!(large.whole(), None);
    assert_eq!(golden.main().inputs["pixels"].shape(), [2, 3]);
    let lacking = read(&REQUIRED, &metadata).unwrap_err().to_string();
    assert!(lacking.contains("`output.large`"), "{lacking}");
    let unfit = [CLASS, ("summaries", &summaries.replace('9', "1"))];
    assert!(read(&tensors, &unfit).is_err());
}

#[test]
fn noise_of_f32_against_a_float32_reference_is_ignored() {
    let noise = [
        ("noise.f32", "{\"y\": [1e-7, 2e-7]}"),
        ("noise.f16", "{\"y\": [1e-3, 2e-3]}"),
    ];
    let mut metadata = vec![CLASS, noise[0], noise[1], ("noise.reference", "float64")];
    let golden = read(&REQUIRED, &metadata).unwrap();
    assert_eq!(
        golden.noise.level(Precision::F32, "y"),
        Some(NoiseLevel {
            rel_l2: 1e-7,
            max_rel: 2e-7
        })
    );
    assert_eq!(
        golden.noise.level(Precision::F16, "y"),
        Some(NoiseLevel {
            rel_l2: 1e-3,
            max_rel: 2e-3
        })
    );
    assert_eq!(golden.noise.level(Precision::Bf16, "y"), None);
    metadata[3] = ("noise.reference", "float32");
    let golden = read(&REQUIRED, &metadata).unwrap();
    assert_eq!(golden.noise.level(Precision::F32, "y"), None);
    assert_eq!(
        golden.noise.level(Precision::F16, "y"),
        Some(NoiseLevel {
            rel_l2: 1e-3,
            max_rel: 2e-3
        })
    );
}

#[test]
fn goldens_of_fixtures_are_read() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let llama = Golden::read(&fixtures.join("llama")).unwrap();
    assert_eq!(llama.model_class, "LlamaForCausalLM");
    assert_eq!(llama.cases.len(), 3);
    assert_eq!(llama.trace.len(), 3);
    assert_eq!(llama.tokens["greedy"].shape(), [2, 16]);
    assert!(llama.noise.level(Precision::F32, "trace.embed").is_some());
    assert_eq!(llama.main().texts.as_ref().map(Vec::len), Some(2));
    let vit = Golden::read(&fixtures.join("vit")).unwrap();
    assert_eq!(vit.images.len(), 2);
    assert_eq!(vit.images[0].shape()[2], 3);
    let directories = std::fs::read_dir(fixtures)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let recorded: Vec<_> = directories
        .filter(|directory| directory.join(FILE).exists())
        .collect();
    assert!(recorded.len() > 90, "{}", recorded.len());
    for directory in recorded {
        Golden::read(&directory).unwrap();
    }
}
