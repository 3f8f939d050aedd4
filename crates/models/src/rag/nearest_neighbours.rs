//! The search for passages: all inner products in one matrix product on the device, the largest
//! chosen on the host.
//!
//! Exact, as `IndexFlatIP` of faiss. No crate searches on the device under test, and a search
//! elsewhere would hide what that device computes.

use burn_tensor::{DType, Int, Tensor, TensorData};
use testgen_nn::{
    backend::{Ops, linear},
    context::array_of,
    forward::ForwardError,
    weights::{Weights, WeightsError},
};

/// The embeddings of all passages, f32 whatever the model computes in, as faiss keeps them.
pub(super) struct NearestNeighbours<B: Ops> {
    /// [width, passages].
    embeddings: Tensor<B, 2>,
}

impl<B: Ops> NearestNeighbours<B> {
    /// `embeddings` [passages, width].
    pub(super) fn load(
        w: &Weights<B>,
        passages: usize,
        width: usize,
    ) -> Result<Self, WeightsError> {
        Ok(Self {
            embeddings: w
                .in_type(DType::F32)
                .transposed("embeddings", [passages, width])?,
        })
    }

    /// The passages with the `count` largest products with each of `questions` [batch, width], best
    /// first; of equal ones the first.
    pub(super) fn search(
        &self,
        questions: Tensor<B, 2>,
        count: usize,
    ) -> Result<Vec<Vec<usize>>, ForwardError> {
        // On the host: burn 0.21 sorts there also for tensors of GPUs.
        let scores = array_of(linear(
            questions.cast(DType::F32),
            self.embeddings.clone(),
            None,
        ))?;
        let passages = scores.shape()[1];
        // `array_of` makes floats of every type.
        Ok(scores
            .as_floats()
            .unwrap_or_default()
            .chunks(passages)
            .map(|scores| {
                let mut order: Vec<usize> = (0..passages).collect();
                order.sort_by(|one, other| {
                    scores[*other].total_cmp(&scores[*one]).then(one.cmp(other))
                });
                order.truncate(count);
                order
            })
            .collect())
    }

    /// The products [batch, count] of `questions` [batch, width] with their `chosen` passages, both
    /// rounded to the type of the questions.
    pub(super) fn scores(&self, questions: Tensor<B, 2>, chosen: &[Vec<usize>]) -> Tensor<B, 2> {
        let ([batch, width], dtype) = (questions.dims(), questions.dtype());
        let count = chosen.first().map_or(0, Vec::len);
        let ids: Vec<i32> = chosen.iter().flatten().map(|id| *id as i32).collect();
        let device = questions.device();
        let ids = Tensor::<B, 1, Int>::from_data(
            TensorData::new(ids, [batch * count]),
            (&device, DType::I32),
        );
        let found = self
            .embeddings
            .clone()
            .select(1, ids)
            .swap_dims(0, 1)
            .cast(dtype)
            .cast(DType::F32);
        let products = found.reshape([batch, count, width])
            * questions.cast(DType::F32).reshape([batch, 1, width]);
        products.sum_dim(2).reshape([batch, count]).cast(dtype)
    }
}
