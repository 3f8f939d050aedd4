//! AWQ: codes of 4 bits, packed along the outputs in AWQ's order.

use super::{
    affine::{AffineMatrix, ScaleBlocks},
    dense::{DenseTensor, float_type},
    layer::{DenseLayer, PartLayout, QuantizedShape, WeightWriter},
    packed::{self, code},
    parts::{PartNames, StoredParts},
    rounding::{RoundedGroups, transposed},
    stored::StoredPart,
};
use serde_json::{Value, json};

const WEIGHT: &str = ".qweight";
const ZEROS: &str = ".qzeros";
const SCALES: &str = ".scales";
pub(super) const PARTS: PartNames = PartNames {
    ends: &[WEIGHT, ZEROS, SCALES],
    tensor: ".weight",
    unused: &[],
};

// AWQ's kernels exist for 4 bits only.
const BITS: usize = 4;
/// Codes in a word.
const IN_WORD: usize = 8;
/// The place in a word of each of eight outputs.
// The inverse of the order in which AutoAWQ packs: 0, 2, 4, 6, 1, 3, 5, 7.
const PLACES: [usize; IN_WORD] = [0, 4, 1, 5, 2, 6, 3, 7];

/// `qweight` [inputs, outputs / 8], `qzeros` [groups, outputs / 8], `scales` [groups, outputs]; the
/// weight is [outputs, inputs].
pub(super) fn dequantize(parts: &StoredParts) -> Result<DenseTensor, String> {
    let scales = parts.part(SCALES)?;
    let [groups, outputs] = scales.matrix()?;
    let weight = parts.part(WEIGHT)?;
    let [inputs, _] = weight.matrix()?;
    let (codes, zeros) = (
        unpacked(weight, outputs)?,
        unpacked(parts.part(ZEROS)?, outputs)?,
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
        // No size from the options: AutoAWQ refuses inputs that its group does not divide.
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

/// Writes the version `gemm`.
pub(super) struct AwqWriter;

/// The inputs of a group that is written.
// The default of AutoAWQ.
const GROUP: usize = 128;

impl WeightWriter for AwqWriter {
    fn layout(&self, shape: &QuantizedShape) -> Vec<PartLayout> {
        let (groups, words) = (shape.inputs / GROUP, shape.outputs / IN_WORD);
        let scales = [groups, shape.outputs];
        vec![
            PartLayout::new(WEIGHT, "I32", &[shape.inputs, words]),
            PartLayout::new(ZEROS, "I32", &[groups, words]),
            PartLayout::new(SCALES, shape.dtype.as_str(), &scales),
        ]
    }

    fn quantize(&self, layer: &DenseLayer<'_>) -> Vec<Vec<u8>> {
        let QuantizedShape { dtype, inputs, .. } = layer.shape;
        let rounded = RoundedGroups::new(layer.values, dtype, BITS, GROUP);
        let groups = inputs / GROUP;
        vec![
            packed_outputs(&transposed(&rounded.codes, inputs)),
            packed_outputs(&transposed(&rounded.zeros, groups)),
            dtype.encode(transposed(&rounded.scales, groups).into_iter()),
        ]
    }

    fn options(&self) -> Value {
        json!({
            "quant_method": "awq",
            "bits": BITS,
            "group_size": GROUP,
            "zero_point": true,
            "version": "gemm",
        })
    }
}

/// The words of codes, eight outputs in each.
fn packed_outputs(codes: &[u32]) -> Vec<u8> {
    let words = codes.chunks(IN_WORD).map(|outputs| {
        let placed = outputs.iter().zip(PLACES);
        placed.fold(0, |word, (code, place)| word | code << (place * BITS))
    });
    packed::bytes(words)
}
