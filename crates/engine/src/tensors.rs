//! Tensors of a message: one safetensors blob of f32, i64 and u8.

use safetensors::{Dtype, SafeTensors, View, serialize};
use std::{borrow::Cow, collections::BTreeMap};

/// Named tensors.
pub type Tensors = BTreeMap<String, Tensor>;

/// A dense row-major tensor on the host.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// The length of every dimension, outermost first.
    pub shape: Vec<usize>,
    /// The elements.
    pub data: TensorData,
}

/// The elements of a [`Tensor`].
#[derive(Debug, Clone, PartialEq)]
pub enum TensorData {
    /// Activations.
    F32(Vec<f32>),
    /// Token ids, masks, positions.
    I64(Vec<i64>),
    /// Bytes of images.
    U8(Vec<u8>),
}

/// The bytes of `tensors`, empty without tensors.
pub(crate) fn encode(tensors: &Tensors) -> Result<Vec<u8>, String> {
    // Most calls have none, and safetensors would write a header for them.
    if tensors.is_empty() {
        return Ok(Vec::new());
    }
    serialize(tensors.iter(), None).map_err(|error| error.to_string())
}

/// The tensors in `bytes`.
pub(crate) fn decode(bytes: &[u8]) -> Result<Tensors, String> {
    if bytes.is_empty() {
        return Ok(Tensors::new());
    }
    // The lengths that a file declares are compared with the data before anything is allocated.
    let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    file.iter()
        .map(|(name, view)| {
            let data = match view.dtype() {
                Dtype::F32 => TensorData::F32(numbers(view.data(), f32::from_le_bytes)),
                Dtype::I64 => TensorData::I64(numbers(view.data(), i64::from_le_bytes)),
                Dtype::U8 => TensorData::U8(view.data().to_vec()),
                other => return Err(format!("tensor `{name}` is {other:?}, not F32, I64 or U8")),
            };
            Ok((
                name.to_owned(),
                Tensor {
                    shape: view.shape().to_vec(),
                    data,
                },
            ))
        })
        .collect()
}

fn numbers<const N: usize, T>(bytes: &[u8], read: fn([u8; N]) -> T) -> Vec<T> {
    // safetensors has compared the length with the shape, so that no byte is left over.
    let chunks = bytes.chunks_exact(N);
    chunks
        .map(|chunk| read(chunk.try_into().expect("chunks have this length")))
        .collect()
}

impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        match self.data {
            TensorData::F32(_) => Dtype::F32,
            TensorData::I64(_) => Dtype::I64,
            TensorData::U8(_) => Dtype::U8,
        }
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        match &self.data {
            TensorData::F32(values) => values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
            TensorData::I64(values) => values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
            TensorData::U8(values) => Cow::Borrowed(values),
        }
    }

    fn data_len(&self) -> usize {
        match &self.data {
            TensorData::F32(values) => values.len() * 4,
            TensorData::I64(values) => values.len() * 8,
            TensorData::U8(values) => values.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_returns_bit_by_bit() {
        let tensor = |shape: &[usize], data| Tensor {
            shape: shape.to_vec(),
            data,
        };
        let tensors = Tensors::from([
            (
                "a".to_owned(),
                tensor(&[2, 1], TensorData::F32(vec![-0.0, f32::INFINITY])),
            ),
            (
                "b".to_owned(),
                tensor(&[1], TensorData::I64(vec![i64::MIN])),
            ),
            ("c".to_owned(), tensor(&[0, 3], TensorData::U8(vec![]))),
        ]);
        let bytes = encode(&tensors).expect("encodes");
        assert_eq!(decode(&bytes), Ok(tensors));
        assert_eq!(decode(&[]), Ok(Tensors::new()));
        assert!(decode(&bytes[..bytes.len() - 1]).is_err());
    }
}
