//! FP8: floats of 8 bits with a scale for each block of a matrix, as transformers'
//! `FineGrainedFP8Config` writes them.

use super::{
    affine::{AffineMatrix, ScaleBlocks},
    dense::DenseTensor,
    parts::{PartNames, StoredParts},
};
use crate::recipe::FloatType;
use serde_json::Value;

pub(super) const PARTS: PartNames = PartNames {
    ends: &[".weight", ".weight_scale_inv"],
    tensor: ".weight",
    unused: &[".activation_scale", ".input_scale"],
};

/// `weight` [rows, columns], `weight_scale_inv` one scale for each block, or for all.
///
/// transformers multiplies in f32 and rounds to the type that the model is loaded as, which a load
/// does with an f32 here.
pub(super) fn dequantize(parts: &StoredParts, options: &Value) -> Result<DenseTensor, String> {
    let (weight, scales) = (parts.part(".weight")?, parts.part(".weight_scale_inv")?);
    let (shape, codes) = (weight.matrix()?, weight.values()?);
    let grid = match scales.shape[..] {
        [rows, columns] => [rows, columns],
        _ if scales.count() == 1 => [1, 1],
        // One for each row.
        _ => [scales.count(), 1],
    };
    let block = |side: usize| {
        options["weight_block_size"][side]
            .as_u64()
            .map(|size| size as usize)
    };
    let matrix = AffineMatrix {
        shape,
        codes,
        scales: scales.values()?,
        zeros: None,
        blocks: ScaleBlocks::grid(shape, grid, block(0).zip(block(1)).map(<[usize; 2]>::from))?,
        dtype: FloatType::F32,
    };
    matrix.dequantize()
}
