//! bitsandbytes: rows of 8-bit integers (`int8`), and blocks of 4-bit codes of a table (`nf4`,
//! `fp4`), whose scales may be quantized themselves.

use super::{
    dense::DenseTensor,
    layer::{DenseLayer, PartLayout, QuantizedShape, WeightWriter},
    packed,
    parts::{PartNames, StoredParts},
    rounding::{BlockGrid, nearest},
    stored::StoredPart,
};
use crate::float_type::FloatType;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const PARTS: PartNames = PartNames {
    ends: &[
        WEIGHT,
        LARGEST,
        ABSMAX,
        TABLE,
        NESTED_ABSMAX,
        NESTED_TABLE,
        NF4,
        FP4,
    ],
    tensor: ".weight",
    unused: &[FORMAT],
};
const WEIGHT: &str = ".weight";
const LARGEST: &str = ".SCB";
const FORMAT: &str = ".weight_format";
const ABSMAX: &str = ".weight.absmax";
const TABLE: &str = ".weight.quant_map";
const NESTED_ABSMAX: &str = ".weight.nested_absmax";
const NESTED_TABLE: &str = ".weight.nested_quant_map";
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
    // Python prints the f32 as a float64, whose digits round back to the same f32.
    nested_offset: f32,
}

pub(super) fn dequantize(parts: &StoredParts) -> Result<DenseTensor, String> {
    // Only rows of `int8` have these scales.
    match parts.find(LARGEST) {
        Some(scales) => int8(parts.part(WEIGHT)?, scales),
        None => four_bits(parts),
    }
}

/// `weight` [rows, columns] and the largest absolute value of each row.
fn int8(weight: &StoredPart, largest: &StoredPart) -> Result<DenseTensor, String> {
    // transformers rounds the product to the type that the model is loaded as.
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
    // Both are read alike, because the file has the table of their codes.
    let state = parts.find(NF4).map_or_else(|| parts.part(FP4), Ok)?;
    let state: QuantState = serde_json::from_slice(&state.bytes)
        .map_err(|error| format!("`{}` is not a state of bitsandbytes: {error}", state.name))?;
    let dtype = match state.dtype.as_str() {
        "float32" => FloatType::F32,
        "float16" => FloatType::F16,
        "bfloat16" => FloatType::Bf16,
        other => return Err(format!("its type is {other}")),
    };
    let (weight, table) = (parts.part(WEIGHT)?, parts.part(TABLE)?.values()?);
    let absmax = absmax(parts, &state)?;
    // A product that overflows is larger than any file.
    let count = state.shape.iter().copied().fold(1, usize::saturating_mul);
    // Bytes and not elements: `bnb_4bit_quant_storage` may declare the same bytes as another type.
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
            // bitsandbytes packs the first of two values into the upper half.
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
    let stored = parts.part(ABSMAX)?;
    let Some(nested) = parts.find(NESTED_ABSMAX) else {
        return stored.values();
    };
    let (factors, table) = (nested.values()?, parts.part(NESTED_TABLE)?.values()?);
    // A code of the table is one byte.
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

/// Writes rows of integers.
pub(super) struct Int8Writer;

impl WeightWriter for Int8Writer {
    fn layout(&self, shape: &QuantizedShape) -> Vec<PartLayout> {
        vec![
            PartLayout::new(WEIGHT, "I8", &[shape.outputs, shape.inputs]),
            PartLayout::new(LARGEST, "F32", &[shape.outputs]),
            PartLayout::new(FORMAT, "U8", &[]),
        ]
    }

    fn quantize(&self, layer: &DenseLayer<'_>) -> Vec<Vec<u8>> {
        let QuantizedShape {
            outputs, inputs, ..
        } = layer.shape;
        let grid = BlockGrid::new([outputs, inputs], [1, inputs]);
        let largest = grid.scales(layer.values, 1.0);
        let values = layer.values.iter().enumerate();
        let codes = values.map(|(index, value)| {
            let steps = value / largest[grid.block(index)] * 127.0;
            // As `torch.round`, which takes ties to the even number.
            steps.round_ties_even() as i8 as u8
        });
        let codes = codes.collect();
        // The format 0 is by rows.
        vec![
            codes,
            packed::bytes(largest.into_iter().map(f32::to_bits)),
            vec![0],
        ]
    }

    fn options(&self) -> Value {
        json!({"quant_method": "bitsandbytes", "load_in_8bit": true, "load_in_4bit": false})
    }
}

/// Writes codes of quantiles of a normal distribution.
pub(super) struct Nf4Writer;

/// The values of a block that is written.
// The default of `quantize_4bit`.
const BLOCK: usize = 64;

/// The values of the codes, as bitsandbytes has them.
#[expect(
    clippy::excessive_precision,
    reason = "the digits that the library prints"
)]
const QUANTILES: [f32; 16] = [
    -1.0,
    -0.6961928009986877,
    -0.5250730514526367,
    -0.39491748809814453,
    -0.28444138169288635,
    -0.18477343022823334,
    -0.09105003625154495,
    0.0,
    0.07958029955625534,
    0.16093020141124725,
    0.24611230194568634,
    0.33791524171829224,
    0.44070982933044434,
    0.5626170039176941,
    0.7229568362236023,
    1.0,
];

impl Nf4Writer {
    /// The text of the state, with the spaces that Python writes.
    fn state(shape: &QuantizedShape) -> String {
        let &QuantizedShape {
            dtype,
            outputs,
            inputs,
            ..
        } = shape;
        let dtype = dtype.torch_name();
        format!(
            r#"{{"quant_type": "nf4", "blocksize": {BLOCK}, "dtype": "{dtype}", "shape": [{outputs}, {inputs}]}}"#
        )
    }
}

impl WeightWriter for Nf4Writer {
    fn layout(&self, shape: &QuantizedShape) -> Vec<PartLayout> {
        let count = shape.outputs * shape.inputs;
        vec![
            // bitsandbytes keeps the packed bytes as one column, whatever shape the weight has.
            PartLayout::new(WEIGHT, "U8", &[count / 2, 1]),
            PartLayout::new(ABSMAX, "F32", &[count.div_ceil(BLOCK)]),
            PartLayout::new(TABLE, "F32", &[QUANTILES.len()]),
            PartLayout::new(NF4, "U8", &[Self::state(shape).len()]),
        ]
    }

    fn quantize(&self, layer: &DenseLayer<'_>) -> Vec<Vec<u8>> {
        // Blocks follow each other in the rows, and can end in the next one.
        let count = layer.values.len();
        let blocks = layer.values.chunks(BLOCK);
        let absmax: Vec<f32> = blocks
            .flat_map(|block| BlockGrid::new([1, block.len()], [1, block.len()]).scales(block, 1.0))
            .collect();
        let code = |index: usize| {
            let share = layer.values[index] / absmax[index / BLOCK];
            nearest(&QUANTILES, share) as u8
        };
        let pairs = (0..count).step_by(2);
        vec![
            pairs
                // The scheme takes an even number of inputs only, so that every pair is complete.
                .map(|index| code(index) << 4 | code(index + 1))
                .collect(),
            packed::bytes(absmax.iter().map(|largest| largest.to_bits())),
            packed::bytes(QUANTILES.map(f32::to_bits)),
            Self::state(&layer.shape).into_bytes(),
        ]
    }

    fn options(&self) -> Value {
        json!({
            "quant_method": "bitsandbytes",
            "load_in_8bit": false,
            "load_in_4bit": true,
            "bnb_4bit_quant_type": "nf4",
            "bnb_4bit_use_double_quant": false,
            "bnb_4bit_quant_storage": "uint8",
        })
    }
}
