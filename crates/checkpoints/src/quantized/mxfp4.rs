//! MXFP4 as GPT-OSS has it: experts in blocks of 32 values of 4 bits with a power of two.

use super::{
    dense::DenseTensor,
    float8,
    parts::{PartNames, StoredParts},
};
use crate::recipe::FloatType;

pub(super) const PARTS: PartNames = PartNames {
    ends: &["_blocks", "_scales"],
    tensor: "",
    unused: &[],
};

/// `_blocks` [experts, outputs, blocks, bytes], the lower four bits of a byte first, and `_scales`
/// [experts, outputs, blocks]; the tensor is [experts, inputs, outputs]. Its values are exact in
/// bfloat16.
pub(super) fn dequantize(parts: &StoredParts) -> Result<DenseTensor, String> {
    let (blocks, scales) = (parts.part("_blocks")?, parts.part("_scales")?);
    let [experts, outputs, count, bytes] = blocks.sizes()?;
    let (codes, powers) = (blocks.raw()?, scales.raw()?);
    if scales.shape != blocks.shape[..3] {
        return Err(format!(
            "`{}` has the shape {:?}",
            scales.name, scales.shape
        ));
    }
    let inputs = count * bytes * 2;
    let value = |index: usize| {
        let (expert, input, output) = (
            index / (inputs * outputs),
            index / outputs % inputs,
            index % outputs,
        );
        let block = (expert * outputs + output) * count + input / (bytes * 2);
        let byte = codes[block * bytes + input % (bytes * 2) / 2];
        let code = if input.is_multiple_of(2) {
            byte & 15
        } else {
            byte >> 4
        };
        float8::e2m1(code) * float8::e8m0(powers[block])
    };
    let values = (0..experts * inputs * outputs).map(value);
    Ok(DenseTensor::rounded(
        FloatType::Bf16,
        vec![experts, inputs, outputs],
        values,
    ))
}
