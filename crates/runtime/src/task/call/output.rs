//! Tensors of a result and of a request, row by row.

use testgen_nn::array::Array;

/// A float tensor of a result.
#[derive(Clone, Copy)]
pub(in crate::task) struct FloatOutput<'a> {
    pub(super) values: &'a [f32],
    pub(in crate::task) shape: &'a [usize],
}

impl<'a> FloatOutput<'a> {
    /// All elements.
    pub(in crate::task) fn all(&self) -> &'a [f32] {
        self.values
    }

    /// The elements of one row of the batch.
    pub(in crate::task) fn row(&self, index: usize) -> &'a [f32] {
        let length = self.values.len() / self.shape[0].max(1);
        &self.values[index * length..(index + 1) * length]
    }
}

/// The rows [seq] of integers [batch, seq].
pub(in crate::task) fn rows(array: &Array) -> impl Iterator<Item = &[i64]> {
    let seq = array.shape().last().copied().unwrap_or_default().max(1);
    array.as_integers().unwrap_or_default().chunks_exact(seq)
}
