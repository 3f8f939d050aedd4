//! Reads the tensors and metadata of a safetensors file.

use safetensors::{Dtype, SafeTensors};
use std::{collections::HashMap, path::Path};
use testgen_runtime::{Array, Arrays};

/// A safetensors file in memory.
pub(crate) struct Tensors {
    pub(crate) arrays: Arrays,
    pub(crate) metadata: HashMap<String, String>,
}

impl Tensors {
    pub(crate) fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("the file can be read");
        let (_, header) = SafeTensors::read_metadata(&bytes).expect("it is safetensors");
        let file = SafeTensors::deserialize(&bytes).expect("it is safetensors");
        let arrays = file
            .tensors()
            .into_iter()
            .map(|(name, view)| (name, array(view.dtype(), view.shape(), view.data())));
        Self {
            arrays: arrays.collect(),
            metadata: header.metadata().clone().unwrap_or_default(),
        }
    }
}

fn array(dtype: Dtype, shape: &[usize], data: &[u8]) -> Array {
    match dtype {
        Dtype::U8 => Array::bytes(shape, data.to_vec()),
        Dtype::F16 => Array::floats(
            shape,
            each(data, |bytes| half::f16::from_le_bytes(bytes).to_f32()),
        ),
        Dtype::F32 => Array::floats(shape, each(data, f32::from_le_bytes)),
        Dtype::I8 => Array::integers(shape, each(data, |bytes| i8::from_le_bytes(bytes).into())),
        Dtype::I16 => Array::integers(shape, each(data, |bytes| i16::from_le_bytes(bytes).into())),
        Dtype::I64 => Array::integers(shape, each(data, i64::from_le_bytes)),
        other => panic!("tensors of {other:?} are not recorded"),
    }
}

fn each<const N: usize, T>(data: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    data.as_chunks()
        .0
        .iter()
        .map(|chunk| read(*chunk))
        .collect()
}
