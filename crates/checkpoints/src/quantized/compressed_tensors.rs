//! compressed-tensors: integers of 1 to 8 bits, packed or one in a byte, or floats of 8 bits, with
//! scales for the matrix, its rows, groups of columns or blocks.

use super::{
    affine::{AffineMatrix, ScaleBlocks},
    dense::{DenseTensor, float_type},
    float8::{self, SmallFloats},
    layer::{DenseLayer, PartLayout, QuantizedShape, WeightWriter},
    packed::{self, code},
    parts::{PartNames, StoredParts},
    rounding::BlockGrid,
    stored::StoredPart,
};
use serde_json::{Value, json};

const WEIGHT: &str = ".weight";
const PACKED: &str = ".weight_packed";
const SCALES: &str = ".weight_scale";
const ZEROS: &str = ".weight_zero_point";
const SHAPE: &str = ".weight_shape";
const GROUPS: &str = ".weight_g_idx";
const GLOBAL: &str = ".weight_global_scale";
pub(super) const PARTS: PartNames = PartNames {
    ends: &[WEIGHT, PACKED, SCALES, ZEROS, SHAPE, GROUPS, GLOBAL],
    tensor: ".weight",
    unused: &[
        ".input_scale",
        ".input_zero_point",
        ".input_global_scale",
        ".output_scale",
        ".output_zero_point",
        ".k_scale",
        ".v_scale",
    ],
};

/// `weight` [rows, columns], or `weight_packed` [rows, words] with `weight_shape`; `weight_scale`
/// one, [rows, 1], [rows, groups] or a grid of blocks; `weight_zero_point` as many, packed along
/// the rows if the weight is packed.
pub(super) fn dequantize(parts: &StoredParts, options: &Value) -> Result<DenseTensor, String> {
    // Without this scale, which NVFP4 has, a whole weight would be wrong by one factor.
    if parts.find(GLOBAL).is_some() {
        return Err("two levels of scales are not supported".to_owned());
    }
    let scales = parts.part(SCALES)?;
    let dtype = float_type(scales)?;
    let Codes {
        shape,
        values,
        bits,
    } = codes(parts)?;
    let grid = match scales.shape[..] {
        [rows, columns] => [rows, columns],
        _ if scales.count() == 1 => [1, 1],
        // One for each row.
        _ => [scales.count(), 1],
    };
    let zeros = parts.find(ZEROS).map(|stored| zeros(stored, grid, bits));
    let matrix = AffineMatrix {
        shape,
        codes: values,
        scales: scales.values()?,
        zeros: zeros.transpose()?,
        blocks: blocks(parts, options, shape, grid)?,
        dtype,
    };
    matrix.dequantize()
}

/// The codes of a matrix by rows.
struct Codes {
    shape: [usize; 2],
    values: Vec<f32>,
    /// The bits of a code where they are packed.
    bits: Option<usize>,
}

fn codes(parts: &StoredParts) -> Result<Codes, String> {
    let Some(stored) = parts.find(PACKED) else {
        let weight = parts.part(WEIGHT)?;
        return Ok(Codes {
            shape: weight.matrix()?,
            values: weight.values()?,
            bits: None,
        });
    };
    let [rows, words] = stored.matrix()?;
    let sizes = parts.part(SHAPE)?.indices()?;
    let columns = match sizes[..] {
        [found, columns] if found == rows => columns,
        _ => {
            return Err(format!(
                "`weight_shape` is {sizes:?}, but there are {rows} rows"
            ));
        }
    };
    // From the sizes: groups of modules may have different bits in the configuration.
    let bits = packed::bits(columns, words).ok_or("no number of bits fits to its sizes")?;
    let packed = stored.packed_words()?;
    Ok(Codes {
        shape: [rows, columns],
        values: (0..rows * columns)
            .map(|index| {
                let (row, column) = (index / columns, index % columns);
                signed(code(|word| packed[row * words + word], column, bits), bits)
            })
            .collect(),
        bits: Some(bits),
    })
}

/// Zero points by rows; packed ones are along the rows of `grid`.
fn zeros(stored: &StoredPart, grid: [usize; 2], bits: Option<usize>) -> Result<Vec<f32>, String> {
    let wrong = || {
        format!(
            "`{}` has the shape {:?}, but there are {grid:?} scales",
            stored.name, stored.shape
        )
    };
    let [rows, columns] = grid;
    let zeros = match bits {
        None => stored.values()?,
        Some(bits) if stored.shape == [packed::words(rows, bits), columns] => {
            let packed = stored.packed_words()?;
            (0..rows * columns)
                .map(|index| {
                    let (row, column) = (index / columns, index % columns);
                    signed(
                        code(|word| packed[word * columns + column], row, bits),
                        bits,
                    )
                })
                .collect()
        }
        Some(_) => return Err(wrong()),
    };
    if zeros.len() == rows * columns {
        Ok(zeros)
    } else {
        Err(wrong())
    }
}

/// Signed integers are packed with half of their range added.
fn signed(code: u32, bits: usize) -> f32 {
    code as f32 - (1u32 << (bits - 1)) as f32
}

fn blocks(
    parts: &StoredParts,
    options: &Value,
    shape: [usize; 2],
    grid: [usize; 2],
) -> Result<ScaleBlocks, String> {
    match parts.find(GROUPS) {
        // Minus one in all places where columns are in their order.
        Some(stored) if stored.bytes.iter().any(|byte| *byte != 0xFF) => {
            ScaleBlocks::groups(stored.indices()?, shape[0], grid[1])
        }
        _ => ScaleBlocks::grid(shape, grid, block_size(options)),
    }
}

/// The size of a block, where all groups of modules have the same.
fn block_size(options: &Value) -> Option<[usize; 2]> {
    let groups = options["config_groups"].as_object()?;
    let sizes = groups
        .values()
        .map(|group| &group["weights"]["block_structure"]);
    let mut sizes = sizes.filter(|size| !size.is_null());
    let size = sizes.next()?;
    if sizes.any(|other| other != size) {
        return None;
    }
    Some([size[0].as_u64()? as usize, size[1].as_u64()? as usize])
}

/// Writes a format with scales around zero.
#[derive(Clone, Copy)]
pub(super) enum CompressedWriter {
    /// `pack-quantized`.
    Int4,
    /// `int-quantized`.
    Int8,
    /// `float-quantized`.
    Fp8,
}

/// The columns of a group that is written.
// As the scheme W4A16 of compressed-tensors.
const GROUP: usize = 128;

impl CompressedWriter {
    fn grid(self, shape: &QuantizedShape) -> BlockGrid {
        let columns = match self {
            Self::Int4 => GROUP,
            Self::Int8 | Self::Fp8 => shape.inputs,
        };
        BlockGrid::new([shape.outputs, shape.inputs], [1, columns])
    }

    const fn bits(self) -> usize {
        match self {
            Self::Int4 => 4,
            Self::Int8 | Self::Fp8 => 8,
        }
    }

    /// The magnitude that the largest value of a group has in steps. The library takes half of the
    /// range of integers.
    fn largest(self) -> f32 {
        match self {
            Self::Int4 | Self::Int8 => ((1 << self.bits()) - 1) as f32 / 2.0,
            // The largest number of E4M3 without infinities.
            Self::Fp8 => 448.0,
        }
    }

    /// How inputs are quantized, which no check needs.
    fn activations(self) -> Value {
        match self {
            Self::Int4 | Self::Fp8 => Value::Null,
            // The library reads integers of 8 bits that are not packed only beside integers as
            // inputs.
            Self::Int8 => json!({
                "num_bits": 8,
                "type": "int",
                "strategy": "token",
                "symmetric": true,
                "dynamic": true,
            }),
        }
    }

    /// The integer of a number of steps.
    fn integer(self, steps: f32) -> i32 {
        let half = (1 << (self.bits() - 1)) as f32;
        // As `torch.round`, which takes ties to the even number.
        steps.round_ties_even().clamp(-half, half - 1.0) as i32
    }
}

impl WeightWriter for CompressedWriter {
    fn layout(&self, shape: &QuantizedShape) -> Vec<PartLayout> {
        let &QuantizedShape {
            dtype,
            outputs,
            inputs,
            ..
        } = shape;
        let scales = PartLayout::new(SCALES, dtype.as_str(), &self.grid(shape).grid);
        let words = packed::words(inputs, self.bits());
        match self {
            Self::Int4 => vec![
                PartLayout::new(PACKED, "I32", &[outputs, words]),
                scales,
                PartLayout::new(SHAPE, "I64", &[2]),
            ],
            Self::Int8 => vec![PartLayout::new(WEIGHT, "I8", &[outputs, inputs]), scales],
            Self::Fp8 => vec![
                PartLayout::new(WEIGHT, "F8_E4M3", &[outputs, inputs]),
                scales,
            ],
        }
    }

    fn quantize(&self, layer: &DenseLayer<'_>) -> Vec<Vec<u8>> {
        let QuantizedShape {
            dtype,
            outputs,
            inputs,
            ..
        } = layer.shape;
        let grid = self.grid(&layer.shape);
        let mut scales = grid.scales(layer.values, self.largest());
        // Before the codes are computed, because readers multiply them with the rounded scales.
        scales
            .iter_mut()
            .for_each(|scale| *scale = dtype.round(*scale));
        let values = layer.values.iter().enumerate();
        let steps = values.map(|(index, value)| value / scales[grid.block(index)]);
        let stored = dtype.encode(scales.iter().copied());
        match self {
            Self::Int4 => {
                let codes: Vec<u32> = steps
                    // Half of the range is added, because the packed bits are read without a sign.
                    .map(|steps| (self.integer(steps) + 8) as u32)
                    .collect();
                let rows = codes.chunks(inputs);
                let words = rows.flat_map(|row| packed::pack(row, self.bits()));
                let sizes = [outputs, inputs].map(|size| (size as u64).to_le_bytes());
                vec![packed::bytes(words), stored, sizes.concat()]
            }
            Self::Int8 => {
                let codes = steps.map(|steps| self.integer(steps) as i8 as u8);
                vec![codes.collect(), stored]
            }
            Self::Fp8 => {
                let floats = SmallFloats::new(8, float8::e4m3);
                vec![steps.map(|steps| floats.code(steps)).collect(), stored]
            }
        }
    }

    fn options(&self) -> Value {
        let (format, kind) = match self {
            Self::Int4 => ("pack-quantized", "int"),
            Self::Int8 => ("int-quantized", "int"),
            Self::Fp8 => ("float-quantized", "float"),
        };
        let (strategy, group) = match self {
            Self::Int4 => ("group", json!(GROUP)),
            Self::Int8 | Self::Fp8 => ("channel", Value::Null),
        };
        let weights = json!({
            "num_bits": self.bits(),
            "type": kind,
            "strategy": strategy,
            "group_size": group,
            "symmetric": true,
        });
        let group = json!({
            "targets": ["Linear"],
            "weights": weights,
            "input_activations": self.activations(),
        });
        json!({
            "quant_method": "compressed-tensors",
            "format": format,
            "quantization_status": "compressed",
            "config_groups": {"group_0": group},
            "ignore": ["lm_head"],
        })
    }
}
