//! compressed-tensors: integers of 1 to 8 bits, packed or one in a byte, or floats of 8 bits, with
//! scales for the matrix, its rows, groups of columns or blocks.

use super::{
    affine::{AffineMatrix, ScaleBlocks},
    dense::{DenseTensor, float_type},
    packed::{self, code},
    parts::{PartNames, StoredParts},
    stored::StoredPart,
};
use serde_json::Value;

pub(super) const PARTS: PartNames = PartNames {
    ends: &[
        ".weight",
        ".weight_packed",
        ".weight_scale",
        ".weight_zero_point",
        ".weight_shape",
        ".weight_g_idx",
        ".weight_global_scale",
    ],
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
    if parts.find(".weight_global_scale").is_some() {
        return Err("two levels of scales are not supported".to_owned());
    }
    let scales = parts.part(".weight_scale")?;
    let dtype = float_type(scales)?;
    let Codes {
        shape,
        values,
        bits,
    } = codes(parts)?;
    let grid = match scales.shape[..] {
        [rows, columns] => [rows, columns],
        _ if scales.count() == 1 => [1, 1],
        _ => [scales.count(), 1],
    };
    let zeros = parts
        .find(".weight_zero_point")
        .map(|stored| zeros(stored, grid, bits));
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
    let Some(stored) = parts.find(".weight_packed") else {
        let weight = parts.part(".weight")?;
        return Ok(Codes {
            shape: weight.matrix()?,
            values: weight.values()?,
            bits: None,
        });
    };
    let [rows, words] = stored.matrix()?;
    let sizes = parts.part(".weight_shape")?.indices()?;
    let columns = match sizes[..] {
        [found, columns] if found == rows => columns,
        _ => {
            return Err(format!(
                "`weight_shape` is {sizes:?}, but there are {rows} rows"
            ));
        }
    };
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
    match parts.find(".weight_g_idx") {
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
