//! The softmax of attention scores.

use super::{
    block,
    rows::{StridedRows, address_type, blocks, count, output, vector},
};
use crate::runtime::GpuTensor;
use burn_backend::TensorMetadata;
use burn_cubecl::kernel::into_contiguous;
use cubecl::prelude::*;

/// softmax(`scores` * `scale` + `bias`) over the last dimension.
///
/// `scores` is [batch, heads, query, key]; `bias` is f32, [batch or 1, heads or 1, query or 1,
/// key]. The result has the shape and the type of `scores`.
pub fn masked_softmax(scores: GpuTensor, scale: f64, bias: Option<GpuTensor>) -> GpuTensor {
    let [_, heads, queries, keys] = scores.shape().dims();
    let (rows, output) = (count(&scores), output(&scores));
    let bias = bias.map(into_contiguous);
    let [batch_step, head_step, query_step] = bias.as_ref().map_or([0; 3], steps);
    let with_bias = bias.is_some();
    // A kernel has all its arguments; without a bias it does not read this one.
    let bias = bias.unwrap_or_else(|| output.clone());
    let scores = StridedRows::new(scores);
    // Rows of a bias follow each other, so that its steps are multiples of a row.
    let vector = vector(keys, &[scores.stride]);
    let threads = block::threads(keys / vector);
    let (cubes, dimension) = blocks(rows, threads);
    let types = [scores.tensor.dtype, bias.dtype].map(Into::into);
    masked_softmax_kernel::launch(
        &output.client,
        cubes,
        dimension,
        address_type([&scores.tensor, &bias, &output]),
        vector,
        scores.tensor.into_array_arg(),
        bias.into_array_arg(),
        output.clone().into_array_arg(),
        rows,
        keys / vector,
        queries,
        heads,
        scores.stride / vector,
        batch_step / vector,
        head_step / vector,
        query_step / vector,
        scale as f32,
        with_bias,
        threads,
        types,
    );
    output
}

/// The distances of a contiguous bias in elements, zero if it is broadcast.
fn steps(bias: &GpuTensor) -> [usize; 3] {
    let [batch, heads, queries, keys] = bias.shape().dims();
    [
        step(batch, heads * queries * keys),
        step(heads, queries * keys),
        step(queries, keys),
    ]
}

fn step(length: usize, distance: usize) -> usize {
    if length == 1 { 0 } else { distance }
}

#[cube(launch, address_type = "dynamic")]
fn masked_softmax_kernel<F: Float, B: Float, N: Size>(
    scores: &Array<Vector<F, N>>,
    bias: &Array<Vector<B, N>>,
    output: &mut Array<Vector<F, N>>,
    rows: usize,
    vectors: usize,
    queries: usize,
    heads: usize,
    stride: usize,
    batch_step: usize,
    head_step: usize,
    query_step: usize,
    scale: f32,
    #[comptime] with_bias: bool,
    #[comptime] threads: u32,
    #[define(F, B)] _types: [StorageType; 2],
) {
    let row = block::row();
    if row >= rows {
        terminate!();
    }
    let start = row * stride;
    let query = row % queries;
    let head = row / queries % heads;
    let batch = row / queries / heads;
    let bias_start = batch * batch_step + head * head_step + query * query_step;

    let mut largest = Vector::<f32, N>::new(f32::min_value());
    let mut key = UNIT_POS_X as usize;
    while key < vectors {
        let scores = biased::<F, B, N>(
            scores,
            bias,
            start + key,
            bias_start + key,
            scale,
            with_bias,
        );
        // A NaN is never larger; it shows in the exponentials.
        largest = select_many(scores.greater_than(largest), scores, largest);
        key += threads as usize;
    }
    let largest = block::maximum::<N>(largest, threads);

    let mut part = Vector::<f32, N>::new(0.0f32);
    let mut key = UNIT_POS_X as usize;
    while key < vectors {
        let scores = biased::<F, B, N>(
            scores,
            bias,
            start + key,
            bias_start + key,
            scale,
            with_bias,
        );
        part += Vector::exp(scores - Vector::new(largest));
        key += threads as usize;
    }
    let sum = block::sum::<N>(part, threads);

    let mut key = UNIT_POS_X as usize;
    while key < vectors {
        let scores = biased::<F, B, N>(
            scores,
            bias,
            start + key,
            bias_start + key,
            scale,
            with_bias,
        );
        let exponentials = Vector::exp(scores - Vector::new(largest));
        output[row * vectors + key] = Vector::cast_from(exponentials / Vector::new(sum));
        key += threads as usize;
    }
}

/// Scaled scores with their bias.
#[cube]
fn biased<F: Float, B: Float, N: Size>(
    scores: &Array<Vector<F, N>>,
    bias: &Array<Vector<B, N>>,
    index: usize,
    bias_index: usize,
    scale: f32,
    #[comptime] with_bias: bool,
) -> Vector<f32, N> {
    let scaled = Vector::<f32, N>::cast_from(scores[index]) * Vector::new(scale);
    if with_bias {
        scaled + Vector::<f32, N>::cast_from(bias[bias_index])
    } else {
        scaled
    }
}
