//! The values of a tensor: nearly normal, with a mean and a standard deviation.
//!
//! Each value is one word of 64 bits. The sum of its four 16-bit quarters, an integer from 0 to
//! 262140, minus 131070, is multiplied by one f32 and added to another, and the result is rounded
//! to the type of the tensor. All steps are exact, or a single rounding of IEEE 754, so that every
//! processor computes the same bits. No value is farther than 3.47 standard deviations from the
//! mean.

use crate::{
    float_type::FloatType,
    random_words::{RandomWords, WORDS},
    recipe::SyntheticTensor,
};
use half::{bf16, f16};
use std::ops::Range;

/// The mean of the sum of four integers from 0 to 65535.
const CENTRE: i32 = 131_070;
/// The standard deviation of the sum of four integers from 0 to 65535, sqrt((65536^2 - 1) / 3).
const SUM_STD: f32 = 37837.227;

/// The numbers that a tensor's values depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TensorValues {
    words: RandomWords,
    mean: f32,
    scale: f32,
}

impl TensorValues {
    pub(crate) fn new(seed: u64, tensor: &SyntheticTensor) -> Self {
        // Each tensor has its own key, so that a new layer does not change the others.
        Self::named(seed, &tensor.name, [tensor.mean, tensor.std])
    }

    fn named(seed: u64, name: &str, [mean, std]: [f32; 2]) -> Self {
        Self {
            words: RandomWords::of(&format!("{seed}:{name}")),
            mean,
            scale: std / SUM_STD,
        }
    }

    /// Replaces `bytes` by the little-endian values with these indices. The range starts at a
    /// block.
    pub(crate) fn write(&self, dtype: FloatType, range: Range<u64>, bytes: &mut Vec<u8>) {
        match dtype {
            FloatType::F32 => self.write_each(range, bytes, f32::to_le_bytes),
            FloatType::F16 => {
                self.write_each(range, bytes, |value| f16::from_f32(value).to_le_bytes());
            }
            FloatType::Bf16 => {
                self.write_each(range, bytes, |value| bf16::from_f32(value).to_le_bytes());
            }
        }
    }

    fn write_each<const SIZE: usize>(
        &self,
        range: Range<u64>,
        bytes: &mut Vec<u8>,
        encode: impl Fn(f32) -> [u8; SIZE],
    ) {
        debug_assert!(range.start.is_multiple_of(WORDS));
        bytes.clear();
        for index in (range.start..range.end).step_by(WORDS as usize) {
            let words = self.words.block(index / WORDS);
            let encoded = words.map(|word| encode(self.value(word)));
            let count = (range.end - index).min(WORDS) as usize;
            bytes.extend_from_slice(encoded[..count].as_flattened());
        }
    }

    #[inline]
    fn value(&self, word: u64) -> f32 {
        let quarters =
            [word, word >> 16, word >> 32, word >> 48].map(|part| (part & 0xFFFF) as i32);
        let sum = quarters.iter().sum::<i32>() - CENTRE;
        // Two operations and not `mul_add`, whose single rounding would be other bits.
        self.mean + self.scale * sum as f32
    }
}

/// The first `count` values of the tensor `name` with this seed, nearly normal.
pub fn nearly_normal(seed: u64, name: &str, mean_and_std: [f32; 2], count: u64) -> Vec<f32> {
    let values = TensorValues::named(seed, name, mean_and_std);
    let words = values.words.first(count);
    words.map(|word| values.value(word)).collect()
}
