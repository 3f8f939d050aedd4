//! MXFP4 as GPT-OSS has it: experts in blocks of 32 values of 4 bits with a power of two.

use super::{
    dense::DenseTensor,
    float8::{self, SmallFloats},
    layer::{DenseLayer, PartLayout, QuantizedShape, WeightWriter},
    parts::{PartNames, StoredParts},
};
use crate::float_type::FloatType;
use serde_json::{Value, json};

const BLOCKS: &str = "_blocks";
const SCALES: &str = "_scales";
pub(super) const PARTS: PartNames = PartNames {
    ends: &[BLOCKS, SCALES],
    tensor: "",
    unused: &[],
};

/// `_blocks` [experts, outputs, blocks, bytes], the lower four bits of a byte first, and `_scales`
/// [experts, outputs, blocks]; the tensor is [experts, inputs, outputs]. Its values are exact in
/// bfloat16.
pub(super) fn dequantize(parts: &StoredParts) -> Result<DenseTensor, String> {
    let (blocks, scales) = (parts.part(BLOCKS)?, parts.part(SCALES)?);
    let [experts, outputs, count, bytes] = blocks.sizes()?;
    let (codes, powers) = (blocks.raw()?, scales.raw()?);
    if scales.shape != blocks.shape[..3] {
        return Err(format!(
            "`{}` has the shape {:?}",
            scales.name, scales.shape
        ));
    }
    let inputs = count * bytes * 2;
    // The inputs of a block are together in the file, and the outputs of an input in the tensor.
    let values = (0..experts * inputs * outputs).map(|index| {
        let (expert, input, output) = (
            index / (inputs * outputs),
            index / outputs % inputs,
            index % outputs,
        );
        let block = (expert * outputs + output) * count + input / (bytes * 2);
        let byte = codes[block * bytes + input % (bytes * 2) / 2];
        // GPT-OSS has the first of two values in the lower half.
        let code = if input.is_multiple_of(2) {
            byte & 15
        } else {
            byte >> 4
        };
        float8::e2m1(code) * float8::e8m0(powers[block])
    });
    Ok(DenseTensor::rounded(
        FloatType::Bf16,
        vec![experts, inputs, outputs],
        values,
    ))
}

/// Writes experts.
pub(super) struct Mxfp4Writer;

/// The inputs of a block.
// In OCP's MX formats every scale is of 32 numbers.
const BLOCK: usize = 32;
/// The exponent of the largest magnitude of a code.
// E2M1 ends at 6, which is 1.5 times 2^2.
const LARGEST_EXPONENT: u32 = 2;

impl WeightWriter for Mxfp4Writer {
    fn layout(&self, shape: &QuantizedShape) -> Vec<PartLayout> {
        let &QuantizedShape {
            experts,
            outputs,
            inputs,
            ..
        } = shape;
        let blocks = inputs / BLOCK;
        vec![
            PartLayout::new(BLOCKS, "U8", &[experts, outputs, blocks, BLOCK / 2]),
            PartLayout::new(SCALES, "U8", &[experts, outputs, blocks]),
        ]
    }

    fn quantize(&self, layer: &DenseLayer<'_>) -> Vec<Vec<u8>> {
        let QuantizedShape {
            experts,
            outputs,
            inputs,
            ..
        } = layer.shape;
        let floats = SmallFloats::new(4, float8::e2m1);
        let (mut codes, mut scales) = (Vec::new(), Vec::new());
        for row in 0..experts * outputs {
            let (expert, output) = (row / outputs, row % outputs);
            for start in (0..inputs).step_by(BLOCK) {
                let values: Vec<f32> = (start..start + BLOCK)
                    .map(|input| layer.values[(expert * inputs + input) * outputs + output])
                    .collect();
                let exponent = exponent(&values);
                let code = |value: f32| floats.code(value / float8::e8m0(exponent));
                let pairs = values.as_chunks::<2>().0.iter();
                codes.extend(pairs.map(|[low, high]| code(*low) | code(*high) << 4));
                scales.push(exponent);
            }
        }
        vec![codes, scales]
    }

    fn options(&self) -> Value {
        json!({"quant_method": "mxfp4"})
    }

    fn tensor(&self) -> &'static str {
        PARTS.tensor
    }
}

/// The exponent of the largest magnitude; 1 for smaller ones, which no weight has.
fn exponent(values: &[f32]) -> u8 {
    let largest = values.iter().copied().map(f32::abs).fold(0.0, f32::max);
    // So that the largest code is at least half of the largest magnitude.
    let exponent = (largest.to_bits() >> 23).saturating_sub(LARGEST_EXPONENT);
    // In E8M0 255 is NaN, and 0 is a scale that is subnormal in f32.
    exponent.clamp(1, 254) as u8
}
