//! Synthetic weights that a scheme quantizes, against the committed files of each scheme.
//!
//! `python/tests/record/test_quantized_weights.py` reads the same files without this crate, and
//! `python/fixtures/quantized.py` lets the library of each method dequantize them.
//! `UPDATE_WRITTEN=1` writes them again.

use super::recorded;
use crate::{
    SyntheticError,
    cache::{complete_in, made_in},
    computed_weights::ComputedWeights,
    quantized::{DenseLayer, QuantizedShape, QuantizedWeights, config_of, writer},
    recipe::{FILE, Recipe},
};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;
use testgen_types::{QuantizationScheme, QuantizedCheckpoint};

const FILES: [&str; 2] = ["config.json", "model.safetensors"];

fn folder(scheme: QuantizationScheme) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/written");
    folder.join(scheme.as_str())
}

/// The recipe of a scheme beside an empty configuration.
fn source(scheme: QuantizationScheme) -> TempDir {
    let recipe = fs::read_to_string(folder(scheme).join(FILE)).expect("a recipe");
    let directory = recorded(&recipe);
    fs::write(directory.path().join("config.json"), "{}").expect("is written");
    directory
}

fn weights(directory: &Path) -> ComputedWeights {
    let weights = ComputedWeights::find(directory).expect("is read");
    weights.expect("there is a recipe")
}

#[test]
fn each_scheme_writes_the_committed_files() {
    let is_update = std::env::var_os("UPDATE_WRITTEN").is_some();
    for scheme in QuantizationScheme::ALL.iter().copied() {
        let (cache, source) = (tempfile::tempdir().expect("a directory"), source(scheme));
        let made = made_in(cache.path(), source.path(), &weights(source.path()));
        let made = made.expect("is made");
        assert_eq!(super::names(&made), FILES, "{scheme}");
        for name in FILES {
            let (written, committed) = (made.join(name), folder(scheme).join(name));
            if is_update {
                fs::copy(&written, &committed).expect("is copied");
            }
            let [written, committed] = [written, committed].map(|path| fs::read(path).ok());
            assert!(written == committed, "`{name}` of {scheme} differs");
        }
    }
}

#[test]
fn a_model_reads_dense_weights_with_the_names_and_shapes_of_the_recipe() {
    for scheme in QuantizationScheme::ALL.iter().copied() {
        let (cache, source) = (tempfile::tempdir().expect("a directory"), source(scheme));
        let made = complete_in(cache.path(), source.path(), &weights(source.path()));
        let made = made.expect("is made");
        assert_eq!(QuantizedCheckpoint::in_directory(&made), None, "{scheme}");
        assert_eq!(config_of(&made), serde_json::json!({}), "{scheme}");
        let bytes = fs::read(made.join("model.safetensors")).expect("has weights");
        let length = u64::from_le_bytes(*bytes.first_chunk().expect("has a header"));
        let header: Value = serde_json::from_slice(&bytes[8..8 + length as usize]).expect("JSON");
        let recipe = Recipe::read(source.path()).expect("a recipe");
        let tensors = recipe.tensors().expect("is small");
        for tensor in &tensors {
            let shape = &header[&tensor.name]["shape"];
            assert_eq!(*shape, serde_json::json!(tensor.shape), "{scheme}");
        }
        // The format of the file is the other entry.
        let entries = header.as_object().expect("an object").len();
        assert_eq!(entries, tensors.len() + 1, "{scheme}");
    }
}

#[test]
fn parts_have_the_bytes_of_their_layout() {
    for scheme in QuantizationScheme::ALL.iter().copied() {
        let sizes: &[u64] = match scheme {
            QuantizationScheme::Mxfp4 => &[3, 64, 2],
            _ => &[128, 256],
        };
        let recipe = Recipe::read(source(scheme).path()).expect("a recipe");
        let dtype = recipe.tensors().expect("is small")[0].dtype;
        let shape = QuantizedShape::new(scheme, dtype, sizes).expect("is divided");
        // Zeros have no scale.
        let values = vec![0.0; sizes.iter().product::<u64>() as usize];
        let layer = DenseLayer {
            shape,
            values: &values,
        };
        let (layout, contents) = (
            writer(scheme).layout(&shape),
            writer(scheme).quantize(&layer),
        );
        assert_eq!(layout.len(), contents.len(), "{scheme}");
        for (part, content) in layout.iter().zip(contents) {
            assert_eq!(part.bytes(), content.len(), "{scheme} {}", part.end);
        }
    }
}

/// The error about a recipe with this scheme and this shape.
fn error(scheme: &str, shape: &str, quantise: bool) -> String {
    let text = format!(
        r#"{{"seed": 1, {scheme}"tensors": [{{"name": "a.*.b.weight", "count": 2, "dtype": "F16", "shape": {shape}, "mean": 0, "std": 1, "quantise": {quantise}}}]}}"#
    );
    let error = Recipe::read(recorded(&text).path()).expect_err("is wrong");
    assert!(
        matches!(
            error,
            SyntheticError::Layer { .. } | SyntheticError::NotARecipe { .. }
        ),
        "{error:?}"
    );
    error.to_string()
}

#[test]
fn a_layer_that_the_scheme_does_not_divide_is_named_with_its_size() {
    let gptq = r#""quantise": "gptq-4-128", "#;
    for (scheme, shape, quantise, expected) in [
        (
            gptq,
            "[64, 96]",
            true,
            "`gptq-4-128` cannot quantize `a.*.b`: its 96 inputs are not a multiple of 128",
        ),
        (
            gptq,
            "[60, 128]",
            true,
            "its 60 outputs are not a multiple of 8",
        ),
        (
            gptq,
            "[2, 64, 128]",
            true,
            "its shape [2, 64, 128] has not 2 sizes",
        ),
        (
            r#""quantise": "mxfp4", "#,
            "[64, 128]",
            true,
            "its shape [64, 128] has not 3 sizes",
        ),
        (gptq, "[64, 128]", false, "belong together"),
        ("", "[64, 128]", true, "belong together"),
        (
            r#""quantise": "gptq-5-128", "#,
            "[64, 128]",
            true,
            "unknown variant `gptq-5-128`, expected one of `gptq-3-128`",
        ),
    ] {
        let text = error(scheme, shape, quantise);
        assert!(text.contains(expected), "{text}");
    }
}

/// A fault changes bytes of a part.
type Fault = fn(&mut [u8]);

fn next_scale(bytes: &mut [u8]) {
    bytes.rotate_left(2);
}

fn next_float(bytes: &mut [u8]) {
    bytes.rotate_left(4);
}

fn swapped_nibbles(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = byte.rotate_left(4);
    }
}

fn next_zero(bytes: &mut [u8]) {
    for byte in bytes {
        // Both codes of 4 bits in it, without a carry.
        *byte = (*byte & 0x77).wrapping_add(0x11) ^ (*byte & 0x88);
    }
}

fn reversed_words(bytes: &mut [u8]) {
    let words = bytes.as_chunks_mut::<4>().0;
    words.reverse();
}

/// Each is a fault of a writer, or what a reader with that fault computes.
#[test]
fn a_fault_in_a_part_changes_the_weights() {
    for (scheme, part, fault) in [
        (QuantizationScheme::Gptq4, ".qzeros", next_zero as Fault),
        (QuantizationScheme::Gptq4, ".g_idx", reversed_words),
        (QuantizationScheme::Gptq4, ".qweight", swapped_nibbles),
        (QuantizationScheme::Gptq4, ".scales", next_scale),
        (QuantizationScheme::Awq4, ".qzeros", next_zero),
        (QuantizationScheme::Awq4, ".qweight", swapped_nibbles),
        (QuantizationScheme::CompressedInt4, "_scale", next_scale),
        (
            QuantizationScheme::CompressedInt4,
            "_packed",
            swapped_nibbles,
        ),
        (QuantizationScheme::Fp8Block, "_scale_inv", next_float),
        (QuantizationScheme::BitsandbytesInt8, ".SCB", next_float),
        (QuantizationScheme::BitsandbytesNf4, ".absmax", next_float),
        (
            QuantizationScheme::BitsandbytesNf4,
            "proj.weight",
            swapped_nibbles,
        ),
        (QuantizationScheme::Mxfp4, "_blocks", swapped_nibbles),
    ] {
        let changed = dense(scheme, |bytes| fault(part_of(bytes, part)));
        assert!(changed != dense(scheme, |_| {}), "{scheme} {part}");
    }
}

#[test]
fn e4m3_of_mi300_is_not_that_of_ocp() {
    let scheme = QuantizationScheme::Fp8FnuzBlock;
    let changed = dense(scheme, |bytes| {
        let (from, to) = (b"\"F8_E4M3FNUZ\"", b"\"F8_E4M3\"    ");
        let mut places = bytes.windows(from.len());
        let place = places.position(|part| part == from).expect("has the type");
        bytes[place..place + to.len()].copy_from_slice(to);
    });
    assert!(changed != dense(scheme, |_| {}));
}

/// The bytes of the part of a layer with this end of its name.
fn part_of<'a>(bytes: &'a mut [u8], end: &str) -> &'a mut [u8] {
    let length = u64::from_le_bytes(*bytes.first_chunk().expect("has a header")) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).expect("JSON");
    let entries = header.as_object().expect("an object").iter();
    let mut found = entries.filter(|(name, _)| name.contains(".layers.") && name.ends_with(end));
    let (_, entry) = found.next().expect("is there");
    let place = |side: usize| {
        let offset = entry["data_offsets"][side].as_u64().expect("a number");
        8 + length + offset as usize
    };
    &mut bytes[place(0)..place(1)]
}

/// The quantized tensor of the committed file of `scheme` after a change of the file.
fn dense(scheme: QuantizationScheme, change: impl Fn(&mut [u8])) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a directory");
    for name in FILES {
        let mut bytes = fs::read(folder(scheme).join(name)).expect("is there");
        if name.ends_with(".safetensors") {
            change(&mut bytes);
        }
        fs::write(directory.path().join(name), bytes).expect("is written");
    }
    let config = config_of(directory.path());
    let weights = QuantizedWeights::open(directory.path(), &config).expect("is read");
    let recipe = Recipe::read(&folder(scheme)).expect("a recipe");
    let tensors = recipe.tensors().expect("is small");
    let layer = tensors.iter().find(|tensor| tensor.quantise);
    let tensor = weights
        .expect("is quantized")
        .tensor(&layer.expect("is there").name);
    tensor.expect("is computed").bytes
}
