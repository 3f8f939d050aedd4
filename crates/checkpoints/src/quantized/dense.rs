//! A tensor that is not quantized, with its bytes.

use super::stored::{self, StoredPart};
use crate::float_type::FloatType;

/// A tensor for a file of weights.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DenseTensor {
    /// As safetensors names it.
    pub(crate) dtype: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl DenseTensor {
    /// `values`, each rounded to `dtype`.
    pub(super) fn rounded(
        dtype: FloatType,
        shape: Vec<usize>,
        values: impl Iterator<Item = f32>,
    ) -> Self {
        Self {
            dtype: dtype.as_str().to_owned(),
            shape,
            bytes: dtype.encode(values),
        }
    }

    /// The bytes of a value; types that are not known have the narrowest.
    pub(crate) fn width(&self) -> usize {
        stored::size(&self.dtype).unwrap_or(1)
    }
}

/// A tensor that the method left as it was.
impl From<StoredPart> for DenseTensor {
    fn from(stored: StoredPart) -> Self {
        Self {
            dtype: stored.dtype,
            shape: stored.shape,
            bytes: stored.bytes,
        }
    }
}

/// The type of floats that a tensor has.
pub(super) fn float_type(stored: &StoredPart) -> Result<FloatType, String> {
    match stored.dtype.as_str() {
        "F32" => Ok(FloatType::F32),
        "F16" => Ok(FloatType::F16),
        "BF16" => Ok(FloatType::Bf16),
        other => Err(format!(
            "`{}` has the type {other}, not F32, F16 or BF16",
            stored.name
        )),
    }
}
