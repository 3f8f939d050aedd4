//! Normalisation by groups and by statistics, and means: composed of burn's operators.

use crate::tensor::{AllocatedTensor, ElementType, dense, weight, workspace};

impl AllocatedTensor {
    /// The sum or the mean over a dimension, which is kept with length one.
    pub(crate) fn reduce(self, dimension: usize) -> Self {
        let mut dims = self.dims().to_vec();
        dims[dimension] = 1;
        let is_last = dimension + 1 == dims.len();
        let is_host = !self.machine().is_gpu();
        // Flex adds up the rows of f32 in aligned memory, which it copies to the result.
        let _sums = (is_host && !is_last && self.element == ElementType::F32)
            .then(|| workspace(self.machine(), &dims, self.element));
        dense(self.machine(), &dims, self.element)
    }

    /// The mean over a dimension, computed in f32.
    pub(crate) fn mean(self, dimension: usize) -> Self {
        let element = self.element;
        self.cast(ElementType::F32).reduce(dimension).cast(element)
    }

    /// Normalises the channels of each group of [batch, channels, height, width] together.
    pub(crate) fn group_norm(self, groups: u64) -> Self {
        let (element, dims) = (self.element, self.dims().to_vec());
        let [batch, channels, height, width] = [0, 1, 2, 3].map(|dimension| dims[dimension]);
        let places = (channels / groups)
            .saturating_mul(height)
            .saturating_mul(width);
        let x = self
            .cast(ElementType::F32)
            .reshape(&[batch, groups, places]);
        let mean = x.clone().reduce(2);
        let centred = x.combine(mean);
        let variance = centred.clone().combine(centred.clone()).reduce(2);
        let normal = centred.combine(variance.map()).reshape(&dims);
        normal.scale_and_shift(&[1, channels, 1, 1]).cast(element)
    }

    /// Batch normalisation in evaluation, of [batch, channels, height, width] or of the last
    /// dimension of other tensors.
    pub(crate) fn batch_norm(self) -> Self {
        let (element, rank) = (self.element, self.dims().len());
        let mut row = vec![1; rank];
        let features = if rank == 4 { 1 } else { rank - 1 };
        row[features] = self.dims()[features];
        self.cast(ElementType::F32)
            .scale_and_shift(&row)
            .cast(element)
    }

    /// A product and a sum with parameters that are broadcast.
    fn scale_and_shift(self, dims: &[u64]) -> Self {
        let machine = self.machine().clone();
        let parameter = || weight(&machine, dims, ElementType::F32);
        self.combine(parameter()).combine(parameter())
    }
}
