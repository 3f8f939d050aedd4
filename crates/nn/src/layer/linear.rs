//! Linear projections.

use crate::{
    backend::{Ops, linear},
    weights::{Weights, WeightsError},
};
use burn_tensor::Tensor;

/// `x` W + b. The weight is kept as [in, out].
pub struct Linear<B: Ops> {
    weight: Tensor<B, 2>,
    bias: Option<Tensor<B, 1>>,
}

impl<B: Ops> Linear<B> {
    /// `weight` [out, in] and `bias` `[out]`, as torch's `nn.Linear` saves them.
    pub fn load(w: &Weights<B>, inner: usize, out: usize) -> Result<Self, WeightsError> {
        Self::load_with_bias(w, inner, out, true)
    }

    /// As [`Linear::load`], with a bias only if the configuration has one.
    pub fn load_with_bias(
        w: &Weights<B>,
        inner: usize,
        out: usize,
        bias: bool,
    ) -> Result<Self, WeightsError> {
        // Products with a view of [out, in] take up to twice as long on some backends.
        let weight = w.transposed("weight", [out, inner])?;
        let bias = bias.then(|| w.tensor("bias", [out])).transpose()?;
        Ok(Self { weight, bias })
    }

    /// `weight` [in, out] and `bias` `[out]`, as transformers' `Conv1D` saves them.
    pub fn load_conv1d(w: &Weights<B>, inner: usize, out: usize) -> Result<Self, WeightsError> {
        Ok(Self {
            weight: w.tensor("weight", [inner, out])?,
            bias: Some(w.tensor("bias", [out])?),
        })
    }

    /// `weight` [in, out] and `bias` `[out]`.
    pub fn from_weights(weight: Tensor<B, 2>, bias: Option<Tensor<B, 1>>) -> Self {
        Self { weight, bias }
    }

    /// The three maps of torch's `nn.MultiheadAttention`: `in_proj_weight` [3 width, width] and
    /// `in_proj_bias`, in the order query, key, value.
    pub fn load_stacked(w: &Weights<B>, width: usize) -> Result<[Self; 3], WeightsError> {
        let weight = w.transposed("in_proj_weight", [3 * width, width])?;
        let bias: Tensor<B, 1> = w.tensor("in_proj_bias", [3 * width])?;
        Ok([0, 1, 2].map(|part| Self {
            // By columns: the matrix was transposed while it was loaded.
            weight: weight.clone().narrow(1, part * width, width),
            bias: Some(bias.clone().narrow(0, part * width, width)),
        }))
    }

    /// A language model's head without a bias: `weight` [vocab, width], or the embedding if the
    /// configuration ties them.
    pub fn load_or_tie(
        w: &Weights<B>,
        [width, vocab]: [usize; 2],
        tied: Option<Tensor<B, 2>>,
    ) -> Result<Self, WeightsError> {
        match tied {
            Some(embedding) => {
                w.mark_tied("weight");
                Ok(Self::tied(embedding, None))
            }
            None => Self::load_with_bias(w, width, vocab, false),
        }
    }

    /// A head whose weight [vocab, width] is a view of the embedding's weight, which costs no
    /// memory.
    pub fn tied(embedding: Tensor<B, 2>, bias: Option<Tensor<B, 1>>) -> Self {
        Self {
            weight: embedding.transpose(),
            bias,
        }
    }

    /// The same weight with `bias` `[out]` in place of its bias.
    pub fn with_bias(self, bias: Option<Tensor<B, 1>>) -> Self {
        Self { bias, ..self }
    }

    /// The width of the input.
    pub fn width(&self) -> usize {
        self.weight.dims()[0]
    }

    /// [..., in] to [..., out]; flattened to one matrix product.
    pub fn forward<const D: usize>(&self, x: Tensor<B, D>) -> Tensor<B, D> {
        let mut shape = x.dims();
        let inner = shape[D - 1];
        let rows: usize = shape[..D - 1].iter().product();
        let y = linear(
            x.reshape([rows, inner]),
            self.weight.clone(),
            self.bias.clone(),
        );
        shape[D - 1] = y.dims()[1];
        y.reshape(shape)
    }
}
