//! FP8: floats of 8 bits with a scale for each block of a matrix, as transformers'
//! `FineGrainedFP8Config` writes them.

use super::{
    affine::{AffineMatrix, ScaleBlocks},
    dense::DenseTensor,
    float8::{self, SmallFloats},
    layer::{DenseLayer, PartLayout, QuantizedShape, WeightWriter},
    packed,
    parts::{PartNames, StoredParts},
    rounding::BlockGrid,
};
use crate::float_type::FloatType;
use serde_json::{Value, json};

const WEIGHT: &str = ".weight";
// Despite the name, codes are multiplied by it.
const SCALES: &str = ".weight_scale_inv";
pub(super) const PARTS: PartNames = PartNames {
    ends: &[WEIGHT, SCALES],
    tensor: ".weight",
    // They scale activations, of which dequantized weights have no use.
    unused: &[".activation_scale", ".input_scale"],
};

/// `weight` [rows, columns], `weight_scale_inv` one scale for each block, or for all.
pub(super) fn dequantize(parts: &StoredParts, options: &Value) -> Result<DenseTensor, String> {
    // transformers multiplies in f32 and rounds to the type that the model is loaded as, which a
    // load does with an f32 here.
    let (weight, scales) = (parts.part(WEIGHT)?, parts.part(SCALES)?);
    let (shape, codes) = (weight.matrix()?, weight.values()?);
    let grid = match scales.shape[..] {
        [rows, columns] => [rows, columns],
        _ if scales.count() == 1 => [1, 1],
        // One for each row.
        _ => [scales.count(), 1],
    };
    let matrix = AffineMatrix {
        shape,
        codes,
        scales: scales.values()?,
        zeros: None,
        blocks: ScaleBlocks::grid(shape, grid, block_size(options))?,
        dtype: FloatType::F32,
    };
    matrix.dequantize()
}

/// The rows and columns of a block, if the configuration names them.
fn block_size(options: &Value) -> Option<[usize; 2]> {
    let size = &options["weight_block_size"];
    Some([size[0].as_u64()? as usize, size[1].as_u64()? as usize])
}

/// Writes what shares a scale: the matrix, an output, or a block.
#[derive(Clone, Copy)]
pub(super) enum Fp8Writer {
    Tensor,
    Channel,
    Block,
    /// Blocks in E4M3 of MI300.
    FnuzBlock,
}

/// Outputs and inputs of a block that is written.
// `weight_block_size` of DeepSeek-V3, and the default of `FineGrainedFP8Config`.
const BLOCK: usize = 128;

impl Fp8Writer {
    fn grid(self, shape: &QuantizedShape) -> BlockGrid {
        let sizes = [shape.outputs, shape.inputs];
        let block = match self {
            Self::Tensor => sizes,
            Self::Channel => [1, shape.inputs],
            Self::Block | Self::FnuzBlock => [BLOCK, BLOCK],
        };
        BlockGrid::new(sizes, block)
    }

    /// The type as safetensors names it, and its numbers.
    const fn element(self) -> (&'static str, fn(u8) -> f32) {
        match self {
            Self::Tensor | Self::Channel | Self::Block => ("F8_E4M3", float8::e4m3),
            Self::FnuzBlock => ("F8_E4M3FNUZ", float8::e4m3fnuz),
        }
    }
}

impl WeightWriter for Fp8Writer {
    fn layout(&self, shape: &QuantizedShape) -> Vec<PartLayout> {
        let grid = self.grid(shape).grid;
        // One scale for all is a scalar.
        let scales: &[usize] = match self {
            Self::Tensor => &[],
            Self::Channel | Self::Block | Self::FnuzBlock => &grid,
        };
        vec![
            PartLayout::new(WEIGHT, self.element().0, &[shape.outputs, shape.inputs]),
            PartLayout::new(SCALES, "F32", scales),
        ]
    }

    fn quantize(&self, layer: &DenseLayer<'_>) -> Vec<Vec<u8>> {
        let (grid, floats) = (
            self.grid(&layer.shape),
            SmallFloats::new(8, self.element().1),
        );
        let scales = grid.scales(layer.values, floats.largest());
        let values = layer.values.iter().enumerate();
        let codes = values.map(|(index, value)| floats.code(value / scales[grid.block(index)]));
        let codes = codes.collect();
        vec![codes, packed::bytes(scales.into_iter().map(f32::to_bits))]
    }

    fn options(&self) -> Value {
        let block = match self {
            Self::Tensor | Self::Channel => Value::Null,
            Self::Block | Self::FnuzBlock => json!([BLOCK, BLOCK]),
        };
        json!({
            "quant_method": "fp8",
            "fmt": "e4m3",
            "weight_block_size": block,
            // With `static` transformers expects a scale of the inputs for each layer in the file.
            "activation_scheme": "dynamic",
        })
    }
}
