//! Reading goldens: the goldens of the fixtures, and written ones that are minimal or damaged.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use safetensors::tensor::TensorView;
use std::collections::HashMap;
use testgen_nn::array::Array;

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
fn errors_name_the_missing_or_damaged_part() {
    let message = |tensors: &[(&str, &[f32])], metadata: &[(&str, &str)]| {
        read(tensors, metadata).unwrap_err().to_string()
    };
    assert!(message(&REQUIRED, &[]).contains("model_class"));
    assert!(message(&REQUIRED[..1], &[CLASS]).contains("output.*"));
    assert!(message(&REQUIRED[1..], &[CLASS]).contains("input.*"));
    assert!(message(&REQUIRED, &[CLASS, ("noise.f16", "{")]).contains("noise.f16"));
    assert!(message(&REQUIRED, &[CLASS, ("noise.f16", "{\"y\": [-1, 0]}")]).contains("-1"));
    assert!(message(&REQUIRED, &[CLASS, ("text", "no list")]).contains("text"));
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(
        Golden::read(directory.path()),
        Err(GoldenError::Missing { .. })
    ));
    std::fs::write(directory.path().join(FILE), b"nonsense").unwrap();
    assert!(matches!(
        Golden::read(directory.path()),
        Err(GoldenError::Format { .. })
    ));
}

/// Every device would agree with them.
#[test]
fn parts_that_nothing_could_be_compared_with_are_refused() {
    let message = |tensors: &[(&str, &[f32])]| match read(tensors, &[CLASS]) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    let with = |others: &[(&'static str, &'static [f32])]| [&REQUIRED[..], others].concat();
    let empty = message(&[REQUIRED[0], ("output.y", &[])]);
    assert!(empty.contains("has no `output.*` with elements"), "{empty}");
    let case = message(&with(&[
        ("case.1.input.x", &[1.0]),
        ("case.1.output.y", &[]),
    ]));
    assert!(case.contains("`case.1.output.*` with elements"), "{case}");
    assert_eq!(
        message(&with(&[("output.z", &[])])),
        "",
        "another has elements"
    );
    let router = message(&with(&[("router.3", &[1.0])]));
    assert!(
        router.contains("no `routing.3`, although it has `router.3`"),
        "{router}"
    );
    let routing = message(&with(&[("routing.3", &[1.0])]));
    assert!(
        routing.contains("no `router.3`, although it has `routing.3`"),
        "{routing}"
    );
    assert_eq!(
        message(&with(&[("router.3", &[1.0]), ("routing.3", &[1.0])])),
        ""
    );
}

#[test]
fn what_no_recorder_writes_is_refused() {
    let message = |tensors: &[(&str, &[f32])], metadata: &[(&str, &str)]| {
        let tensors = [&REQUIRED[..], tensors].concat();
        read(&tensors, &[&[CLASS][..], metadata].concat())
            .unwrap_err()
            .to_string()
    };
    let one: &[f32] = &[1.0];
    for name in [
        "something.else",
        "extra",
        "trace.depth.0",
        "case.x.input.y",
        "case.0.input.x",
        "case.1.router.0",
        "case.1.trace.embed",
        "case.1.tokens.start",
        "image.first",
        "graph.0",
    ] {
        let message = message(&[(name, one)], &[]);
        assert!(
            message.contains(&format!("`{name}` of ")) && message.contains("no such part"),
            "{message}"
        );
    }
    let name = format!("input.{}", "x".repeat(1_000_000));
    let long = message(&[(name.as_str(), one)], &[]);
    assert!(
        long.contains("its name has 1000006 bytes") && long.len() < 600,
        "{} bytes",
        long.len()
    );
    for (mask, expected) in [
        (&[1.0, 7.0][..], "element 1 is 7; a mask has 0 and 1"),
        (&[f32::NAN], "element 0 is NaN; a mask has 0 and 1"),
        (
            &[0.0, 0.0],
            "it hides every token; a mask shows at least one",
        ),
    ] {
        let message = message(&[("input.attention_mask", mask)], &[]);
        assert!(
            message.contains("`input.attention_mask` of ") && message.contains(expected),
            "{message}"
        );
    }
    for (key, value, expected) in [
        ("noise.f61", "{}", "`noise.f61` of "),
        (
            "noise.f16",
            r#"{"y": [0, 0], "z": [0, 0]}"#,
            "`z` is not a recorded tensor",
        ),
        (
            "noise.f16",
            r#"{"y": [0, 1e9]}"#,
            "expected two numbers from 0 to 1000",
        ),
    ] {
        let message = message(&[], &[(key, value)]);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn parts_that_no_recorder_writes_are_named() {
    let message = |name: &str, values: &[f32]| {
        let mut tensors = REQUIRED.to_vec();
        tensors.push((name, values));
        read(&tensors, &[CLASS]).unwrap_err().to_string()
    };
    for (name, expected) in [
        (
            "input.decoder_input_ids",
            "its shape is [1]; token ids are [rows, seq] with at least one column",
        ),
        ("tokens.start", "token ids are [rows, seq]"),
        (
            "trace.layer.18446744073709551615",
            "a golden has no such part",
        ),
        ("graph.0.edge_index", "`graph.0.num_nodes` of "),
        (
            "graph.3.num_nodes",
            "it is [], expected one number from 1 to 4096",
        ),
    ] {
        let message = message(name, &[1.0]);
        assert!(message.contains(expected), "{message}");
    }
}

#[cfg(unix)]
#[test]
fn a_golden_of_another_kind_of_file_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(FILE);
    let message = || Golden::read(directory.path()).unwrap_err().to_string();
    std::fs::File::create(&path)
        .and_then(|file| file.set_len(20_000_000_000))
        .unwrap();
    assert!(
        message().contains("golden.safetensors`: it has 20000000000 bytes, and at most"),
        "{}",
        message()
    );
    std::fs::remove_file(&path).unwrap();
    for (target, expected) in [
        ("nowhere", "it is a link to `nowhere`"),
        ("/dev/zero", "it is a device"),
    ] {
        std::os::unix::fs::symlink(target, &path).unwrap();
        assert!(message().contains(expected), "{}", message());
        std::fs::remove_file(&path).unwrap();
    }
    let header = br#"{"input.x":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#;
    std::fs::write(
        &path,
        [&(header.len() as u64).to_le_bytes(), &header[..], &[0; 8]].concat(),
    )
    .unwrap();
    assert!(
        message().contains("golden.safetensors` is damaged: tensor `input.x` has 8 bytes"),
        "{}",
        message()
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

use testgen_types::Precision;
