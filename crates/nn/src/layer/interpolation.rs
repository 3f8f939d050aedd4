//! Position tables for images of another size than the trained one.

use crate::{backend::Ops, inputs::Inputs};
use burn_tensor::{DType, Tensor, TensorData};

/// The constant of cubic convolution (Keys 1981) that PyTorch takes.
const A: f64 = -0.75;

/// `table` [1, rows, columns, width] resampled to [1, rows', columns', width], as
/// `torch.nn.functional.interpolate(mode="bicubic", align_corners=False)` does; computed in f32 and
/// rounded once.
pub fn bicubic<B: Ops>(
    table: Tensor<B, 4>,
    size: [usize; 2],
    inputs: &Inputs<'_, B>,
) -> Tensor<B, 4> {
    let dtype = table.dtype();
    // Columns and rows one after another: the cubic weights of a pixel are a product of both.
    let table = resampled(table.cast(DType::F32), 2, size[1], inputs);
    resampled(table, 1, size[0], inputs).cast(dtype)
}

/// Each output is the weighted sum of four neighbours in `dimension`.
fn resampled<B: Ops>(
    table: Tensor<B, 4>,
    dimension: usize,
    size: usize,
    inputs: &Inputs<'_, B>,
) -> Tensor<B, 4> {
    let length = table.dims()[dimension];
    let places: Vec<f64> = (0..size).map(|index| place(index, length, size)).collect();
    let mut shape = [1; 4];
    shape[dimension] = size;
    let tap = |offset: i64| {
        let indices = inputs.put_indices(
            places
                .iter()
                // Beyond an edge its own pixel is repeated, as PyTorch does.
                .map(|place| (place.floor() as i64 + offset).clamp(0, length as i64 - 1))
                .collect(),
            [size],
        );
        let weights = TensorData::new(
            places
                .iter()
                .map(|place| weight((place - place.floor() - offset as f64).abs()) as f32)
                .collect::<Vec<f32>>(),
            shape,
        );
        table.clone().select(dimension, indices)
            * Tensor::from_data(weights, (inputs.device(), DType::F32))
    };
    tap(-1) + tap(0) + tap(1) + tap(2)
}

/// The position of the centre of output `index` among the inputs.
fn place(index: usize, length: usize, size: usize) -> f64 {
    // Half a pixel, because `align_corners=False` maps the centres of pixels.
    (index as f64 + 0.5) * length as f64 / size as f64 - 0.5
}

fn weight(distance: f64) -> f64 {
    if distance <= 1.0 {
        ((A + 2.0) * distance - (A + 3.0)) * distance * distance + 1.0
    } else {
        ((A * distance - 5.0 * A) * distance + 8.0 * A) * distance - 4.0 * A
    }
}
