//! A layer to quantize, and the parts of it in a file.

use super::stored;
use crate::float_type::FloatType;
use serde_json::Value;
use testgen_types::QuantizationScheme;

/// The parts of a tensor by a scheme.
pub(crate) trait WeightWriter {
    /// The parts of a tensor with this shape.
    fn layout(&self, shape: &QuantizedShape) -> Vec<PartLayout>;

    /// The bytes of each part of the layout.
    fn quantize(&self, layer: &DenseLayer<'_>) -> Vec<Vec<u8>>;

    /// The options in `quantization_config`.
    fn options(&self) -> Value;

    /// The end of the tensor's name that the ends of the parts replace.
    fn tensor(&self) -> &'static str {
        ".weight"
    }
}

/// A part of a quantized tensor, before it has values.
#[derive(Debug)]
pub(crate) struct PartLayout {
    /// The end of its name.
    pub(crate) end: &'static str,
    /// As safetensors names it.
    pub(crate) dtype: &'static str,
    pub(crate) shape: Vec<usize>,
}

/// The sizes of a tensor to quantize.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuantizedShape {
    pub(crate) dtype: FloatType,
    /// One for a matrix.
    pub(crate) experts: usize,
    pub(crate) outputs: usize,
    pub(crate) inputs: usize,
}

/// A tensor to quantize.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DenseLayer<'a> {
    pub(crate) shape: QuantizedShape,
    /// [outputs, inputs], or [experts, inputs, outputs].
    pub(crate) values: &'a [f32],
}

impl PartLayout {
    pub(crate) fn new(end: &'static str, dtype: &'static str, shape: &[usize]) -> Self {
        Self {
            end,
            dtype,
            shape: shape.to_vec(),
        }
    }

    /// The bytes of a value.
    pub(crate) fn width(&self) -> usize {
        stored::size(self.dtype).expect("writers name types with a known size")
    }

    pub(crate) fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.width()
    }
}

impl QuantizedShape {
    /// # Errors
    ///
    /// If the scheme does not quantize tensors of this shape.
    pub(crate) fn new(
        scheme: QuantizationScheme,
        dtype: FloatType,
        shape: &[u64],
    ) -> Result<Self, String> {
        // Checkpoints in MXFP4 quantize the experts of mixtures, which are one tensor with the
        // inputs first.
        let has_experts = scheme == QuantizationScheme::Mxfp4;
        let [experts, outputs, inputs] = match *shape {
            [experts, inputs, outputs] if has_experts => [experts, outputs, inputs],
            [outputs, inputs] if !has_experts => [1, outputs, inputs],
            _ => {
                let rank = if has_experts { 3 } else { 2 };
                return Err(format!("its shape {shape:?} has not {rank} sizes"));
            }
        };
        if let Some(problem) = scheme.size_problem([outputs, inputs]) {
            return Err(problem);
        }
        Ok(Self {
            dtype,
            experts: size(experts)?,
            outputs: size(outputs)?,
            inputs: size(inputs)?,
        })
    }
}

fn size(size: u64) -> Result<usize, String> {
    usize::try_from(size).map_err(|error| error.to_string())
}
