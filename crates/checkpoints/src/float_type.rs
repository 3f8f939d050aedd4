//! The types of floats that weights have in files.

use half::{bf16, f16};
use serde::Deserialize;

/// The type of a tensor, as safetensors names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum FloatType {
    F32,
    F16,
    Bf16,
}

impl FloatType {
    /// Bytes of a value.
    pub(crate) const fn size(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// As safetensors names it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Bf16 => "BF16",
        }
    }

    /// As torch names it.
    pub(crate) const fn torch_name(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::F16 => "float16",
            Self::Bf16 => "bfloat16",
        }
    }

    /// The nearest value of the type.
    pub(crate) fn round(self, value: f32) -> f32 {
        match self {
            Self::F32 => value,
            // The crate `half` rounds ties to the even number, as torch does.
            Self::F16 => f16::from_f32(value).to_f32(),
            Self::Bf16 => bf16::from_f32(value).to_f32(),
        }
    }

    /// The bytes of `values`, each rounded to the type.
    pub(crate) fn encode(self, values: impl Iterator<Item = f32>) -> Vec<u8> {
        match self {
            Self::F32 => values.flat_map(f32::to_le_bytes).collect(),
            Self::F16 => values
                .flat_map(|value| f16::from_f32(value).to_le_bytes())
                .collect(),
            Self::Bf16 => values
                .flat_map(|value| bf16::from_f32(value).to_le_bytes())
                .collect(),
        }
    }

    /// The values with these bytes.
    pub(crate) fn decode(self, bytes: &[u8]) -> Vec<f32> {
        let halves = bytes.as_chunks::<2>().0.iter().copied();
        match self {
            Self::F32 => {
                let words = bytes.as_chunks::<4>().0.iter().copied();
                words.map(f32::from_le_bytes).collect()
            }
            Self::F16 => halves
                .map(|half| f16::from_le_bytes(half).to_f32())
                .collect(),
            Self::Bf16 => halves
                .map(|half| bf16::from_le_bytes(half).to_f32())
                .collect(),
        }
    }
}
