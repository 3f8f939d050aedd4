//! Reading tensors: what is shared with the file, which name a tensor has, and what counts as tied.

use super::{Conversion, Weights};
use crate::backend::Cpu;
use burn_tensor::DType;
use safetensors::{Dtype, tensor::TensorView};
use std::path::Path;
use tempfile::TempDir;

type Tensor = (&'static str, Dtype, Vec<usize>, Vec<u8>);

fn singles(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// A checkpoint of these tensors.
fn checkpoint(tensors: &[Tensor]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let views = tensors.iter().map(|(name, dtype, shape, bytes)| {
        (
            *name,
            TensorView::new(*dtype, shape.clone(), bytes).unwrap(),
        )
    });
    safetensors::serialize_to_file(views, None, &directory.path().join("model.safetensors"))
        .unwrap();
    directory
}

fn open(directory: &Path, dtype: DType) -> Weights<Cpu> {
    Weights::open(directory, &Default::default(), dtype).unwrap()
}

/// On the host a tensor stays in the file, but for a matrix in half precision that is to be turned.
#[test]
fn the_host_shares_what_its_kernels_read_as_fast() {
    let half = vec![0; 12];
    let directory = checkpoint(&[
        ("half", Dtype::F16, vec![2, 3], half),
        (
            "single",
            Dtype::F32,
            vec![2, 3],
            singles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ),
    ]);
    let shared = |name, dtype, conversion| {
        let weights = open(directory.path(), dtype);
        weights
            .shared(&weights.stored(name, &[2, 3]).unwrap(), conversion)
            .is_some()
    };
    assert!(shared("single", DType::F32, Conversion::AsIs));
    assert!(shared("single", DType::F32, Conversion::Transposed));
    assert!(shared("half", DType::F16, Conversion::AsIs));
    assert!(!shared("half", DType::F16, Conversion::Transposed));
}

/// Checkpoints converted from TensorFlow call the weight and bias of a layer norm gamma and beta.
#[test]
fn weight_and_bias_may_have_their_older_names() {
    let directory = checkpoint(&[
        ("norm.gamma", Dtype::F32, vec![1], singles(&[2.0])),
        ("norm.beta", Dtype::F32, vec![1], singles(&[3.0])),
    ]);
    let weights = open(directory.path(), DType::F32).module("norm");
    assert_eq!(weights.values("weight", &[1]).unwrap(), [2.0]);
    assert_eq!(weights.values("bias", &[1]).unwrap(), [3.0]);
    assert!(weights.unread_names().is_empty());
}

/// Bytes that agree by chance do not make tensors of another type or shape the same.
#[test]
fn a_tied_tensor_has_the_type_and_shape_of_its_source() {
    let tied = |dtype, shape: &[usize]| {
        let directory = checkpoint(&[
            ("source", Dtype::F32, vec![2, 1], vec![0; 8]),
            ("tied", dtype, shape.to_vec(), vec![0; 8]),
        ]);
        let weights = open(directory.path(), DType::F32);
        weights.values("source", &[2, 1]).unwrap();
        weights.mark_tied("tied");
        weights.check_tied().is_ok()
    };
    assert!(tied(Dtype::F32, &[2, 1]));
    assert!(!tied(Dtype::F32, &[1, 2]));
    assert!(!tied(Dtype::F16, &[4, 1]));
    assert!(!tied(Dtype::F64, &[1, 1]));
    assert!(!tied(Dtype::I32, &[2, 1]));
}

/// No signal ends the process, as it would if the copy were read from the mapped file.
#[test]
fn a_file_that_is_cut_off_is_an_error_of_a_copy() {
    let directory = checkpoint(&[("w", Dtype::F32, vec![4096], vec![0; 4 * 4096])]);
    let weights = open(directory.path(), DType::F16);
    assert!(weights.check_unchanged().is_ok());
    assert!(weights.tensor("w", [4096]).is_ok());
    let file = std::fs::File::options()
        .write(true)
        .open(directory.path().join("model.safetensors"))
        .unwrap();
    file.set_len(1024).unwrap();
    let error = weights.tensor("w", [4096]).unwrap_err().to_string();
    assert!(error.contains("model.safetensors`: "), "{error}");
    let error = weights.check_unchanged().unwrap_err().to_string();
    assert!(
        error.contains("it was changed while the model was in use"),
        "{error}"
    );
}
