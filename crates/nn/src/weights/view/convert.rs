//! From the bytes of a file to the bytes of a tensor: type and, for linear weights, order, in one
//! pass.

use crate::weights::WeightsError;
use burn_tensor::DType;
use half::{bf16, f16};
use rayon::prelude::*;
use safetensors::Dtype;
use std::ops::Range;

/// Whether a matrix keeps its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    AsIs,
    Transposed,
}

/// The bytes of a tensor in a file.
pub(super) trait StoredBytes: Sync {
    /// Copies those from `start` on to `out`.
    fn read_at(&self, start: usize, out: &mut [u8]) -> Result<(), WeightsError>;
}

/// A type of a float in a file or in a tensor; the conversion rounds to nearest even.
trait Float: Copy + Send + Sync {
    const BYTES: usize;
    const DTYPE: DType;
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
    fn to_f32(self) -> f32;
    fn from_f32(value: f32) -> Self;
}

macro_rules! float {
    ($type:ty, $dtype:ident, $bytes:literal, $to:expr, $from:expr) => {
        impl Float for $type {
            const BYTES: usize = $bytes;
            const DTYPE: DType = DType::$dtype;
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("a chunk of its size"))
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                // A file is little-endian, a tensor has the order of the host.
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
float!(f64, F64, 8, |value: f64| value as f32, f64::from);
float!(f32, F32, 4, std::convert::identity, std::convert::identity);
float!(f16, F16, 2, f16::to_f32, f16::from_f32);
float!(bf16, BF16, 2, bf16::to_f32, bf16::from_f32);

/// Rows of a tensor that is put on a device, from the rows of a file.
pub(super) struct StoredRows<'a> {
    pub(super) stored: &'a dyn StoredBytes,
    /// The shape in the file.
    pub(super) shape: &'a [usize],
    pub(super) conversion: Conversion,
    /// The first row, which the next ones follow.
    pub(super) first: usize,
}

/// Writes rows in the given type.
pub(super) type Convert = fn(&StoredRows<'_>, DType, &mut [u8]) -> Result<(), WeightsError>;

/// The conversion from a type of files, or `None` if it is not a float.
pub(super) fn conversion_from(stored: Dtype) -> Option<Convert> {
    match stored {
        Dtype::F64 => Some(convert_from::<f64>),
        Dtype::F32 => Some(convert_from::<f32>),
        Dtype::F16 => Some(convert_from::<f16>),
        Dtype::BF16 => Some(convert_from::<bf16>),
        _ => None,
    }
}

fn convert_from<S: Float>(
    rows: &StoredRows<'_>,
    dtype: DType,
    out: &mut [u8],
) -> Result<(), WeightsError> {
    match dtype {
        DType::F16 => convert_to::<S, f16>(rows, out),
        DType::BF16 => convert_to::<S, bf16>(rows, out),
        _ => convert_to::<S, f32>(rows, out),
    }
}

/// The elements that a thread converts at a time.
const CHUNK: usize = 1 << 16;

fn convert_to<S: Float, T: Float>(
    rows: &StoredRows<'_>,
    out: &mut [u8],
) -> Result<(), WeightsError> {
    if out.is_empty() {
        // rayon panics at chunks of no rows.
        return Ok(());
    }
    if let (Conversion::Transposed, &[height, width]) = (rows.conversion, rows.shape) {
        let mut bytes = vec![0; height * width * S::BYTES];
        // The whole matrix: each row of the result has an element of every row of the file.
        copy(rows.stored, 0, &mut bytes)?;
        let columns = rows.first..rows.first + out.len() / (height * T::BYTES);
        transpose::<S, T>(&bytes, width, columns, out);
        return Ok(());
    }
    // A tensor without dimensions is a row of one element.
    let start = rows.first * rows.shape.last().copied().unwrap_or(1) * S::BYTES;
    // A file's numbers are little-endian.
    if S::DTYPE == T::DTYPE && cfg!(target_endian = "little") {
        return copy(rows.stored, start, out);
    }
    out.par_chunks_mut(T::BYTES * CHUNK)
        .enumerate()
        .try_for_each(|(index, out)| {
            let mut bytes = vec![0; out.len() / T::BYTES * S::BYTES];
            rows.stored
                .read_at(start + index * CHUNK * S::BYTES, &mut bytes)?;
            for (out, value) in out
                .chunks_exact_mut(T::BYTES)
                .zip(bytes.chunks_exact(S::BYTES))
            {
                // By way of f32, like PyTorch, which has no direct conversion from f64 to 16 bits.
                T::from_f32(S::read(value).to_f32()).write(out);
            }
            Ok(())
        })
}

/// The bytes from `start` on, by all threads.
fn copy(stored: &dyn StoredBytes, start: usize, out: &mut [u8]) -> Result<(), WeightsError> {
    const BYTES: usize = 1 << 18;
    // One thread alone is slower than the memory.
    out.par_chunks_mut(BYTES)
        .enumerate()
        .try_for_each(|(index, out)| stored.read_at(start + index * BYTES, out))
}

/// Rows and columns of the square that is read and written while it is in the first-level cache.
const TILE: usize = 32;

/// Writes `columns` of a matrix of this width as rows, in tiles; every task owns `TILE` of them.
fn transpose<S: Float, T: Float>(
    bytes: &[u8],
    width: usize,
    columns: Range<usize>,
    out: &mut [u8],
) {
    let height = bytes.len() / (width * S::BYTES);
    out.par_chunks_mut(TILE * height * T::BYTES)
        .zip(columns.into_par_iter().step_by(TILE))
        .for_each(|(out, first)| {
            for top in (0..height).step_by(TILE) {
                let end = height.min(top + TILE);
                for (column, out) in (first..).zip(out.chunks_exact_mut(height * T::BYTES)) {
                    let out = &mut out[top * T::BYTES..end * T::BYTES];
                    for (row, out) in (top..end).zip(out.chunks_exact_mut(T::BYTES)) {
                        let start = (row * width + column) * S::BYTES;
                        T::from_f32(S::read(&bytes[start..start + S::BYTES]).to_f32()).write(out);
                    }
                }
            }
        });
}

#[cfg(test)]
mod tests {
    use super::{Conversion, StoredBytes, StoredRows, conversion_from};
    use crate::weights::WeightsError;
    use burn_tensor::DType;
    use half::{bf16, f16};
    use safetensors::Dtype;

    struct Slice<'a>(&'a [u8]);

    impl StoredBytes for Slice<'_> {
        fn read_at(&self, start: usize, out: &mut [u8]) -> Result<(), WeightsError> {
            out.copy_from_slice(&self.0[start..start + out.len()]);
            Ok(())
        }
    }

    /// The bytes of a tensor of `dtype`, or `None` if the type of the file is not a float.
    fn convert(
        bytes: &[u8],
        stored: Dtype,
        dtype: DType,
        shape: &[usize],
        conversion: Conversion,
    ) -> Option<Vec<u8>> {
        let mut out = vec![0; shape.iter().product::<usize>() * dtype.size()];
        let rows = StoredRows {
            stored: &Slice(bytes),
            shape,
            conversion,
            first: 0,
        };
        conversion_from(stored)?(&rows, dtype, &mut out).expect("a slice can be read");
        Some(out)
    }

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
    fn rows_are_written_one_part_after_the_other() {
        let (height, width) = (40, 70);
        let bytes: Vec<u8> = (0..height * width)
            .flat_map(|value| (value as f32).to_le_bytes())
            .collect();
        let stored = Slice(&bytes);
        for (conversion, row) in [(Conversion::AsIs, width), (Conversion::Transposed, height)] {
            for dtype in [DType::F32, DType::BF16] {
                let shape = [height, width];
                let whole = convert(&bytes, Dtype::F32, dtype, &shape, conversion);
                let mut parts = vec![0; height * width * dtype.size()];
                for (part, out) in parts.chunks_mut(33 * row * dtype.size()).enumerate() {
                    let rows = StoredRows {
                        stored: &stored,
                        shape: &shape,
                        conversion,
                        first: 33 * part,
                    };
                    conversion_from(Dtype::F32).expect("a float")(&rows, dtype, out)
                        .expect("a slice can be read");
                }
                assert_eq!(whole, Some(parts), "{conversion:?} {dtype:?}");
            }
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
