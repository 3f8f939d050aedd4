//! Rotary position embeddings.

use super::rows::address_type;
use crate::runtime::GpuTensor;
use burn_backend::TensorMetadata;
use burn_cubecl::{kernel::into_contiguous, ops::numeric::empty_device_contiguous_dtype};
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

/// Rotates the first elements of every head of `x` [batch, heads, seq, head_dim], in the
/// half-rotated layout: x cos + rotate_half(x) sin, each product and the sum rounded to the type of
/// `x`.
///
/// `cos` and `sin` are [batch or 1, 1, seq, width] in that type; the elements of a head after
/// `width` are copied.
pub fn rotate(x: GpuTensor, cos: GpuTensor, sin: GpuTensor) -> GpuTensor {
    let [_, heads, seq, head_dim] = x.shape().dims();
    let [batches, _, _, width] = cos.shape().dims();
    let (cos, sin) = (into_contiguous(cos), into_contiguous(sin));
    let output = empty_device_contiguous_dtype(x.client.clone(), x.device, x.shape(), x.dtype);
    let count = x.shape().num_elements();
    let dimension = CubeDim::new(&x.client, count);
    let cubes = calculate_cube_count_elemwise(&x.client, count, dimension);
    let strides = x.meta.strides();
    let [batch_step, head_step, seq_step, step] = [strides[0], strides[1], strides[2], strides[3]];
    // With 0 every row of the batch reads the same angles.
    let table_step = if batches == 1 { 0 } else { seq * width };
    let dtype = x.dtype.into();
    rotation_kernel::launch(
        &output.client,
        cubes,
        dimension,
        address_type([&x, &output]),
        x.into_array_arg(),
        cos.into_array_arg(),
        sin.into_array_arg(),
        output.clone().into_array_arg(),
        count,
        heads,
        seq,
        head_dim,
        width,
        batch_step,
        head_step,
        seq_step,
        step,
        table_step,
        dtype,
    );
    output
}

#[cube(launch, address_type = "dynamic")]
fn rotation_kernel<F: Float>(
    x: &Array<F>,
    cos: &Array<F>,
    sin: &Array<F>,
    output: &mut Array<F>,
    count: usize,
    heads: usize,
    seq: usize,
    head_dim: usize,
    width: usize,
    batch_step: usize,
    head_step: usize,
    seq_step: usize,
    step: usize,
    table_step: usize,
    #[define(F)] _type: StorageType,
) {
    if ABSOLUTE_POS >= count {
        terminate!();
    }
    let column = ABSOLUTE_POS % head_dim;
    let position = ABSOLUTE_POS / head_dim % seq;
    let head = ABSOLUTE_POS / head_dim / seq % heads;
    let batch = ABSOLUTE_POS / head_dim / seq / heads;
    let start = batch * batch_step + head * head_step + position * seq_step;
    let value = x[start + column * step];
    if column >= width {
        output[ABSOLUTE_POS] = value;
    } else {
        let half = width / 2;
        let turned = if column < half {
            -x[start + (column + half) * step]
        } else {
            x[start + (column - half) * step]
        };
        let table = batch * table_step + position * width + column;
        let first = F::cast_from(f32::cast_from(value) * f32::cast_from(cos[table]));
        let second = F::cast_from(f32::cast_from(turned) * f32::cast_from(sin[table]));
        output[ABSOLUTE_POS] = F::cast_from(f32::cast_from(first) + f32::cast_from(second));
    }
}
