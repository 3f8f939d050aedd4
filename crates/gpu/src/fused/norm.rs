//! Normalisations of rows.

use super::{
    block,
    rows::{StridedRows, address_type, blocks, count, output, width},
};
use crate::runtime::GpuTensor;
use burn_cubecl::kernel::into_contiguous;
use cubecl::prelude::*;

/// The parameters of a layer norm.
#[derive(Debug)]
pub struct LayerNormWeights {
    /// As long as a row.
    pub weight: GpuTensor,
    /// As long as a row.
    pub bias: GpuTensor,
    /// Added to the variance.
    pub eps: f64,
}

/// Layer normalisation over the last dimension of `x`, or of `x` + `residual`, which is rounded to
/// the type of `x` first. The result has the shape and the type of `x`.
pub fn layer_norm(
    x: GpuTensor,
    residual: Option<GpuTensor>,
    weights: LayerNormWeights,
) -> GpuTensor {
    let LayerNormWeights { weight, bias, eps } = weights;
    let (width, rows, output) = (width(&x), count(&x), output(&x));
    let (weight, bias) = (into_contiguous(weight), into_contiguous(bias));
    let with_residual = residual.is_some();
    let x = StridedRows::new(x);
    // A kernel has all its arguments; without a residual it does not read this one.
    let residual = residual.map_or_else(
        || StridedRows {
            tensor: x.tensor.clone(),
            stride: x.stride,
        },
        StridedRows::new,
    );
    let threads = block::threads(width);
    let (cubes, dimension) = blocks(rows, threads);
    let types = [x.tensor.dtype, weight.dtype].map(Into::into);
    layer_norm_kernel::launch(
        &output.client,
        cubes,
        dimension,
        address_type([&x.tensor, &residual.tensor, &output]),
        x.tensor.into_array_arg(),
        residual.tensor.into_array_arg(),
        weight.into_array_arg(),
        bias.into_array_arg(),
        output.clone().into_array_arg(),
        width,
        x.stride,
        residual.stride,
        eps as f32,
        with_residual,
        threads,
        types,
    );
    output
}

/// Root-mean-square normalisation over the last dimension of `x`. The normalised row is rounded to
/// the type of `x`, and multiplied by `weight` in that type. The result has the shape and the type
/// of `x`.
pub fn rms_norm(x: GpuTensor, weight: GpuTensor, eps: f64) -> GpuTensor {
    let (width, rows, output) = (width(&x), count(&x), output(&x));
    let (x, weight) = (StridedRows::new(x), into_contiguous(weight));
    let threads = block::threads(width);
    let (cubes, dimension) = blocks(rows, threads);
    let types = [x.tensor.dtype, weight.dtype].map(Into::into);
    rms_norm_kernel::launch(
        &output.client,
        cubes,
        dimension,
        address_type([&x.tensor, &output]),
        x.tensor.into_array_arg(),
        weight.into_array_arg(),
        output.clone().into_array_arg(),
        width,
        x.stride,
        eps as f32,
        threads,
        types,
    );
    output
}

#[cube(launch, address_type = "dynamic")]
fn layer_norm_kernel<F: Float, W: Float>(
    x: &Array<F>,
    residual: &Array<F>,
    weight: &Array<W>,
    bias: &Array<W>,
    output: &mut Array<F>,
    width: usize,
    x_stride: usize,
    residual_stride: usize,
    eps: f32,
    #[comptime] with_residual: bool,
    #[comptime] threads: u32,
    #[define(F, W)] _types: [StorageType; 2],
) {
    let x_start = CUBE_POS * x_stride;
    let residual_start = CUBE_POS * residual_stride;
    let length = f32::cast_from(width);

    let mut part = 0.0f32;
    let mut column = UNIT_POS as usize;
    while column < width {
        part += element::<F>(
            x,
            residual,
            x_start + column,
            residual_start + column,
            with_residual,
        );
        column += threads as usize;
    }
    let mean = block::sum(part, threads) / length;

    // The variance in a separate pass: the mean of squares minus the square of the mean cancels.
    let mut part = 0.0f32;
    let mut column = UNIT_POS as usize;
    while column < width {
        let centred = element::<F>(
            x,
            residual,
            x_start + column,
            residual_start + column,
            with_residual,
        ) - mean;
        part += centred * centred;
        column += threads as usize;
    }
    let deviation = (block::sum(part, threads) / length + eps).sqrt();

    let mut column = UNIT_POS as usize;
    while column < width {
        let value = element::<F>(
            x,
            residual,
            x_start + column,
            residual_start + column,
            with_residual,
        );
        let normal = (value - mean) / deviation;
        let scaled = normal * f32::cast_from(weight[column]) + f32::cast_from(bias[column]);
        output[CUBE_POS * width + column] = F::cast_from(scaled);
        column += threads as usize;
    }
}

/// One element of the normalised tensor. The sum is rounded to the type of the tensors, as a
/// separate addition does.
#[cube]
fn element<F: Float>(
    x: &Array<F>,
    residual: &Array<F>,
    x_index: usize,
    residual_index: usize,
    #[comptime] with_residual: bool,
) -> f32 {
    if with_residual {
        f32::cast_from(F::cast_from(
            f32::cast_from(x[x_index]) + f32::cast_from(residual[residual_index]),
        ))
    } else {
        f32::cast_from(x[x_index])
    }
}

#[cube(launch, address_type = "dynamic")]
fn rms_norm_kernel<F: Float, W: Float>(
    x: &Array<F>,
    weight: &Array<W>,
    output: &mut Array<F>,
    width: usize,
    stride: usize,
    eps: f32,
    #[comptime] threads: u32,
    #[define(F, W)] _types: [StorageType; 2],
) {
    let start = CUBE_POS * stride;
    let mut part = 0.0f32;
    let mut column = UNIT_POS as usize;
    while column < width {
        let value = f32::cast_from(x[start + column]);
        part += value * value;
        column += threads as usize;
    }
    let inverse = 1.0f32 / (block::sum(part, threads) / f32::cast_from(width) + eps).sqrt();

    let mut column = UNIT_POS as usize;
    while column < width {
        // Rounded before the weight is applied, as in `LlamaRMSNorm`.
        let normal = F::cast_from(f32::cast_from(x[start + column]) * inverse);
        let scaled = f32::cast_from(normal) * f32::cast_from(weight[column]);
        output[CUBE_POS * width + column] = F::cast_from(scaled);
        column += threads as usize;
    }
}
