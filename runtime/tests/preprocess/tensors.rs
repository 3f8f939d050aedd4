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
        let bytes = std::fs::read(path).unwrap();
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let arrays =
            file.tensors().into_iter().map(|(name, view)| (name, array(view.dtype(), view.shape(), view.data())));
        Self { arrays: arrays.collect(), metadata: header.metadata().clone().unwrap_or_default() }
    }
}

fn array(dtype: Dtype, shape: &[usize], data: &[u8]) -> Array {
    match dtype {
        Dtype::U8 => Array::bytes(shape, data.to_vec()),
        Dtype::F32 => {
            Array::floats(shape, data.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect())
        }
        Dtype::I8 => Array::integers(shape, data.iter().map(|byte| byte.cast_signed().into()).collect()),
        Dtype::I16 => {
            Array::integers(shape, data.as_chunks().0.iter().map(|b| i16::from_le_bytes(*b).into()).collect())
        }
        Dtype::F16 => {
            let floats = data.as_chunks().0.iter().map(|b| half::f16::from_le_bytes(*b).to_f32());
            Array::floats(shape, floats.collect())
        }
        Dtype::I64 => {
            Array::integers(shape, data.chunks_exact(8).map(|b| i64::from_le_bytes(b.try_into().unwrap())).collect())
        }
        other => panic!("tensors of {other:?} are not recorded"),
    }
}
