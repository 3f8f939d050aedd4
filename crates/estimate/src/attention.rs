//! Scaled dot-product attention with materialised scores, and rotary positions.

use crate::{
    elementwise::cat,
    product::matmul,
    tensor::{AllocatedTensor, ElementType},
};

/// Keys and values, each [batch, heads, seq, head_dim].
#[derive(Debug, Clone)]
pub(crate) struct KeyValueTensors {
    pub(crate) key: AllocatedTensor,
    pub(crate) value: AllocatedTensor,
}

/// [batch, seq, heads * head_dim] to [batch, heads, seq, head_dim].
pub(crate) fn split_heads(x: AllocatedTensor, heads: u64) -> AllocatedTensor {
    let [batch, seq, width] = [x.dims()[0], x.dims()[1], x.dims()[2]];
    if heads == 1 {
        return x.reshape(&[batch, 1, seq, width]);
    }
    x.reshape(&[batch, seq, heads, width / heads]).swap(1, 2)
}

/// softmax(`query` `key`ᵀ + `bias`) `value`: [batch, query, heads * head_dim]. Soft caps of scores
/// are computed in f32.
pub(crate) fn attend(
    query: AllocatedTensor,
    KeyValueTensors { key, value }: KeyValueTensors,
    capped: bool,
    bias: Option<AllocatedTensor>,
) -> AllocatedTensor {
    let [batch, heads, queries, head_dim] = [0, 1, 2, 3].map(|dimension| query.dims()[dimension]);
    let (groups, keys) = (key.dims()[1], key.dims()[2]);
    let grouped = heads / groups.max(1) * queries;
    // The queries of heads that share a key are rows of one product, as in `testgen_nn`.
    let query = if groups == heads {
        query
    } else {
        query.reshape(&[batch, groups, grouped, head_dim])
    };
    let scores = matmul(query, key.swap(2, 3)).reshape(&[batch, heads, queries, keys]);
    let element = scores.element;
    let scores = if capped {
        scores.cast(ElementType::F32).map().cast(element)
    } else {
        scores
    };
    let weights = scores
        .softmax(bias)
        .reshape(&[batch, groups, grouped, keys]);
    merge_heads(matmul(weights, value).reshape(&[batch, heads, queries, head_dim]))
}

/// [batch, heads, seq, head_dim] to [batch, seq, heads * head_dim].
fn merge_heads(x: AllocatedTensor) -> AllocatedTensor {
    let [batch, heads, seq, head_dim] = [0, 1, 2, 3].map(|dimension| x.dims()[dimension]);
    let x = x.swap(1, 2);
    let ordered = if x.machine().is_gpu() {
        x.contiguous()
    } else {
        x
    };
    ordered.reshape(&[batch, seq, heads * head_dim])
}

/// The cosines and sines of a call, [1, 1, seq, width] each.
#[derive(Debug, Clone)]
pub(crate) struct RotationTensors {
    pub(crate) cos: AllocatedTensor,
    pub(crate) sin: AllocatedTensor,
}

impl RotationTensors {
    /// x cos + rotate_half(x) sin for the first elements of every head of [batch, heads, seq,
    /// head_dim].
    pub(crate) fn apply(&self, x: AllocatedTensor) -> AllocatedTensor {
        if x.machine().is_gpu() {
            // The fused kernel of `testgen-gpu` reads tables without gaps.
            let _tables = [&self.cos, &self.sin].map(|table| table.clone().contiguous());
            return x.dense_like(x.element);
        }
        let (head_dim, width) = (x.dims()[3], self.cos.dims()[3]);
        let part = |start: u64, length: u64| x.clone().narrow(3, start, length);
        let (first, second) = (part(0, width / 2), part(width / 2, width / 2));
        let turned = cat(vec![second.map(), first], 3);
        let rotated = part(0, width)
            .combine(self.cos.clone())
            .combine(turned.combine(self.sin.clone()));
        if width == head_dim {
            return rotated;
        }
        cat(vec![rotated, part(width, head_dim - width)], 3)
    }
}
