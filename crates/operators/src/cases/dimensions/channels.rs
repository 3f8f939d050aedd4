//! Normalisations, losses, attention, and operators with indices.

use super::{
    description::{DimensionSlot, Dimensions, Problem, input, product},
    rows::Described,
};
use crate::calls::Reduction;
use testgen_types::Operator;

/// `x` [rows, channels, ...] with vectors of one number for each channel.
pub(super) fn normalisation(of: &mut Dimensions<'_>) -> Described {
    let operator = of.call().operator;
    let of_rows = matches!(operator, Operator::LayerNorm | Operator::RmsNorm);
    let x = of.shape(0, Some(if of_rows { 2 } else { 3 }))?;
    let vectors = match operator {
        Operator::RmsNorm => 1,
        Operator::BatchNorm => 4,
        _ => 2,
    };
    of.at_most(vectors + 1)?;
    (1..=vectors).try_for_each(|vector| of.shape(vector, Some(1)).map(drop))?;
    let groups = of.call().attributes.groups;
    of.tie(x[0], vec![input(0, 0)])?;
    let channels = |outer: usize, inner: usize| {
        let places = std::iter::once((0, 1)).chain((1..=vectors).map(|vector| (vector, 0)));
        places
            .map(|(input, dim)| DimensionSlot::Input {
                input,
                dim,
                outer,
                inner,
            })
            .collect::<Vec<_>>()
    };
    if operator == Operator::GroupNorm {
        let width = x[1].checked_div(groups).ok_or("it has no groups")?;
        let mut by_group = channels(1, width);
        by_group.push(DimensionSlot::Groups);
        of.tie(groups, by_group)?;
        of.tie(width, channels(groups, 1))?;
    } else {
        of.tie(x[1], channels(1, 1))?;
    }
    if let Some(positions) = x.get(2) {
        of.tie(*positions, vec![input(0, 2)])?;
    }
    Ok(product(x))
}

/// `gather` and `embedding`.
pub(super) fn indexing(of: &mut Dimensions<'_>) -> Described {
    let (x, indices) = (of.shape(0, None)?, of.shape(1, None)?);
    of.at_most(2)?;
    if of.call().operator == Operator::Embedding {
        let rows = *x.first().ok_or("input 0 has no rows")?;
        of.indices(1, rows)?;
        for (index, shape) in [(0, x), (1, indices)] {
            shape
                .iter()
                .enumerate()
                .try_for_each(|(dim, length)| of.tie(*length, vec![input(index, dim)]))?;
        }
        return Ok(product(&[indices, &x[1..]].concat()));
    }
    of.shape(1, Some(x.len()))?;
    let picked = of.dim(x.len())?;
    of.indices(1, x[picked])?;
    for (dim, length) in x.iter().enumerate() {
        if dim == picked {
            of.tie(*length, vec![input(0, dim)])?;
            of.tie(indices[dim], vec![input(1, dim)])?;
        } else {
            of.tie(*length, vec![input(0, dim), input(1, dim)])?;
        }
    }
    Ok(product(indices))
}

/// A prediction with a target of its shape, or with the class of each row.
pub(super) fn loss(of: &mut Dimensions<'_>) -> Described {
    let elements = if matches!(
        of.call().operator,
        Operator::CrossEntropyLoss | Operator::NllLoss
    ) {
        let x = of.shape(0, Some(2))?;
        of.shape(1, Some(1))?;
        of.at_most(2)?;
        of.indices(1, x[1])?;
        of.tie(x[0], vec![input(0, 0), input(1, 0)])?;
        of.tie(x[1], vec![input(0, 1)])?;
        Some(x[0])
    } else {
        let x = of.shape(0, None)?;
        of.shape(1, Some(x.len()))?;
        of.at_most(2)?;
        for (dim, length) in x.iter().enumerate() {
            of.tie(*length, vec![input(0, dim), input(1, dim)])?;
        }
        product(x)
    };
    Ok(if of.call().attributes.reduction == Reduction::None {
        elements
    } else {
        Some(1)
    })
}

/// Rotary positions, attention, and weighted sums.
pub(super) fn attention(of: &mut Dimensions<'_>) -> Described {
    match of.call().operator {
        Operator::Rope => rotated(of),
        Operator::ScaledDotProductAttention => attended(of),
        _ => {
            let x = of.shape(1, Some(2))?;
            of.shape(0, Some(1))?;
            of.at_most(2)?;
            of.tie(x[0], vec![input(0, 0), input(1, 0)])?;
            of.tie(x[1], vec![input(1, 1)])?;
            Ok(Some(x[1]))
        }
    }
}

/// `x` [batch, heads, seq, width] with cosines and sines [1, 1, seq, width], each for both halves
/// of a head.
fn rotated(of: &mut Dimensions<'_>) -> Described {
    let x = of.shape(0, Some(4))?;
    of.at_most(3)?;
    for table in [1, 2] {
        if of.shape(table, Some(4))?[..2] != [1, 1] {
            return Err(format!("input {table} has a batch or heads"));
        }
    }
    of.tie(x[0], vec![input(0, 0)])?;
    of.tie(x[1], vec![input(0, 1)])?;
    of.tie(x[2], (0..3).map(|index| input(index, 2)).collect())?;
    let halves = (0..3).map(|input| DimensionSlot::Input {
        input,
        dim: 3,
        outer: 2,
        inner: 1,
    });
    of.tie(x[3] / 2, halves.collect())?;
    Ok(product(x))
}

/// `q` [batch, heads, queries, width], `k` and `v` [batch, heads of keys, keys, width], and a mask
/// [batch, 1, queries, keys].
fn attended(of: &mut Dimensions<'_>) -> Described {
    let (q, k) = (of.shape(0, Some(4))?, of.shape(1, Some(4))?);
    of.shape(2, Some(4))?;
    of.at_most(4)?;
    if q.contains(&0) || k.contains(&0) || !q[1].is_multiple_of(k[1]) {
        return Err(format!("{} heads cannot share the keys of {}", q[1], k[1]));
    }
    let shared = q[1] / k[1];
    let masked = of.call().tensor(3).is_some();
    if masked && of.shape(3, Some(4))?[1] != 1 {
        return Err("the mask has heads".to_owned());
    }
    let with_mask = |mut places: Vec<DimensionSlot>, dim| {
        places.extend(masked.then(|| input(3, dim)));
        places
    };
    of.tie(
        q[0],
        with_mask(vec![input(0, 0), input(1, 0), input(2, 0)], 0),
    )?;
    let heads = DimensionSlot::Input {
        input: 0,
        dim: 1,
        outer: 1,
        inner: shared,
    };
    of.tie(k[1], vec![heads, input(1, 1), input(2, 1)])?;
    of.tie(
        shared,
        vec![DimensionSlot::Input {
            input: 0,
            dim: 1,
            outer: k[1],
            inner: 1,
        }],
    )?;
    of.tie(q[2], with_mask(vec![input(0, 2)], 2))?;
    of.tie(k[2], with_mask(vec![input(1, 2), input(2, 2)], 3))?;
    of.tie(q[3], vec![input(0, 3), input(1, 3), input(2, 3)])?;
    every_query_has_a_key(of, q[2], k[2])?;
    Ok(product(q))
}

/// A query without any key has no defined result.
fn every_query_has_a_key(of: &Dimensions<'_>, queries: usize, keys: usize) -> Result<(), Problem> {
    let Some(mask) = of.call().tensor(3) else {
        return Ok(());
    };
    let causal = of.call().attributes.causal;
    let is_seen = |(row, line): (usize, &[f64])| {
        let last = if causal { row % queries + 1 } else { keys };
        line.iter().take(last).any(|seen| *seen != 0.0)
    };
    match mask.values.chunks(keys).enumerate().all(is_seen) {
        true => Ok(()),
        false => Err("a query has no key".to_owned()),
    }
}
