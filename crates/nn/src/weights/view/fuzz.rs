//! Fuzzing of the files of weights: headers of safetensors, and the index of a sharded checkpoint.

use super::{Files, Weights, WeightsError};
use crate::backend::Cpu;
use crate::weights::{element_count, extent, file_metadata, is_zero, not_finite, stored_elements};
use burn_tensor::DType;
use std::{fs, path::Path};
use testgen_fuzz::{Random, Target, assert_message, repair_safetensors, scratch_directory, seeds};

const FILE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// Bytes that begin with `{` are an index, others the file itself. Whatever they are, every tensor
/// that is found has the bytes of its shape, and can be converted to every type or is refused.
#[test]
fn fuzz_headers_and_indexes() {
    let directory = scratch_directory();
    let path = directory.path();
    let mut seeds = seeds(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/golden"),
        None,
    );
    let shard = seeds
        .iter()
        .find(|seed| !seed.starts_with(b"{"))
        .expect("a file is kept")
        .clone();
    fs::write(path.join("one.safetensors"), shard).expect("it can be written");
    seeds.push(
        br#"{"metadata":{"total_size":8},"weight_map":{"input.input_ids":"one.safetensors"}}"#
            .to_vec(),
    );
    Target {
        name: "safetensors",
        seeds,
        dictionary: &[
            "\"dtype\":\"F32\"",
            "\"BF16\"",
            "\"F16\"",
            "\"F64\"",
            "\"I64\"",
            "\"BOOL\"",
            "\"F4\"",
            "\"shape\":[",
            "\"data_offsets\":[0,8]",
            "\"__metadata__\":{\"format\":\"pt\"},",
            ".gamma",
            ".weight",
            "weight_map",
            "one.safetensors",
            "../",
            "\\u001b",
            "\\n",
        ],
        repair: Some(repair),
        executions: 2000,
        behaviours: 15,
        check: &|bytes| {
            let (written, other) = if bytes.starts_with(b"{") {
                (INDEX, FILE)
            } else {
                (FILE, INDEX)
            };
            // It may not be there.
            let _ = fs::remove_file(path.join(other));
            fs::write(path.join(written), bytes).expect("it can be written");
            match Files::open(path) {
                Ok(files) => check_files(path, &files),
                Err(error) => assert_message(&error.to_string()),
            }
        },
    }
    .run();
}

fn repair(bytes: &mut Vec<u8>, random: &mut Random) {
    if !bytes.starts_with(b"{") {
        repair_safetensors(bytes, random);
    }
}

fn check_files(path: &Path, files: &Files) -> String {
    let names: Vec<String> = files.names().map(str::to_owned).collect();
    let mut behaviour = String::new();
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let weights =
            Weights::<Cpu>::open(path, &Default::default(), dtype).expect("the files are readable");
        for name in &names {
            let stored = files.find(name).expect("it is listed");
            let bits = stored.shape.iter().product::<usize>() * stored.dtype.bitsize();
            assert_eq!(stored.bytes().len(), bits.div_ceil(8));
            behaviour = check_tensor(&weights, name, stored.shape);
        }
        assert!(weights.unread_names().len() <= names.len());
    }
    let extent = extent(path).expect("the files are readable");
    assert_eq!(extent.tensors, names.len());
    assert_eq!(
        element_count(path).ok(),
        Some(stored_elements(path, &names))
    );
    assert!(stored_elements(path, &names) >= extent.largest as u64);
    let finite = not_finite(path, &names)
        .expect("the files are readable")
        .is_none();
    let zero = names
        .first()
        .is_some_and(|name| is_zero(path, name).expect("the files are readable"));
    let metadata = file_metadata(&path.join(FILE), "format").is_some();
    format!(
        "{} {finite} {zero} {metadata} {behaviour}",
        names.len().min(3)
    )
}

/// The values as they are, and turned where they are a matrix.
fn check_tensor(weights: &Weights<Cpu>, name: &str, shape: &[usize]) -> String {
    let describe = |error: &WeightsError| assert_message(&error.to_string());
    let values = weights.values(name, shape);
    if let Ok(values) = &values {
        assert_eq!(values.len(), shape.iter().product::<usize>());
    }
    assert_message(
        &weights
            .values(name, &[7, 7, 7])
            .expect_err("it has another shape")
            .to_string(),
    );
    let turned = match *shape {
        [out, inner] => weights
            .transposed(name, [out, inner])
            .map(|tensor| assert_eq!(tensor.dims(), [inner, out])),
        [length] => weights
            .tensor(name, [length])
            .map(|tensor| assert_eq!(tensor.dims(), [length])),
        _ => Ok(()),
    };
    format!(
        "{:?} {:?}",
        values.as_ref().err().map(describe),
        turned.as_ref().err().map(describe)
    )
}
