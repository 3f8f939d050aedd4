//! AWQ: codes of 4 bits, packed along the outputs in AWQ's order.

use super::{
    affine::{AffineMatrix, ScaleBlocks},
    dense::{DenseTensor, float_type},
    packed::code,
    parts::{PartNames, StoredParts},
    stored::StoredPart,
};

pub(super) const PARTS: PartNames = PartNames {
    ends: &[".qweight", ".qzeros", ".scales"],
    tensor: ".weight",
    unused: &[],
};

const BITS: usize = 4;
/// Codes in a word.
const IN_WORD: usize = 8;
/// The place in a word of each of eight outputs.
const PLACES: [usize; IN_WORD] = [0, 4, 1, 5, 2, 6, 3, 7];

/// `qweight` [inputs, outputs / 8], `qzeros` [groups, outputs / 8], `scales` [groups, outputs]; the
/// weight is [outputs, inputs].
pub(super) fn dequantize(parts: &StoredParts) -> Result<DenseTensor, String> {
    let scales = parts.part(".scales")?;
    let [groups, outputs] = scales.matrix()?;
    let weight = parts.part(".qweight")?;
    let [inputs, _] = weight.matrix()?;
    let (codes, zeros) = (
        unpacked(weight, outputs)?,
        unpacked(parts.part(".qzeros")?, outputs)?,
    );
    if zeros.len() != groups * outputs {
        return Err(format!(
            "zero points of {} groups, but scales of {groups}",
            zeros.len() / outputs
        ));
    }
    let matrix = AffineMatrix {
        shape: [outputs, inputs],
        codes: transposed(&codes, outputs),
        scales: transposed(&scales.values()?, outputs),
        zeros: Some(transposed(&zeros, outputs)),
        blocks: ScaleBlocks::grid([outputs, inputs], [outputs, groups], None)?,
        dtype: float_type(scales)?,
    };
    matrix.dequantize()
}

/// The codes of a matrix with `outputs` columns, by rows.
fn unpacked(stored: &StoredPart, outputs: usize) -> Result<Vec<f32>, String> {
    let [rows, words] = stored.matrix()?;
    if outputs == 0 || words * IN_WORD != outputs {
        return Err(format!(
            "`{}` has the shape {:?}, but there are {outputs} outputs",
            stored.name, stored.shape
        ));
    }
    let packed = stored.packed_words()?;
    Ok((0..rows * outputs)
        .map(|index| {
            let (row, output) = (index / outputs, index % outputs);
            let place = output / IN_WORD * IN_WORD + PLACES[output % IN_WORD];
            code(|word| packed[row * words + word], place, BITS) as f32
        })
        .collect())
}

/// A matrix with `columns` columns by columns.
fn transposed(values: &[f32], columns: usize) -> Vec<f32> {
    (0..columns)
        .flat_map(|column| values.iter().skip(column).step_by(columns).copied())
        .collect()
}
