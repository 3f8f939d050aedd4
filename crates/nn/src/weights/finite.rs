//! Values of weights that are not finite. They are searched in the files: not every one is seen by
//! the recorded inputs.

use super::{error::WeightsError, file::Files};
use half::{bf16, f16};
use rayon::prelude::*;
use safetensors::Dtype;
use std::path::Path;

/// The bytes that a thread searches at a time.
const CHUNK: usize = 1 << 20;

/// The first of the tensors `names` of the checkpoint in `directory` with a value that is not
/// finite, and the index of the value.
pub fn not_finite(
    directory: &Path,
    names: &[String],
) -> Result<Option<(String, usize)>, WeightsError> {
    let files = Files::open(directory)?;
    let found = names
        .iter()
        .filter_map(|name| files.find(name))
        .find_map(|tensor| {
            let index = search(tensor.dtype, tensor.bytes())?;
            Some((tensor.name, index))
        });
    Ok(found)
}

fn search(dtype: Dtype, bytes: &[u8]) -> Option<usize> {
    match dtype {
        Dtype::F64 => first(bytes, |bytes| f64::from_le_bytes(bytes).is_finite()),
        Dtype::F32 => first(bytes, |bytes| f32::from_le_bytes(bytes).is_finite()),
        Dtype::F16 => first(bytes, |bytes| f16::from_le_bytes(bytes).is_finite()),
        Dtype::BF16 => first(bytes, |bytes| bf16::from_le_bytes(bytes).is_finite()),
        // The exponent of all ones; E4M3 has NaN only in its last mantissa, and no infinity.
        Dtype::F8_E5M2 => first(bytes, |[byte]| byte & 0x7c != 0x7c),
        Dtype::F8_E4M3 => first(bytes, |[byte]| byte & 0x7f != 0x7f),
        // Integers and booleans are always finite. No model reads other types.
        _ => None,
    }
}

fn first<const N: usize>(
    bytes: &[u8],
    is_finite: impl Fn([u8; N]) -> bool + Sync,
) -> Option<usize> {
    bytes
        .par_chunks(CHUNK)
        .enumerate()
        .find_map_first(|(number, chunk): (usize, &[u8])| {
            let (values, _) = chunk.as_chunks::<N>();
            // All of a chunk without an early end: the compiler uses vector instructions for that.
            if values
                .iter()
                .fold(true, |finite, value| finite & is_finite(*value))
            {
                return None;
            }
            Some(number * (CHUNK / N) + values.iter().position(|value| !is_finite(*value))?)
        })
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, search};
    use half::{bf16, f16};
    use safetensors::Dtype;

    #[test]
    fn the_first_value_is_found_in_every_type() {
        let count = CHUNK + 5;
        for (index, value) in [
            (0, f32::NAN),
            (count - 1, f32::INFINITY),
            (CHUNK / 2, f32::NEG_INFINITY),
        ] {
            let mut values = vec![f32::MAX.sqrt(); count];
            values[index] = value;
            let bytes: Vec<u8> = values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect();
            assert_eq!(search(Dtype::F32, &bytes), Some(index));
            let bytes: Vec<u8> = values
                .iter()
                .flat_map(|value| bf16::from_f32(*value).to_le_bytes())
                .collect();
            assert_eq!(search(Dtype::BF16, &bytes), Some(index));
            let bytes: Vec<u8> = values
                .iter()
                .flat_map(|value| f64::from(*value).to_le_bytes())
                .collect();
            assert_eq!(search(Dtype::F64, &bytes), Some(index));
            let half = |value: &f32| {
                f16::from_f32(if value.is_finite() { 1.0 } else { *value }).to_le_bytes()
            };
            let bytes: Vec<u8> = values.iter().flat_map(half).collect();
            assert_eq!(search(Dtype::F16, &bytes), Some(index));
        }
        assert_eq!(search(Dtype::F32, &f32::MAX.to_le_bytes()), None);
        // The largest value of each type, then the first one that is not finite.
        assert_eq!(search(Dtype::F8_E4M3, &[0x7e, 0xfe, 0x7f]), Some(2));
        assert_eq!(search(Dtype::F8_E5M2, &[0x7b, 0xfb, 0xfc]), Some(2));
    }
}
