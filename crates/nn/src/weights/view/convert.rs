//! From the bytes of a file to the bytes of a tensor: type and, for linear weights, order, in one
//! pass.

use burn_tensor::DType;
use half::{bf16, f16};
use rayon::prelude::*;
use safetensors::Dtype;

/// Whether a matrix keeps its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    AsIs,
    Transposed,
}

/// A type of a float in a file or in a tensor; the conversion rounds to nearest even.
trait Float: Copy + Send + Sync {
    const BYTES: usize;
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
    fn to_f32(self) -> f32;
    fn from_f32(value: f32) -> Self;
}

macro_rules! float {
    ($type:ty, $bytes:literal, $to:expr, $from:expr) => {
        impl Float for $type {
            const BYTES: usize = $bytes;
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("a chunk of its size"))
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                $to(self)
            }
            #[inline(always)]
            fn from_f32(value: f32) -> Self {
                $from(value)
            }
        }
    };
}
float!(f64, 8, |value: f64| value as f32, f64::from);
float!(f32, 4, std::convert::identity, std::convert::identity);
float!(f16, 2, f16::to_f32, f16::from_f32);
float!(bf16, 2, bf16::to_f32, bf16::from_f32);

/// The bytes of a tensor of `dtype`, or none when the file's type is not a float.
pub(super) fn convert(
    bytes: &[u8],
    stored: Dtype,
    dtype: DType,
    shape: &[usize],
    conversion: Conversion,
) -> Option<Vec<u8>> {
    match stored {
        Dtype::F64 => Some(convert_from::<f64>(bytes, dtype, shape, conversion)),
        Dtype::F32 => Some(convert_from::<f32>(bytes, dtype, shape, conversion)),
        Dtype::F16 => Some(convert_from::<f16>(bytes, dtype, shape, conversion)),
        Dtype::BF16 => Some(convert_from::<bf16>(bytes, dtype, shape, conversion)),
        _ => None,
    }
}

fn convert_from<S: Float>(
    bytes: &[u8],
    dtype: DType,
    shape: &[usize],
    conversion: Conversion,
) -> Vec<u8> {
    match dtype {
        DType::F16 => convert_to::<S, f16>(bytes, shape, conversion),
        DType::BF16 => convert_to::<S, bf16>(bytes, shape, conversion),
        _ => convert_to::<S, f32>(bytes, shape, conversion),
    }
}

fn convert_to<S: Float, T: Float>(
    bytes: &[u8],
    shape: &[usize],
    conversion: Conversion,
) -> Vec<u8> {
    let mut out = vec![0; bytes.len() / S::BYTES * T::BYTES];
    if out.is_empty() {
        // rayon panics at chunks of no rows.
        return out;
    }
    match (conversion, shape) {
        (Conversion::Transposed, &[rows, columns]) => {
            transpose::<S, T>(bytes, &mut out, rows, columns)
        }
        _ => out
            .par_chunks_mut(T::BYTES << 16)
            .zip(bytes.par_chunks(S::BYTES << 16))
            .for_each(|(out, bytes)| {
                for (out, value) in out
                    .chunks_exact_mut(T::BYTES)
                    .zip(bytes.chunks_exact(S::BYTES))
                {
                    T::from_f32(S::read(value).to_f32()).write(out);
                }
            }),
    }
    out
}

/// Rows and columns of the square that is read and written while it is in the first-level cache.
const TILE: usize = 32;

/// [rows, columns] to [columns, rows], in tiles; every task owns `TILE` rows of the result.
fn transpose<S: Float, T: Float>(bytes: &[u8], out: &mut [u8], rows: usize, columns: usize) {
    out.par_chunks_mut(TILE * rows * T::BYTES)
        .enumerate()
        .for_each(|(band, out)| {
            for top in (0..rows).step_by(TILE) {
                for (column, out) in out.chunks_exact_mut(rows * T::BYTES).enumerate() {
                    let column = band * TILE + column;
                    let end = rows.min(top + TILE);
                    let out = &mut out[top * T::BYTES..end * T::BYTES];
                    for (row, out) in (top..end).zip(out.chunks_exact_mut(T::BYTES)) {
                        let start = (row * columns + column) * S::BYTES;
                        T::from_f32(S::read(&bytes[start..start + S::BYTES]).to_f32()).write(out);
                    }
                }
            }
        });
}

#[cfg(test)]
mod tests {
    use super::{Conversion, convert};
    use burn_tensor::DType;
    use half::{bf16, f16};
    use safetensors::Dtype;

    fn floats(bytes: &[u8]) -> Vec<f32> {
        bytes
            .chunks_exact(4)
            .map(|value| f32::from_ne_bytes(value.try_into().expect("four bytes")))
            .collect()
    }

    #[test]
    fn transposing_moves_every_element() {
        let (rows, columns) = (67, 45);
        let bytes: Vec<u8> = (0..rows * columns)
            .flat_map(|value| (value as f32).to_le_bytes())
            .collect();
        let out = floats(
            &convert(
                &bytes,
                Dtype::F32,
                DType::F32,
                &[rows, columns],
                Conversion::Transposed,
            )
            .expect("f32 is a float"),
        );
        for (index, value) in out.iter().enumerate() {
            assert_eq!(*value, ((index % rows) * columns + index / rows) as f32);
        }
    }

    #[test]
    fn sixteen_bits_round_to_nearest_even() {
        // 1 + 2^-11 is between two f16 values; the even one is 1.
        let bytes: Vec<u8> = [1.0_f32 + 2.0_f32.powi(-11), 1.0 + 3.0 * 2.0_f32.powi(-11)]
            .into_iter()
            .flat_map(f32::to_le_bytes)
            .collect();
        let out = convert(&bytes, Dtype::F32, DType::F16, &[2], Conversion::AsIs)
            .expect("f32 is a float");
        let values: Vec<f16> = out
            .chunks_exact(2)
            .map(|value| f16::from_ne_bytes([value[0], value[1]]))
            .collect();
        assert_eq!(
            values,
            [f16::from_f32(1.0), f16::from_f32(1.0 + 2.0_f32.powi(-9))]
        );
    }

    #[test]
    fn a_matrix_without_elements_is_turned() {
        for shape in [[0, 3], [3, 0]] {
            assert_eq!(
                convert(&[], Dtype::F32, DType::F16, &shape, Conversion::Transposed),
                Some(Vec::new())
            );
        }
    }

    #[test]
    fn integers_are_not_weights() {
        assert!(convert(&[0; 8], Dtype::I64, DType::F32, &[1], Conversion::AsIs).is_none());
    }
    /// 1.5 and -2.5 in every type of a file, and in every type of a tensor.
    #[test]
    fn every_type_is_converted_to_every_other() {
        let values = [1.5_f32, -2.5];
        let single: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let double: Vec<u8> = values
            .iter()
            .flat_map(|value| f64::from(*value).to_le_bytes())
            .collect();
        let half: Vec<u8> = values
            .iter()
            .flat_map(|value| f16::from_f32(*value).to_le_bytes())
            .collect();
        let brain: Vec<u8> = values
            .iter()
            .flat_map(|value| bf16::from_f32(*value).to_le_bytes())
            .collect();
        let stored = [
            (Dtype::F64, &double),
            (Dtype::F32, &single),
            (Dtype::F16, &half),
            (Dtype::BF16, &brain),
        ];
        for (from, bytes) in stored {
            for (to, expected) in [
                (DType::F32, &single),
                (DType::F16, &half),
                (DType::BF16, &brain),
            ] {
                let out = convert(bytes, from, to, &[2], Conversion::AsIs);
                assert_eq!(out.as_ref(), Some(expected), "{from:?} to {to:?}");
            }
        }
    }
}
