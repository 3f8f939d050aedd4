//! Each method against the digests of what its library computes, which `python/fixtures/quantized.py`
//! writes, and checkpoints that lack something.

use super::{DenseTensor, QuantizedWeights};
use crate::{
    cache::made_in,
    computed_weights::ComputedWeights,
    weights_file::{self, HeaderLine, header},
};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};
use testgen_types::{QuantizationScheme, QuantizedCheckpoint};

/// A tensor as the library has it.
#[derive(Debug, PartialEq, Deserialize)]
struct ExpectedTensor {
    dtype: String,
    shape: Vec<usize>,
    sha256: String,
}

/// The checkpoints that libraries wrote, and the ones that each scheme writes.
fn cases() -> Vec<PathBuf> {
    let folders = ["src/tests/quantized", "src/tests/written"];
    let entries = folders.into_iter().flat_map(|folder| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        fs::read_dir(folder).expect("the folder of the cases")
    });
    let mut cases: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    cases.sort();
    cases
}

fn open(directory: &Path) -> QuantizedWeights {
    let config = super::config_of(directory);
    let weights = QuantizedWeights::open(directory, &config).expect("is readable");
    weights.expect("is quantized")
}

#[test]
fn each_value_is_that_of_the_library() {
    let cases = cases();
    assert!(
        cases.len() >= 22 + QuantizationScheme::ALL.len(),
        "{}",
        cases.len()
    );
    for directory in cases {
        let text = fs::read_to_string(directory.join("dequantized.json")).expect("is there");
        let expected: BTreeMap<String, ExpectedTensor> =
            serde_json::from_str(&text).expect("digests");
        let weights = open(&directory);
        let found = weights.names().map(|name| {
            let tensor = weights.tensor(name).expect("is dequantized");
            let digest = Sha256::digest(&tensor.bytes);
            let found = ExpectedTensor {
                dtype: tensor.dtype,
                shape: tensor.shape,
                sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            };
            (name.to_owned(), found)
        });
        let found: BTreeMap<String, ExpectedTensor> = found.collect();
        assert_eq!(found, expected, "{}", directory.display());
    }
}

/// A copy of the case that can be changed.
fn copied(case: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/quantized");
    for name in ["config.json", "model.safetensors"] {
        let copied = fs::copy(source.join(case).join(name), directory.path().join(name));
        copied.expect("is copied");
    }
    directory
}

#[test]
fn the_made_checkpoint_is_unquantized_and_has_the_same_files() {
    let (cache, directory) = (tempfile::tempdir().expect("a directory"), copied("gptq"));
    fs::write(directory.path().join("golden.safetensors"), "golden").expect("is written");
    let weights = ComputedWeights::find(directory.path()).expect("is read");
    let made = made_in(
        cache.path(),
        directory.path(),
        &weights.expect("is quantized"),
    );
    let made = made.expect("is made");
    assert_eq!(QuantizedCheckpoint::in_directory(&made), None);
    let config: Value =
        serde_json::from_str(&fs::read_to_string(made.join("config.json")).expect("is there"))
            .expect("JSON");
    assert_eq!(config, serde_json::json!({}));
    assert_eq!(
        fs::read(made.join("golden.safetensors")).expect("is there"),
        b"golden"
    );
    let stored =
        super::stored::StoredFiles::open(&made, "model.safetensors").expect("is a checkpoint");
    let weights = open(directory.path());
    for name in weights.names() {
        let (found, expected) = (
            stored.read(name),
            weights.tensor(name).expect("is computed"),
        );
        assert_eq!(found.expect("is there").bytes, expected.bytes, "{name}");
    }
}

#[test]
fn weights_of_diffusers_have_another_name() {
    let directory = copied("bitsandbytes_nf4");
    let transformers = open(directory.path());
    let path = directory.path().join("config.json");
    let mut config = super::config_of(directory.path());
    config["_class_name"] = "UNet2DConditionModel".into();
    fs::write(path, config.to_string()).expect("is written");
    let [from, to] = ["model.safetensors", "diffusion_pytorch_model.safetensors"]
        .map(|name| directory.path().join(name));
    fs::rename(from, to).expect("is renamed");
    let diffusers = open(directory.path());
    assert!(diffusers.names().eq(transformers.names()));
    for name in diffusers.names() {
        let [found, expected] = [&diffusers, &transformers].map(|weights| weights.tensor(name));
        assert_eq!(found.expect("is computed"), expected.expect("is computed"));
    }
}

/// A dense tensor may have any size and type.
#[test]
fn each_tensor_starts_at_a_multiple_of_its_width() {
    let directory = tempfile::tempdir().expect("a directory");
    let options = r#"{"quantization_config": {"quant_method": "fp8"}}"#;
    fs::write(directory.path().join("config.json"), options).expect("is written");
    let sizes = [
        ("a", "U8", 1, 1),
        ("b", "F16", 2, 3),
        ("c", "F32", 4, 5),
        ("d", "F64", 8, 1),
    ];
    let lines = sizes.map(|(name, dtype, width, count)| HeaderLine {
        name,
        dtype,
        shape: vec![count],
        bytes: width * count,
    });
    let mut bytes = header(lines.into_iter());
    bytes.extend(0..1 + 6 + 20 + 8_u8);
    fs::write(directory.path().join("model.safetensors"), bytes).expect("is written");
    let made = directory.path().join("made");
    weights_file::write_dequantized(&open(directory.path()), &made).expect("is written");
    let bytes = fs::read(&made).expect("is there");
    let length = u64::from_le_bytes(*bytes.first_chunk().expect("has a header")) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).expect("JSON");
    let mut first = 0;
    for (name, _, width, count) in sizes {
        let offsets = header[name]["data_offsets"].as_array().expect("a pair");
        let [start, end] = [0, 1].map(|side| offsets[side].as_u64().expect("a number"));
        assert_eq!(start % width, 0, "{name}");
        let content = &bytes[8 + length..][start as usize..end as usize];
        let expected: Vec<u8> = (first..).take((width * count) as usize).collect();
        assert_eq!(content, expected, "{name}");
        first += (width * count) as u8;
    }
}

/// The tensors of the case `gptq_v2` with these options of its format, in `config.json` or in the
/// file of the tool.
fn with_format(format: &Value, in_config: bool) -> Result<Vec<DenseTensor>, String> {
    let directory = copied("gptq_v2");
    let path = directory.path().join("config.json");
    let mut config = super::config_of(directory.path());
    let options = &mut config["quantization_config"];
    options
        .as_object_mut()
        .expect("an object")
        .remove("checkpoint_format");
    for (name, value) in format.as_object().expect("an object") {
        options[name] = value.clone();
    }
    if in_config {
        fs::write(path, config.to_string()).expect("is written");
    } else {
        let options = options.to_string();
        fs::write(path, "{}").expect("is written");
        fs::write(directory.path().join("quantize_config.json"), options).expect("is written");
    }
    let weights = open(directory.path());
    let tensors = weights.names().map(|name| weights.tensor(name));
    tensors
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())
}

#[test]
fn the_format_of_gptq_has_two_names_in_any_case_and_two_files() {
    let [first, second] = ["gptq", "gptq_v2"].map(|format| {
        let tensors = with_format(&json!({ "checkpoint_format": format }), true);
        tensors.expect("is dequantized")
    });
    assert_ne!(first, second);
    for (format, expected) in [
        (json!({ "format": "gptq_v2" }), &second),
        (json!({ "format": "GPTQ_V2" }), &second),
        (json!({ "checkpoint_format": "GPTQ_v2" }), &second),
        (
            json!({ "checkpoint_format": "gptq_v2", "format": "gptq" }),
            &second,
        ),
        (
            json!({ "checkpoint_format": null, "format": "gptq_v2" }),
            &second,
        ),
        (json!({ "checkpoint_format": "GPTQ" }), &first),
        (json!({}), &first),
    ] {
        for in_config in [true, false] {
            let found = with_format(&format, in_config).expect("is dequantized");
            assert_eq!(&found, expected, "{format} {in_config}");
        }
    }
    let error = with_format(&json!({ "format": "marlin" }), true).expect_err("is another layout");
    let expected = "the format of GPTQ is `marlin` in the configuration, not `gptq` or `gptq_v2`";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_changed_file_is_another_checkpoint() {
    let directory = copied("gptq");
    let before = open(directory.path()).identity();
    assert_eq!(open(directory.path()).identity(), before);
    let path = directory.path().join("model.safetensors");
    let bytes = fs::read(&path).expect("is there");
    fs::write(&path, bytes).expect("is written");
    assert_ne!(open(directory.path()).identity(), before);
}

/// The error about a case of which tensors are renamed, or have another shape of as many values.
fn error(case: &str, tensor: &str, replace: &[(&str, &str)]) -> String {
    let directory = copied(case);
    let path = directory.path().join("model.safetensors");
    let mut bytes = fs::read(&path).expect("is there");
    for (from, to) in replace {
        assert_eq!(from.len(), to.len(), "the header keeps its length");
        let at = bytes
            .windows(from.len())
            .position(|part| part == from.as_bytes());
        let at = at.expect("is in the header");
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    }
    fs::write(&path, bytes).expect("is written");
    let result = open(directory.path()).tensor(tensor);
    result.expect_err("is wrong").to_string()
}

#[test]
fn a_tensor_that_lacks_something_is_named_with_what_it_lacks() {
    let a = "model.a.weight";
    for (case, replace, expected) in [
        (
            "gptq",
            &[("a.qzeros", "a.qother")][..],
            "there is no part `.qzeros` beside",
        ),
        ("gptq", &[("[12,64]", "[64,12]")], "no number of bits fits"),
        (
            "gptq",
            &[("\"F16\",\"shape\":[3,64]", "\"I16\",\"shape\":[3,64]")],
            "has the type I16",
        ),
        ("awq", &[("[3,64]", "[64,3]")], "has the shape"),
        (
            "fp8",
            &[("[2,3]", "[4,3]")],
            "bytes, but the shape [4, 3] of F32",
        ),
        ("fp8", &[("[2,3]", "[3,2]")], "a grid of [3, 2] scales"),
        (
            "fp8",
            &[("\"shape\":[2,3]", "\"shape\":[  6]")],
            "a grid of [6, 1] scales",
        ),
        (
            "compressed_packed",
            &[("a.weight_shape", "a.weight_other")],
            "there is no part",
        ),
        (
            "bitsandbytes_nf4",
            &[("a.weight.absmax", "a.weight.abswax")],
            "there is no part",
        ),
        (
            "bitsandbytes_int8",
            &[("\"F32\",\"shape\":[64]", "\"U8\",\"shape\":[256]")],
            "256 scales, but there are 64 rows",
        ),
    ] {
        let text = error(case, a, replace);
        assert!(text.contains(expected), "{case}: {text}");
        assert!(text.contains("`model.a.weight` in `"), "{case}: {text}");
    }
}

#[test]
fn blocks_that_do_not_fill_the_shape_are_an_error() {
    let tensor = "model.experts.gate_up_proj";
    for (replace, expected) in [
        (
            "[2,24,2,15]",
            "has 1536 bytes, but the shape [2, 24, 2, 15]",
        ),
        (
            "[2,24,3,16]",
            "has 1536 bytes, but the shape [2, 24, 3, 16]",
        ),
        ("[4,12,2,16]", "has the shape [2, 24, 2]"),
    ] {
        let text = error("mxfp4", tensor, &[("[2,24,2,16]", replace)]);
        assert!(text.contains(expected), "{text}");
    }
}
