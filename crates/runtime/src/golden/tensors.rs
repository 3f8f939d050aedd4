//! Reading safetensors as host arrays: floats become f32, integers and booleans i64.

use super::error::{GoldenError, Unreadable};
use safetensors::{Dtype, SafeTensorError, SafeTensors, tensor::TensorView};
use std::path::Path;
use testgen_nn::{
    array::{Array, Arrays},
    weights::header_fault,
};
use testgen_types::bounded_file::read_bytes;

/// All tensors of a file.
pub(super) fn read(file: &SafeTensors<'_>) -> Result<Arrays, Unreadable> {
    file.iter()
        .map(|(name, view)| match array(&view) {
            Ok(array) => Ok((name.to_owned(), array)),
            Err(why) => Err(Unreadable {
                part: name.to_owned(),
                why,
            }),
        })
        .collect()
}

/// All tensors of a file of the checkpoint of at most `limit` bytes.
pub(crate) fn read_file(path: &Path, limit: u64) -> Result<Arrays, GoldenError> {
    let bytes = read_bytes(path, limit)?;
    let file = SafeTensors::deserialize(&bytes).map_err(|error| damaged(path, &bytes, &error))?;
    read(&file).map_err(|unreadable| unreadable.in_file(path))
}

/// The error of a file of these `bytes`, which is not safetensors.
pub(super) fn damaged(path: &Path, bytes: &[u8], error: &SafeTensorError) -> GoldenError {
    GoldenError::Format {
        path: path.to_owned(),
        fault: header_fault(bytes, error),
    }
}

fn array(view: &TensorView<'_>) -> Result<Array, String> {
    let (shape, data) = (view.shape().to_vec(), view.data());
    Ok(match view.dtype() {
        Dtype::F32 => Array::floats(shape, each(data, f32::from_le_bytes)),
        Dtype::F64 => Array::floats(shape, each(data, |bytes| f64::from_le_bytes(bytes) as f32)),
        Dtype::F16 => Array::floats(
            shape,
            each(data, |bytes| half::f16::from_le_bytes(bytes).to_f32()),
        ),
        Dtype::BF16 => Array::floats(
            shape,
            each(data, |bytes| half::bf16::from_le_bytes(bytes).to_f32()),
        ),
        Dtype::I64 => Array::integers(shape, each(data, i64::from_le_bytes)),
        Dtype::I8 => Array::integers(shape, each(data, |bytes| i8::from_le_bytes(bytes).into())),
        Dtype::I16 => Array::integers(shape, each(data, |bytes| i16::from_le_bytes(bytes).into())),
        Dtype::I32 => Array::integers(shape, each(data, |bytes| i32::from_le_bytes(bytes).into())),
        Dtype::BOOL => Array::integers(shape, each(data, |[byte]| byte.into())),
        // Bytes are images and stay bytes: four times as many would be needed as integers of 32
        // bits.
        Dtype::U8 => Array::bytes(shape, data.to_vec()),
        other => return Err(format!("the type {other:?} does not occur in goldens")),
    })
}

fn each<const N: usize, T>(data: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    let (chunks, rest) = data.as_chunks::<N>();
    debug_assert!(rest.is_empty(), "safetensors checked the length");
    chunks.iter().map(|chunk| read(*chunk)).collect()
}
