//! bitsandbytes: rows of 8-bit integers (`int8`), and blocks of 4-bit codes of a table (`nf4`,
//! `fp4`), whose scales may be quantized themselves.

use super::{
    dense::DenseTensor,
    parts::{PartNames, StoredParts},
    stored::StoredPart,
};
use crate::recipe::FloatType;
use serde::Deserialize;

pub(super) const PARTS: PartNames = PartNames {
    ends: &[
        ".weight",
        ".SCB",
        ".weight.absmax",
        ".weight.quant_map",
        ".weight.nested_absmax",
        ".weight.nested_quant_map",
        NF4,
        FP4,
    ],
    tensor: ".weight",
    unused: &[".weight_format"],
};
const NF4: &str = ".weight.quant_state.bitsandbytes__nf4";
const FP4: &str = ".weight.quant_state.bitsandbytes__fp4";

/// The reciprocal of 127, which the library multiplies by.
const PER_STEP: f32 = 1.0 / 127.0;

/// The sizes of a 4-bit tensor, JSON in a tensor of bytes.
#[derive(Deserialize)]
struct QuantState {
    blocksize: usize,
    dtype: String,
    shape: Vec<usize>,
    #[serde(default)]
    nested_blocksize: usize,
    #[serde(default)]
    nested_offset: f32,
}

pub(super) fn dequantize(parts: &StoredParts) -> Result<DenseTensor, String> {
    match parts.find(".SCB") {
        Some(scales) => int8(parts.part(".weight")?, scales),
        None => four_bits(parts),
    }
}

/// `weight` [rows, columns] and the largest absolute value of each row. transformers rounds the
/// product to the type that the model is loaded as.
fn int8(weight: &StoredPart, largest: &StoredPart) -> Result<DenseTensor, String> {
    let shape @ [rows, columns] = weight.matrix()?;
    let (codes, scales) = (weight.values()?, largest.values()?);
    if scales.len() != rows {
        return Err(format!(
            "`{}` has {} scales, but there are {rows} rows",
            largest.name,
            scales.len()
        ));
    }
    // Two roundings, in the order of the library.
    let values = (0..rows * columns).map(|index| codes[index] * scales[index / columns] * PER_STEP);
    Ok(DenseTensor::rounded(FloatType::F32, shape.to_vec(), values))
}

/// `weight` two codes in a byte, the upper four bits first; `quant_map` the value of each code;
/// `absmax` the factor of each block.
fn four_bits(parts: &StoredParts) -> Result<DenseTensor, String> {
    let state = parts.find(NF4).map_or_else(|| parts.part(FP4), Ok)?;
    let state: QuantState = serde_json::from_slice(&state.bytes)
        .map_err(|error| format!("`{}` is not a state of bitsandbytes: {error}", state.name))?;
    let dtype = match state.dtype.as_str() {
        "float32" => FloatType::F32,
        "float16" => FloatType::F16,
        "bfloat16" => FloatType::Bf16,
        other => return Err(format!("its type is {other}")),
    };
    let (weight, table) = (
        parts.part(".weight")?,
        parts.part(".weight.quant_map")?.values()?,
    );
    let absmax = absmax(parts, &state)?;
    // A product that overflows is larger than any file.
    let count = state.shape.iter().copied().fold(1, usize::saturating_mul);
    let complete = weight.bytes.len() == count.div_ceil(2)
        && table.len() == 16
        && state.blocksize > 0
        && absmax.len() == count.div_ceil(state.blocksize);
    if !complete {
        return Err(format!("`{}` has not the sizes of its state", weight.name));
    }
    Ok(DenseTensor::rounded(
        dtype,
        state.shape,
        (0..count).map(|index| {
            let byte = weight.bytes[index / 2];
            let code = if index.is_multiple_of(2) {
                byte >> 4
            } else {
                byte & 15
            };
            table[usize::from(code)] * absmax[index / state.blocksize]
        }),
    ))
}

/// The factors of the blocks. Factors that have scales themselves are codes of a table of 256
/// values.
fn absmax(parts: &StoredParts, state: &QuantState) -> Result<Vec<f32>, String> {
    let stored = parts.part(".weight.absmax")?;
    let Some(nested) = parts.find(".weight.nested_absmax") else {
        return stored.values();
    };
    let (factors, table) = (
        nested.values()?,
        parts.part(".weight.nested_quant_map")?.values()?,
    );
    let complete = table.len() == 256
        && state.nested_blocksize > 0
        && factors.len() == stored.bytes.len().div_ceil(state.nested_blocksize);
    if !complete {
        return Err(format!("`{}` has not the sizes of its state", stored.name));
    }
    Ok(stored
        .bytes
        .iter()
        .enumerate()
        .map(|(index, byte)| {
            table[usize::from(*byte)] * factors[index / state.nested_blocksize]
                + state.nested_offset
        })
        .collect())
}
