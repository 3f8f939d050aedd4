//! From heads side by side in memory to heads side by side in each token.

use super::rows_per_task;
use rayon::prelude::*;

/// [batch, heads, seq, head_dim] to [batch, seq, heads * head_dim].
pub(in crate::backend) fn merge_heads(
    x: &[f32],
    [batch, heads, seq, head_dim]: [usize; 4],
) -> Vec<f32> {
    let width = heads * head_dim;
    // Whole tokens, so that the result of a task is one contiguous slice.
    let rows = rows_per_task(width);
    let mut out = vec![0.0; batch * seq * width];
    out.par_chunks_mut(width * rows)
        .enumerate()
        .for_each(|(task, out)| {
            for (index, token) in out.chunks_exact_mut(width).enumerate() {
                let (row, position) = ((task * rows + index) / seq, (task * rows + index) % seq);
                for (head, out) in token.chunks_exact_mut(head_dim).enumerate() {
                    let start = ((row * heads + head) * seq + position) * head_dim;
                    out.copy_from_slice(&x[start..start + head_dim]);
                }
            }
        });
    out
}
