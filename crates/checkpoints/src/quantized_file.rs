//! `model.safetensors` of synthetic weights that a scheme quantizes.

use crate::{
    error::SyntheticError,
    parallel,
    quantized::{DenseLayer, PartLayout, QuantizedShape, WeightWriter, writer},
    recipe::{Recipe, SyntheticTensor},
    tensor_values::TensorValues,
    weights_file::{HeaderLine, header},
};
use std::{fs::File, os::unix::fs::FileExt, path::Path};
use testgen_types::QuantizationScheme;

/// A tensor of the recipe with its places in the file.
struct PlannedTensor {
    tensor: SyntheticTensor,
    /// The sizes of a tensor that the scheme quantizes.
    layer: Option<QuantizedShape>,
    parts: Vec<PlannedPart>,
}

/// A part of a tensor, or a dense tensor.
struct PlannedPart {
    name: String,
    layout: PartLayout,
    /// The place of its first byte after the header.
    position: u64,
}

/// Writes the weights of `recipe`, quantized by `scheme`, to `path`.
pub(crate) fn write(
    recipe: &Recipe,
    scheme: QuantizationScheme,
    path: &Path,
) -> Result<(), SyntheticError> {
    let writer = writer(scheme);
    let tensors = recipe.tensors()?.into_iter();
    let planned = tensors.map(|tensor| PlannedTensor::new(tensor, scheme, writer.as_ref()));
    let mut planned = planned.collect::<Result<Vec<_>, _>>()?;
    let header = place(&mut planned);
    let parts = planned.iter().flat_map(|tensor| &tensor.parts);
    let bytes = header.len() as u64 + parts.map(|part| part.layout.bytes() as u64).sum::<u64>();
    let written = File::create(path).and_then(|file| {
        file.write_all_at(&header, 0)?;
        file.set_len(bytes)?;
        parallel::for_each(planned.len(), |index, dense| {
            let planned = &planned[index];
            let contents = planned.contents(recipe.seed, scheme, dense);
            let mut parts = planned.parts.iter().zip(contents);
            parts.try_for_each(|(part, content)| {
                // Other bytes would overwrite the next part, and the file would still be readable.
                assert_eq!(content.len(), part.layout.bytes(), "{}", part.name);
                file.write_all_at(&content, header.len() as u64 + part.position)
            })
        })
    });
    written.map_err(|source| SyntheticError::Write {
        path: path.to_owned(),
        bytes,
        source,
    })
}

/// The header; all parts get their positions.
fn place(planned: &mut [PlannedTensor]) -> Vec<u8> {
    let mut parts: Vec<&mut PlannedPart> = planned
        .iter_mut()
        .flat_map(|tensor| &mut tensor.parts)
        .collect();
    // The widest values first, so that each part starts at a multiple of its width, which kernels
    // may rely on: torch checks it for views of bytes only.
    parts.sort_by_key(|part| std::cmp::Reverse(part.layout.width()));
    let mut position = 0;
    for part in &mut parts {
        part.position = position;
        position += part.layout.bytes() as u64;
    }
    header(parts.iter().map(|part| HeaderLine {
        name: &part.name,
        dtype: part.layout.dtype,
        shape: part.layout.shape.iter().map(|size| *size as u64).collect(),
        bytes: part.layout.bytes() as u64,
    }))
}

impl PlannedTensor {
    fn new(
        tensor: SyntheticTensor,
        scheme: QuantizationScheme,
        writer: &dyn WeightWriter,
    ) -> Result<Self, SyntheticError> {
        if !tensor.quantise {
            let shape: Vec<usize> = tensor.shape.iter().map(|size| *size as usize).collect();
            let layout = PartLayout::new("", tensor.dtype.as_str(), &shape);
            let parts = vec![PlannedPart::new(tensor.name.clone(), layout)];
            return Ok(Self {
                tensor,
                layer: None,
                parts,
            });
        }
        let layer = QuantizedShape::new(scheme, tensor.dtype, &tensor.shape);
        let layer = layer.map_err(|reason| SyntheticError::Layer {
            scheme,
            layer: tensor.name.clone(),
            reason,
        })?;
        let name = &tensor.name;
        let module = name.strip_suffix(writer.tensor()).unwrap_or(name);
        let parts = writer.layout(&layer).into_iter();
        let parts = parts.map(|layout| PlannedPart::new(format!("{module}{}", layout.end), layout));
        Ok(Self {
            layer: Some(layer),
            parts: parts.collect(),
            tensor,
        })
    }

    /// The bytes of each part; `dense` is a buffer for the values before they are quantized.
    fn contents(&self, seed: u64, scheme: QuantizationScheme, dense: &mut Vec<u8>) -> Vec<Vec<u8>> {
        let dtype = self.tensor.dtype;
        TensorValues::new(seed, &self.tensor).write(dtype, 0..self.tensor.count(), dense);
        match self.layer {
            // Without a copy: the buffer may have hundreds of megabytes.
            None => vec![std::mem::take(dense)],
            // A second writer, because the one of the plan is a trait object that threads cannot
            // share.
            Some(shape) => writer(scheme).quantize(&DenseLayer {
                shape,
                values: &dtype.decode(dense),
            }),
        }
    }
}

impl PlannedPart {
    const fn new(name: String, layout: PartLayout) -> Self {
        Self {
            name,
            layout,
            position: 0,
        }
    }
}
