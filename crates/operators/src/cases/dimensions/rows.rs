//! Operators on rows and columns: elementwise ones, reductions, products and moves.

use super::description::{DimensionSlot, Dimensions, Problem, input, product};
use crate::calls::broadcast_shape;
use testgen_types::Operator;

/// The number of elements of the result, or `None` if it is larger than memory.
pub(super) type Described = Result<Option<usize>, Problem>;

/// `count` inputs that are broadcast.
pub(super) fn broadcast(dimensions: &mut Dimensions<'_>, count: usize) -> Described {
    let shapes = (0..count)
        .map(|index| dimensions.shape(index, None))
        .collect::<Result<Vec<_>, _>>()?;
    dimensions.at_most(count)?;
    let result = broadcast_shape(&shapes).ok_or("its inputs cannot be broadcast to one shape")?;
    for (dim, length) in result.iter().enumerate() {
        dimensions.tie(
            *length,
            shapes
                .iter()
                .enumerate()
                .filter_map(|(index, shape)| {
                    let own = (dim + shape.len()).checked_sub(result.len())?;
                    // A length of one is broadcast, so that it does not shrink with the result.
                    (shape[own] == *length).then(|| input(index, own))
                })
                .collect(),
        )?;
    }
    Ok(product(&result))
}

/// One input with independent dimensions: activations, softmaxes and reductions.
pub(super) fn one(dimensions: &mut Dimensions<'_>) -> Described {
    let shape = dimensions.shape(0, None)?;
    dimensions.at_most(1)?;
    independent(dimensions, 0, shape)?;
    let attributes = &dimensions.call().attributes;
    match dimensions.call().operator {
        Operator::Softmax | Operator::LogSoftmax => {
            dimensions.dim(shape.len()).map(|_| product(shape))
        }
        Operator::Sum | Operator::Mean | Operator::Max | Operator::Min | Operator::Prod => {
            match attributes.dim {
                Some(_) => {
                    let mut kept = shape.to_vec();
                    kept.remove(dimensions.dim(shape.len())?);
                    Ok(product(&kept))
                }
                None => Ok(Some(1)),
            }
        }
        _ => Ok(product(shape)),
    }
}

fn independent(
    dimensions: &mut Dimensions<'_>,
    index: usize,
    shape: &[usize],
) -> Result<(), Problem> {
    shape
        .iter()
        .enumerate()
        .try_for_each(|(dim, length)| dimensions.tie(*length, vec![input(index, dim)]))
}

/// Products of matrices, with a bias for each column or a matrix that is added if the operator has
/// one; and transposition.
pub(super) fn matrix(dimensions: &mut Dimensions<'_>) -> Described {
    let left = dimensions.shape(0, None)?;
    if dimensions.call().operator == Operator::Transpose {
        return transposition(dimensions, left);
    }
    let right = dimensions.shape(1, Some(left.len()))?;
    let biased = matches!(
        dimensions.call().operator,
        Operator::MatmulBiasRelu | Operator::MatmulBiasGelu
    );
    let adds = dimensions.call().operator == Operator::Gemm;
    dimensions.at_most(if biased || adds { 3 } else { 2 })?;
    let Some(batches) = left.len().checked_sub(2) else {
        return Err("a matrix has two dimensions".to_owned());
    };
    let mut result = tie_batches(dimensions, &left[..batches], &right[..batches])?;
    let (mut rows, mut columns) = (vec![input(0, batches)], vec![input(1, batches + 1)]);
    if biased {
        dimensions.shape(2, Some(1))?;
        columns.push(input(2, 0));
    }
    if adds {
        dimensions.shape(2, Some(2))?;
        rows.push(input(2, 0));
        columns.push(input(2, 1));
    }
    dimensions.tie(left[batches], rows)?;
    dimensions.tie(
        left[batches + 1],
        vec![input(0, batches + 1), input(1, batches)],
    )?;
    dimensions.tie(right[batches + 1], columns)?;
    result.extend([left[batches], right[batches + 1]]);
    Ok(product(&result))
}

fn transposition(dimensions: &mut Dimensions<'_>, x: &[usize]) -> Described {
    dimensions.at_most(1)?;
    independent(dimensions, 0, x)?;
    let mut axes = dimensions.call().attributes.axes.iter();
    if axes.all(|axis| *axis < x.len()) {
        Ok(product(x))
    } else {
        Err("an axis does not exist".to_owned())
    }
}

/// Ties the dimensions before rows and columns, which are broadcast, and returns their lengths.
fn tie_batches(
    dimensions: &mut Dimensions<'_>,
    left: &[usize],
    right: &[usize],
) -> Result<Vec<usize>, Problem> {
    let result = broadcast_shape(&[left, right]).ok_or("its batches differ")?;
    for (dim, length) in result.iter().enumerate() {
        // A batch of one is broadcast, so that it keeps its length.
        let places = [(0, left), (1, right)]
            .into_iter()
            .filter(|(_, shape)| shape[dim] == *length);
        dimensions.tie(
            *length,
            places.map(|(index, _)| input(index, dim)).collect(),
        )?;
    }
    Ok(result)
}

/// Collectives: what each rank has, and products that are split over the ranks.
pub(super) fn collective(dimensions: &mut Dimensions<'_>) -> Described {
    use Operator::*;
    let operator = dimensions.call().operator;
    if matches!(operator, ColumnParallelProduct | RowParallelProduct) {
        return parallel_product(dimensions);
    }
    let shape = dimensions.shape(0, Some(2))?;
    dimensions.at_most(1)?;
    let [ranks, each] = [shape[0], shape[1]];
    at_least_one(ranks)?;
    if !matches!(operator, ReduceScatter | AllToAll) {
        independent(dimensions, 0, shape)?;
        let parts = if operator == AllGather { ranks } else { 1 };
        return Ok(product(&[ranks, parts, each]));
    }
    // Each rank has a part for every rank, so that their number and the length of a part shrink
    // separately.
    let part = each / ranks;
    let [by_rank, within_rank] =
        [(1, part), (ranks, 1)].map(|(outer, inner)| DimensionSlot::Input {
            input: 0,
            dim: 1,
            outer,
            inner,
        });
    dimensions.tie(ranks, vec![input(0, 0), by_rank])?;
    dimensions.tie(part, vec![within_rank])?;
    Ok(product(&[
        ranks,
        if operator == AllToAll { each } else { part },
    ]))
}

fn at_least_one(ranks: usize) -> Result<(), Problem> {
    // A sum over no ranks has no shape that they share.
    match ranks {
        0 => Err("a collective needs at least one rank".to_owned()),
        _ => Ok(()),
    }
}

fn parallel_product(dimensions: &mut Dimensions<'_>) -> Described {
    let [left, right] = [dimensions.shape(0, Some(3))?, dimensions.shape(1, Some(3))?];
    dimensions.at_most(2)?;
    let (ranks, rows, columns) = (left[0], left[1], right[2]);
    at_least_one(ranks)?;
    dimensions.tie(ranks, vec![input(0, 0), input(1, 0)])?;
    dimensions.tie(rows, vec![input(0, 1)])?;
    dimensions.tie(left[2], vec![input(0, 2), input(1, 1)])?;
    dimensions.tie(columns, vec![input(1, 2)])?;
    let gathers = dimensions.call().operator == Operator::ColumnParallelProduct;
    Ok(product(&[
        ranks,
        rows,
        if gathers { ranks } else { 1 },
        columns,
    ]))
}

/// Operators that move elements.
pub(super) fn movement(dimensions: &mut Dimensions<'_>) -> Described {
    let shape = dimensions.shape(0, None)?;
    let attributes = &dimensions.call().attributes;
    match dimensions.call().operator {
        Operator::Concat => return joined(dimensions),
        Operator::Stack => return stacked(dimensions),
        _ => dimensions.at_most(1)?,
    }
    match dimensions.call().operator {
        Operator::Reshape | Operator::View => reshaped(dimensions, shape)?,
        Operator::Broadcast => return expanded(dimensions, shape),
        Operator::Slice => return sliced(dimensions, shape),
        Operator::Squeeze => {
            let dim = dimensions.dim(shape.len())?;
            if shape[dim] != 1 {
                return Err(format!(
                    "dimension {dim} has length {}, expected 1",
                    shape[dim]
                ));
            }
            independent(dimensions, 0, shape)?;
        }
        Operator::Unsqueeze => {
            dimensions.dim(shape.len() + 1)?;
            independent(dimensions, 0, shape)?;
        }
        Operator::LayoutTransform => {
            let mut axes = attributes.axes.clone();
            // A permutation has every axis once.
            axes.sort_unstable();
            if !axes.into_iter().eq(0..shape.len()) {
                return Err("the axes are not those of the tensor".to_owned());
            }
            independent(dimensions, 0, shape)?;
        }
        _ => independent(dimensions, 0, shape)?,
    }
    Ok(product(shape))
}

/// Each length is tied to an equal entry of the new shape, where every one has one; otherwise none
/// can shrink.
fn reshaped(dimensions: &mut Dimensions<'_>, shape: &[usize]) -> Result<(), Problem> {
    let target = &dimensions.call().attributes.shape;
    if product(target) != product(shape) {
        return Err(format!("{shape:?} cannot have the shape {target:?}"));
    }
    let mut free: Vec<usize> = (0..target.len()).collect();
    let mut pairs = Vec::new();
    // A reshape adds and removes dimensions of length 1, so they need no partner.
    for (dim, length) in shape.iter().enumerate().filter(|(_, length)| **length != 1) {
        let Some(found) = free.iter().position(|entry| target[*entry] == *length) else {
            return Ok(());
        };
        pairs.push((*length, dim, free.remove(found)));
    }
    if free.iter().any(|entry| target[*entry] != 1) {
        return Ok(());
    }
    pairs.into_iter().try_for_each(|(length, dim, entry)| {
        dimensions.tie(length, vec![input(0, dim), DimensionSlot::Shape(entry)])
    })
}

fn expanded(dimensions: &mut Dimensions<'_>, shape: &[usize]) -> Described {
    let target = dimensions.call().attributes.shape.clone();
    if broadcast_shape(&[shape, &target]).as_ref() != Some(&target) {
        return Err(format!("{shape:?} cannot be broadcast to {target:?}"));
    }
    for (entry, length) in target.iter().enumerate() {
        let own = (entry + shape.len())
            .checked_sub(target.len())
            .filter(|own| shape[*own] == *length);
        let places = [
            Some(DimensionSlot::Shape(entry)),
            own.map(|own| input(0, own)),
        ];
        dimensions.tie(*length, places.into_iter().flatten().collect())?;
    }
    Ok(product(&target))
}

fn sliced(dimensions: &mut Dimensions<'_>, shape: &[usize]) -> Described {
    let (dim, [start, end, step]) = (
        dimensions.dim(shape.len())?,
        dimensions.call().attributes.range,
    );
    if start > end || end > shape[dim] {
        return Err(format!(
            "{start} to {end} is not within dimension {dim}, which has length {}",
            shape[dim]
        ));
    }
    // The selected part first: what is after it can be cut off then.
    dimensions.tie(end - start, vec![DimensionSlot::Range])?;
    independent(dimensions, 0, shape)?;
    let mut result = shape.to_vec();
    // A damaged file may have a step of 0, which the reference takes as 1, too.
    result[dim] = (end - start).div_ceil(step.max(1));
    Ok(product(&result))
}

fn joined(dimensions: &mut Dimensions<'_>) -> Described {
    let first = dimensions.shape(0, None)?;
    let dim = dimensions.dim(first.len())?;
    let count = dimensions.call().inputs.len();
    let mut result = first.to_vec();
    result[dim] = 0;
    for index in 0..count {
        let length = dimensions.shape(index, Some(first.len()))?[dim];
        result[dim] += length;
        // Alone: the parts may have different lengths along this dimension, and each shrinks by
        // itself.
        dimensions.tie(length, vec![input(index, dim)])?;
    }
    for other in (0..first.len()).filter(|other| *other != dim) {
        dimensions.tie(
            first[other],
            (0..count).map(|index| input(index, other)).collect(),
        )?;
    }
    Ok(product(&result))
}

fn stacked(dimensions: &mut Dimensions<'_>) -> Described {
    let first = dimensions.shape(0, None)?;
    dimensions.dim(first.len() + 1)?;
    let count = dimensions.call().inputs.len();
    for index in 0..count {
        dimensions.shape(index, Some(first.len()))?;
    }
    for (dim, length) in first.iter().enumerate() {
        dimensions.tie(*length, (0..count).map(|index| input(index, dim)).collect())?;
    }
    // A product that is too large remains so with any number of inputs.
    Ok(product(&[product(first).unwrap_or(usize::MAX), count]))
}
