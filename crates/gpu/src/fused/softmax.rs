//! The softmax of attention scores.

use super::{
    block,
    rows::{StridedRows, address_type, blocks, count, output},
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
    let threads = block::threads(keys);
    let (cubes, dimension) = blocks(rows, threads);
    let types = [scores.tensor.dtype, bias.dtype].map(Into::into);
    masked_softmax_kernel::launch(
        &output.client,
        cubes,
        dimension,
        address_type([&scores.tensor, &bias, &output]),
        scores.tensor.into_array_arg(),
        bias.into_array_arg(),
        output.clone().into_array_arg(),
        keys,
        queries,
        heads,
        scores.stride,
        batch_step,
        head_step,
        query_step,
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
    let step = |length: usize, distance: usize| if length == 1 { 0 } else { distance };
    [
        step(batch, heads * queries * keys),
        step(heads, queries * keys),
        step(queries, keys),
    ]
}

#[cube(launch, address_type = "dynamic")]
fn masked_softmax_kernel<F: Float, B: Float>(
    scores: &Array<F>,
    bias: &Array<B>,
    output: &mut Array<F>,
    keys: usize,
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
    let start = CUBE_POS * stride;
    let query = CUBE_POS % queries;
    let head = CUBE_POS / queries % heads;
    let batch = CUBE_POS / queries / heads;
    let bias_start = batch * batch_step + head * head_step + query * query_step;

    let mut largest = f32::min_value();
    let mut key = UNIT_POS as usize;
    while key < keys {
        let score = biased::<F, B>(
            scores,
            bias,
            start + key,
            bias_start + key,
            scale,
            with_bias,
        );
        if score > largest {
            largest = score;
        }
        key += threads as usize;
    }
    let largest = block::maximum(largest, threads);

    let mut part = 0.0f32;
    let mut key = UNIT_POS as usize;
    while key < keys {
        let score = biased::<F, B>(
            scores,
            bias,
            start + key,
            bias_start + key,
            scale,
            with_bias,
        );
        part += (score - largest).exp();
        key += threads as usize;
    }
    let sum = block::sum(part, threads);

    let mut key = UNIT_POS as usize;
    while key < keys {
        let score = biased::<F, B>(
            scores,
            bias,
            start + key,
            bias_start + key,
            scale,
            with_bias,
        );
        output[CUBE_POS * keys + key] = F::cast_from((score - largest).exp() / sum);
        key += threads as usize;
    }
}

/// One scaled score with its bias.
#[cube]
fn biased<F: Float, B: Float>(
    scores: &Array<F>,
    bias: &Array<B>,
    index: usize,
    bias_index: usize,
    scale: f32,
    #[comptime] with_bias: bool,
) -> f32 {
    let scaled = f32::cast_from(scores[index]) * scale;
    if with_bias {
        scaled + f32::cast_from(bias[bias_index])
    } else {
        scaled
    }
}
