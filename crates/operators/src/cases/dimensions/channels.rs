//! Normalisations, losses, attention, and operators with indices.

use super::{
    description::{DimensionSlot, Dimensions, Problem, input, product},
    rows::Described,
};
use crate::calls::Reduction;
use testgen_types::Operator;

/// `x` [rows, channels, ...] with vectors of one number for each channel.
pub(super) fn normalisation(dimensions: &mut Dimensions<'_>) -> Described {
    let operator = dimensions.call().operator;
    let of_rows = matches!(operator, Operator::LayerNorm | Operator::RmsNorm);
    let x = dimensions.shape(0, Some(if of_rows { 2 } else { 3 }))?;
    // Weight, bias, mean and variance, as far as the operator has them.
    let vectors = match operator {
        Operator::RmsNorm => 1,
        Operator::BatchNorm => 4,
        _ => 2,
    };
    dimensions.at_most(vectors + 1)?;
    (1..=vectors).try_for_each(|vector| dimensions.shape(vector, Some(1)).map(drop))?;
    let groups = dimensions.call().attributes.groups;
    dimensions.tie(x[0], vec![input(0, 0)])?;
    if operator == Operator::GroupNorm {
        // The number of groups and the channels of one shrink separately.
        let width = x[1].checked_div(groups).ok_or("it has no groups")?;
        let mut by_group = channels(vectors, 1, width);
        by_group.push(DimensionSlot::Groups);
        dimensions.tie(groups, by_group)?;
        dimensions.tie(width, channels(vectors, groups, 1))?;
    } else {
        dimensions.tie(x[1], channels(vectors, 1, 1))?;
    }
    if let Some(positions) = x.get(2) {
        dimensions.tie(*positions, vec![input(0, 2)])?;
    }
    Ok(product(x))
}

/// The channels of x and of the vectors, or a part of them.
fn channels(vectors: usize, outer: usize, inner: usize) -> Vec<DimensionSlot> {
    let places = std::iter::once((0, 1)).chain((1..=vectors).map(|vector| (vector, 0)));
    places
        .map(|(input, dim)| DimensionSlot::Input {
            input,
            dim,
            outer,
            inner,
        })
        .collect()
}

/// `gather` and `embedding`.
pub(super) fn indexing(dimensions: &mut Dimensions<'_>) -> Described {
    let (x, indices) = (dimensions.shape(0, None)?, dimensions.shape(1, None)?);
    dimensions.at_most(2)?;
    if dimensions.call().operator == Operator::Embedding {
        let rows = *x.first().ok_or("input 0 has no rows")?;
        dimensions.indices(1, rows)?;
        for (index, shape) in [(0, x), (1, indices)] {
            shape
                .iter()
                .enumerate()
                .try_for_each(|(dim, length)| dimensions.tie(*length, vec![input(index, dim)]))?;
        }
        return Ok(product(&[indices, &x[1..]].concat()));
    }
    dimensions.shape(1, Some(x.len()))?;
    let picked = dimensions.dim(x.len())?;
    dimensions.indices(1, x[picked])?;
    for (dim, length) in x.iter().enumerate() {
        if dim == picked {
            // Indices may be fewer or more than the elements that they pick.
            dimensions.tie(*length, vec![input(0, dim)])?;
            dimensions.tie(indices[dim], vec![input(1, dim)])?;
        } else {
            dimensions.tie(*length, vec![input(0, dim), input(1, dim)])?;
        }
    }
    Ok(product(indices))
}

/// A prediction with a target of its shape, or with the class of each row.
pub(super) fn loss(dimensions: &mut Dimensions<'_>) -> Described {
    let elements = if matches!(
        dimensions.call().operator,
        Operator::CrossEntropyLoss | Operator::NllLoss
    ) {
        let x = dimensions.shape(0, Some(2))?;
        dimensions.shape(1, Some(1))?;
        dimensions.at_most(2)?;
        dimensions.indices(1, x[1])?;
        dimensions.tie(x[0], vec![input(0, 0), input(1, 0)])?;
        dimensions.tie(x[1], vec![input(0, 1)])?;
        Some(x[0])
    } else {
        let x = dimensions.shape(0, None)?;
        dimensions.shape(1, Some(x.len()))?;
        dimensions.at_most(2)?;
        for (dim, length) in x.iter().enumerate() {
            dimensions.tie(*length, vec![input(0, dim), input(1, dim)])?;
        }
        product(x)
    };
    Ok(
        if dimensions.call().attributes.reduction == Reduction::None {
            elements
        } else {
            Some(1)
        },
    )
}

/// Rotary positions, attention, and weighted sums.
pub(super) fn attention(dimensions: &mut Dimensions<'_>) -> Described {
    match dimensions.call().operator {
        Operator::Rope => rotated(dimensions),
        Operator::ScaledDotProductAttention => attended(dimensions),
        _ => {
            let x = dimensions.shape(1, Some(2))?;
            dimensions.shape(0, Some(1))?;
            dimensions.at_most(2)?;
            dimensions.tie(x[0], vec![input(0, 0), input(1, 0)])?;
            dimensions.tie(x[1], vec![input(1, 1)])?;
            Ok(Some(x[1]))
        }
    }
}

/// `x` [batch, heads, seq, width] with cosines and sines [1, 1, seq, width], each for both halves
/// of a head.
fn rotated(dimensions: &mut Dimensions<'_>) -> Described {
    let x = dimensions.shape(0, Some(4))?;
    dimensions.at_most(3)?;
    for table in [1, 2] {
        if dimensions.shape(table, Some(4))?[..2] != [1, 1] {
            return Err(format!("input {table} has a batch or heads"));
        }
    }
    dimensions.tie(x[0], vec![input(0, 0)])?;
    dimensions.tie(x[1], vec![input(0, 1)])?;
    dimensions.tie(x[2], (0..3).map(|index| input(index, 2)).collect())?;
    // In pairs, because the halves of a row rotate together.
    let halves = (0..3).map(|input| DimensionSlot::Input {
        input,
        dim: 3,
        outer: 2,
        inner: 1,
    });
    dimensions.tie(x[3] / 2, halves.collect())?;
    Ok(product(x))
}

/// `q` [batch, heads, queries, width], `k` and `v` [batch, heads of keys, keys, width], and a mask
/// [batch, 1, queries, keys].
fn attended(dimensions: &mut Dimensions<'_>) -> Described {
    let (q, k) = (dimensions.shape(0, Some(4))?, dimensions.shape(1, Some(4))?);
    dimensions.shape(2, Some(4))?;
    dimensions.at_most(4)?;
    // Without elements, a division by zero or a query without a key would follow.
    if q.contains(&0) || k.contains(&0) || !q[1].is_multiple_of(k[1]) {
        return Err(format!("{} heads cannot share the keys of {}", q[1], k[1]));
    }
    let shared = q[1] / k[1];
    let masked = dimensions.call().tensor(3).is_some();
    if masked && dimensions.shape(3, Some(4))?[1] != 1 {
        return Err("the mask has heads".to_owned());
    }
    let [batches, queries, keys] = [0, 2, 3].map(|dim| masked.then(|| input(3, dim)));
    let all = [input(0, 0), input(1, 0), input(2, 0)];
    dimensions.tie(q[0], all.into_iter().chain(batches).collect())?;
    // The keys and the heads that share one shrink separately.
    let [by_key, by_head] = [(1, shared), (k[1], 1)].map(|(outer, inner)| DimensionSlot::Input {
        input: 0,
        dim: 1,
        outer,
        inner,
    });
    dimensions.tie(k[1], vec![by_key, input(1, 1), input(2, 1)])?;
    dimensions.tie(shared, vec![by_head])?;
    dimensions.tie(q[2], [input(0, 2)].into_iter().chain(queries).collect())?;
    let of_keys = [input(1, 2), input(2, 2)];
    dimensions.tie(k[2], of_keys.into_iter().chain(keys).collect())?;
    dimensions.tie(q[3], vec![input(0, 3), input(1, 3), input(2, 3)])?;
    every_query_has_a_key(dimensions, q[2], k[2])?;
    Ok(product(q))
}

/// A query without any key has no defined result.
fn every_query_has_a_key(
    dimensions: &Dimensions<'_>,
    queries: usize,
    keys: usize,
) -> Result<(), Problem> {
    let Some(mask) = dimensions.call().tensor(3) else {
        return Ok(());
    };
    let causal = dimensions.call().attributes.causal;
    match mask.values.chunks(keys).enumerate().all(|(row, line)| {
        // A causal query sees the keys up to its own position.
        let last = if causal { row % queries + 1 } else { keys };
        line.iter().take(last).any(|seen| *seen != 0.0)
    }) {
        true => Ok(()),
        false => Err("a query has no key".to_owned()),
    }
}
