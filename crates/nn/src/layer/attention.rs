//! Scaled dot-product attention, as transformers computes it with `attn_implementation="eager"`.

use super::{Linear, soft_cap};
use crate::backend::{Ops, masked_softmax, matmul, merge_heads};
use burn_tensor::Tensor;

/// [batch, seq, heads * head_dim] to [batch, heads, seq, head_dim].
///
/// A single head is not swapped: the stride of its dimension would be head_dim, and the tensor-map
/// kernels of cubek-matmul 0.2 (`launch/args.rs`) take the last batch dimension's stride for the
/// stride of all batches together.
pub fn split_heads<B: Ops>(x: Tensor<B, 3>, heads: usize) -> Tensor<B, 4> {
    let [batch, seq, width] = x.dims();
    if heads == 1 {
        return x.reshape([batch, 1, seq, width]);
    }
    x.reshape([batch, seq, heads, width / heads])
        .swap_dims(1, 2)
}

/// [batch, seq, width] to the heads that `linear` projects it to: [batch, heads, seq, head_dim].
pub fn project_heads<B: Ops>(linear: &Linear<B>, x: Tensor<B, 3>, heads: usize) -> Tensor<B, 4> {
    split_heads(linear.forward(x), heads)
}

/// softmax(`query` `key`ᵀ `scale` + `bias`) `value`: [batch, query, heads * head_dim].
///
/// `query` is [batch, heads, query, head_dim]; `key` and `value` are [batch, key_value_heads, key,
/// head_dim], where `heads` is a multiple of `key_value_heads`: the queries of a group share a
/// product, so nothing is repeated. `bias` is f32, [batch or 1, heads or 1, query or 1, key].
pub fn attend<B: Ops>(
    query: Tensor<B, 4>,
    key: Tensor<B, 4>,
    value: Tensor<B, 4>,
    scale: f64,
    bias: Option<Tensor<B, 4>>,
) -> Tensor<B, 3> {
    attend_capped([query, key, value], scale, None, bias)
}

/// As [`attend`], with the scaled scores softly capped where there is a `cap`; the operands are
/// query, key and value.
pub fn attend_capped<B: Ops>(
    [query, key, value]: [Tensor<B, 4>; 3],
    scale: f64,
    cap: Option<f64>,
    bias: Option<Tensor<B, 4>>,
) -> Tensor<B, 3> {
    let [batch, heads, queries, head_dim] = query.dims();
    let [_, groups, keys, _] = key.dims();
    let grouped = heads / groups * queries;
    let query = if groups == heads {
        query
    } else {
        // The heads of a group are neighbours, so that they become rows of one matrix.
        query.reshape([batch, groups, grouped, head_dim])
    };
    let scores = matmul(query, key.swap_dims(2, 3)).reshape([batch, heads, queries, keys]);
    let (scores, scale) = match cap {
        // The cap is on scaled scores and comes before the mask, so nothing is left for the softmax
        // to scale.
        Some(cap) => (soft_cap(scores, scale, cap), 1.0),
        None => (scores, scale),
    };
    let weights = masked_softmax(scores, scale, bias).reshape([batch, groups, grouped, keys]);
    merge_heads(matmul(weights, value).reshape([batch, heads, queries, head_dim]))
}
