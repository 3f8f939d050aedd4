//! Normalisations of rows.

use super::{
    block,
    rows::{StridedRows, address_type, blocks, count, output, vector, width},
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
    let vector = vector(width, &[x.stride, residual.stride]);
    let threads = block::threads(width / vector);
    let (cubes, dimension) = blocks(rows, threads);
    let types = [x.tensor.dtype, weight.dtype].map(Into::into);
    layer_norm_kernel::launch(
        &output.client,
        cubes,
        dimension,
        address_type([&x.tensor, &residual.tensor, &output]),
        vector,
        x.tensor.into_array_arg(),
        residual.tensor.into_array_arg(),
        weight.into_array_arg(),
        bias.into_array_arg(),
        output.clone().into_array_arg(),
        rows,
        width,
        width / vector,
        x.stride / vector,
        residual.stride / vector,
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
    let vector = vector(width, &[x.stride]);
    let threads = block::threads(width / vector);
    let (cubes, dimension) = blocks(rows, threads);
    let types = [x.tensor.dtype, weight.dtype].map(Into::into);
    rms_norm_kernel::launch(
        &output.client,
        cubes,
        dimension,
        address_type([&x.tensor, &output]),
        vector,
        x.tensor.into_array_arg(),
        weight.into_array_arg(),
        output.clone().into_array_arg(),
        rows,
        width,
        width / vector,
        x.stride / vector,
        eps as f32,
        threads,
        types,
    );
    output
}

#[cube(launch, address_type = "dynamic")]
fn layer_norm_kernel<F: Float, W: Float, N: Size>(
    x: &Array<Vector<F, N>>,
    residual: &Array<Vector<F, N>>,
    weight: &Array<Vector<W, N>>,
    bias: &Array<Vector<W, N>>,
    output: &mut Array<Vector<F, N>>,
    rows: usize,
    width: usize,
    vectors: usize,
    x_stride: usize,
    residual_stride: usize,
    eps: f32,
    #[comptime] with_residual: bool,
    #[comptime] threads: u32,
    #[define(F, W)] _types: [StorageType; 2],
) {
    let row = block::row();
    if row >= rows {
        terminate!();
    }
    let x_start = row * x_stride;
    let residual_start = row * residual_stride;
    let length = f32::cast_from(width);

    let mut part = Vector::<f32, N>::new(0.0f32);
    let mut column = UNIT_POS_X as usize;
    while column < vectors {
        part += elements::<F, N>(
            x,
            residual,
            x_start + column,
            residual_start + column,
            with_residual,
        );
        column += threads as usize;
    }
    let mean = block::sum::<N>(part, threads) / length;

    // The variance in a separate pass: the mean of squares minus the square of the mean cancels.
    let mut part = Vector::<f32, N>::new(0.0f32);
    let mut column = UNIT_POS_X as usize;
    while column < vectors {
        let centred = elements::<F, N>(
            x,
            residual,
            x_start + column,
            residual_start + column,
            with_residual,
        ) - Vector::new(mean);
        part += centred * centred;
        column += threads as usize;
    }
    let deviation = (block::sum::<N>(part, threads) / length + eps).sqrt();

    let mut column = UNIT_POS_X as usize;
    while column < vectors {
        let values = elements::<F, N>(
            x,
            residual,
            x_start + column,
            residual_start + column,
            with_residual,
        );
        let normal = (values - Vector::new(mean)) / Vector::new(deviation);
        let scaled = normal * Vector::cast_from(weight[column]) + Vector::cast_from(bias[column]);
        output[row * vectors + column] = Vector::cast_from(scaled);
        column += threads as usize;
    }
}

/// Elements of the normalised tensor. The sum is rounded to the type of the tensors, as a separate
/// addition does.
#[cube]
fn elements<F: Float, N: Size>(
    x: &Array<Vector<F, N>>,
    residual: &Array<Vector<F, N>>,
    x_index: usize,
    residual_index: usize,
    #[comptime] with_residual: bool,
) -> Vector<f32, N> {
    let values = Vector::<f32, N>::cast_from(x[x_index]);
    if with_residual {
        let sum = values + Vector::<f32, N>::cast_from(residual[residual_index]);
        Vector::<f32, N>::cast_from(Vector::<F, N>::cast_from(sum))
    } else {
        values
    }
}

#[cube(launch, address_type = "dynamic")]
fn rms_norm_kernel<F: Float, W: Float, N: Size>(
    x: &Array<Vector<F, N>>,
    weight: &Array<Vector<W, N>>,
    output: &mut Array<Vector<F, N>>,
    rows: usize,
    width: usize,
    vectors: usize,
    stride: usize,
    eps: f32,
    #[comptime] threads: u32,
    #[define(F, W)] _types: [StorageType; 2],
) {
    let row = block::row();
    if row >= rows {
        terminate!();
    }
    let start = row * stride;
    let mut part = Vector::<f32, N>::new(0.0f32);
    let mut column = UNIT_POS_X as usize;
    while column < vectors {
        let values = Vector::<f32, N>::cast_from(x[start + column]);
        part += values * values;
        column += threads as usize;
    }
    let squares = block::sum::<N>(part, threads);
    let inverse = 1.0f32 / (squares / f32::cast_from(width) + eps).sqrt();

    let mut column = UNIT_POS_X as usize;
    while column < vectors {
        let values = Vector::<f32, N>::cast_from(x[start + column]);
        // Rounded before the weight is applied, as in `LlamaRMSNorm`.
        let normal = Vector::<F, N>::cast_from(values * Vector::new(inverse));
        let scaled =
            Vector::<f32, N>::cast_from(normal) * Vector::<f32, N>::cast_from(weight[column]);
        output[row * vectors + column] = Vector::cast_from(scaled);
        column += threads as usize;
    }
}
