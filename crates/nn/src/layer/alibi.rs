//! Attention with linear biases (Press, Smith and Lewis 2022): the score of a key grows with its
//! position, by a slope per head.

use super::mask::attention_mask;
use crate::{backend::Ops, forward::ForwardError, inputs::Inputs};
use burn_tensor::{DType, Tensor, TensorData};
use half::bf16;

/// The slopes of the heads of one model.
#[derive(Debug, Clone)]
pub struct Alibi {
    slopes: Vec<f32>,
    scale: f32,
    rounded: bool,
}

impl Alibi {
    /// The variant of Bloom.
    pub fn new(heads: usize) -> Self {
        Self {
            slopes: slopes(heads),
            scale: 1.0,
            rounded: false,
        }
    }

    /// The variant of Falcon: rounded to bfloat16 in every precision, and scaled together with the
    /// scores.
    pub fn rounded(heads: usize, scale: f64) -> Self {
        Self {
            slopes: slopes(heads),
            scale: scale as f32,
            rounded: true,
        }
    }

    /// The bias f32 [batch or 1, heads, 1, key] of one call; positions are counted over visible
    /// keys, hidden ones have 0.
    pub fn bias<B: Ops>(
        &self,
        inputs: &Inputs<'_, B>,
        [batch, queries]: [usize; 2],
        past: usize,
    ) -> Result<Tensor<B, 4>, ForwardError> {
        let keys = past + queries;
        let visible = attention_mask(inputs, "attention_mask", [batch, keys])?
            .unwrap_or_else(|| vec![true; keys]);
        let rows = visible.len() / keys.max(1);
        let mut bias = Vec::with_capacity(rows * self.slopes.len() * keys);
        for row in visible.chunks(keys.max(1)) {
            let places = places(row);
            for slope in &self.slopes {
                bias.extend(places.iter().map(|place| self.at(*slope, *place)));
            }
        }
        // One row for all queries: the position of a query adds the same number to all of its
        // scores, which a softmax cancels.
        let shape = [rows, self.slopes.len(), 1, keys];
        Ok(Tensor::from_data(
            TensorData::new(bias, shape),
            (inputs.device(), DType::F32),
        ))
    }

    fn at(&self, slope: f32, place: f32) -> f32 {
        // PyTorch multiplies bfloat16 slopes with integers, which rounds both and the product.
        self.round(self.round(slope) * self.round(place)) * self.scale
    }

    fn round(&self, value: f32) -> f32 {
        if self.rounded {
            bf16::from_f32(value).to_f32()
        } else {
            value
        }
    }
}

fn places(visible: &[bool]) -> Vec<f32> {
    let counted = visible.iter().scan(0_u32, |count, visible| {
        *count += u32::from(*visible);
        // `build_alibi_tensor` multiplies by the mask, which puts padding at position 0.
        Some(if *visible { (*count - 1) as f32 } else { 0.0 })
    });
    counted.collect()
}

/// A geometric sequence for a power of two; for other counts every second one of the next power
/// follows it.
fn slopes(heads: usize) -> Vec<f32> {
    let power = 1 << heads.max(1).ilog2();
    let first = (1..=power).map(|exponent| slope_base(power).powi(exponent as i32));
    let rest = (0..heads.saturating_sub(power))
        .map(|index| slope_base(2 * power).powi(2 * index as i32 + 1));
    first.chain(rest).collect()
}

fn slope_base(count: usize) -> f32 {
    // 2 ^ (-8 / count) in the order of `build_alibi_tensor`, whose rounding it repeats.
    (-(-((count as f64).log2() - 3.0)).exp2()).exp2() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_of_a_power_of_two_are_a_geometric_sequence() {
        assert_eq!(
            slopes(8),
            [
                0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625
            ]
        );
        assert_eq!(slopes(4), [0.25, 0.0625, 0.015625, 0.00390625]);
    }

    #[test]
    fn other_counts_take_slopes_of_the_next_power() {
        assert_eq!(slopes(6)[4..], [0.5, 0.125]);
        assert_eq!(slopes(3), [0.0625, 0.00390625, 0.25]);
    }

    #[test]
    fn hidden_keys_have_no_place() {
        assert_eq!(places(&[false, true, true, false]), [0.0, 0.0, 1.0, 0.0]);
    }
}
