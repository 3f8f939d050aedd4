//! Several linear projections of one input, which checkpoints save apart or as one matrix.

use super::Linear;
use crate::{
    backend::Ops,
    weights::{Weights, WeightsError},
};
use burn_tensor::Tensor;

/// `N` linear projections of the same input.
pub enum Projections<B: Ops, const N: usize> {
    /// A matrix for each.
    Apart([Linear<B>; N]),
    /// One matrix, whose outputs are the concatenation of parts with these widths.
    Joined(Linear<B>, [usize; N]),
}

/// The names of the maps, below the module.
#[derive(Debug, Clone, Copy)]
pub enum ProjectionNames<const N: usize> {
    /// The name of each.
    Apart([&'static str; N]),
    /// The name of the one matrix.
    Joined(&'static str),
}

impl<B: Ops, const N: usize> Projections<B, N> {
    /// From `inner` to each of `widths`, with a bias for all or none.
    pub fn load(
        w: &Weights<B>,
        names: ProjectionNames<N>,
        inner: usize,
        widths: [usize; N],
        bias: bool,
    ) -> Result<Self, WeightsError> {
        match names {
            ProjectionNames::Joined(name) => Ok(Self::Joined(
                Linear::load_with_bias(&w.module(name), inner, widths.iter().sum(), bias)?,
                widths,
            )),
            ProjectionNames::Apart(names) => {
                let maps: Result<Vec<_>, _> = names
                    .into_iter()
                    .zip(widths)
                    .map(|(name, width)| {
                        Linear::load_with_bias(&w.module(name), inner, width, bias)
                    })
                    .collect();
                Ok(Self::Apart(
                    maps?.try_into().ok().expect("there is a map for each name"),
                ))
            }
        }
    }

    /// [batch, seq, inner] to [batch, seq, width] of each.
    pub fn forward(&self, x: Tensor<B, 3>) -> [Tensor<B, 3>; N] {
        match self {
            Self::Apart(maps) => std::array::from_fn(|index| maps[index].forward(x.clone())),
            Self::Joined(map, widths) => {
                let joined = map.forward(x);
                std::array::from_fn(|index| {
                    joined
                        .clone()
                        .narrow(2, widths[..index].iter().sum(), widths[index])
                })
            }
        }
    }
}

impl<B: Ops> Projections<B, 3> {
    /// Query, key and value from a matrix whose rows are sorted by group: for each of `groups` its
    /// `queries`, its key and its value, each of `head_dim`. They are sorted by kind once, here.
    pub fn load_by_group(
        w: &Weights<B>,
        inner: usize,
        [groups, queries, head_dim]: [usize; 3],
        bias: bool,
    ) -> Result<Self, WeightsError> {
        let kinds = [queries, 1, 1];
        let width = groups * (queries + 2) * head_dim;
        let weight = w.transposed("weight", [width, inner])?;
        let bias = if bias {
            Some(w.tensor("bias", [width])?)
        } else {
            None
        };
        // By columns, because the weight was transposed to [in, out]; a bias is one row of them.
        let by_kind = |x: Tensor<B, 2>| {
            let rows = x.dims()[0];
            let x = x.reshape([rows, groups, queries + 2, head_dim]);
            Tensor::cat(
                [0, queries, queries + 1]
                    .into_iter()
                    .zip(kinds)
                    .map(|(start, count)| {
                        x.clone()
                            .narrow(2, start, count)
                            .reshape([rows, groups * count * head_dim])
                    })
                    .collect(),
                1,
            )
        };
        let bias =
            bias.map(|bias: Tensor<B, 1>| by_kind(bias.reshape([1, width])).reshape([width]));
        let widths = kinds.map(|count| groups * count * head_dim);
        Ok(Self::Joined(
            Linear::from_weights(by_kind(weight), bias),
            widths,
        ))
    }
}
