//! Operators that move elements at indices.

use crate::{
    calls::{Attributes, Call, Element, HostTensor},
    cases::{
        case::{Case, CaseSizes},
        reference::{Reference, lines},
    },
};
use testgen_types::Operator;

pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    let [rows, columns, picks] = *sizes.sizes else {
        return Vec::new();
    };
    let x = sizes.floats(0, &[rows, columns], [-2.0, 2.0]);
    if sizes.operator == Operator::Embedding {
        let inputs = vec![x, indices(sizes, [2, picks], rows)];
        return vec![Case::new(sizes.call(inputs, Attributes::default()))];
    }
    [(1, [rows, picks], columns), (0, [picks, columns], rows)]
        .map(|(dim, shape, limit)| {
            let inputs = vec![x.clone(), indices(sizes, shape, limit)];
            Case::named(
                format!("dim {dim}"),
                sizes.call(inputs, Attributes::of_dim(dim)),
            )
        })
        .to_vec()
}

/// Indices below `limit`.
fn indices(sizes: &CaseSizes<'_>, shape: [usize; 2], limit: usize) -> HostTensor {
    let last = limit.saturating_sub(1) as i64;
    sizes.random(1).integers(&shape, Element::I32, [0, last])
}

pub(super) fn reference(call: &Call) -> Reference {
    let (Some(x), Some(indices)) = (call.tensor(0), call.tensor(1)) else {
        return Reference::booleans([0], Vec::new());
    };
    Reference::moved(match call.operator {
        Operator::Embedding => {
            let rows: Vec<usize> = indices.values.iter().map(|index| *index as usize).collect();
            x.rows(&rows)
                .reshaped([&indices.shape[..], &x.shape[1..]].concat())
        }
        _ => gathered(x, indices, call.attributes.dim.unwrap_or(0)),
    })
}

fn gathered(x: &HostTensor, indices: &HostTensor, dim: usize) -> HostTensor {
    let mut values = vec![0.0; indices.len()];
    for (from, to) in lines(&x.shape, dim)
        .into_iter()
        .zip(lines(&indices.shape, dim))
    {
        to.into_iter()
            .for_each(|index| values[index] = x.values[from[indices.values[index] as usize]]);
    }
    HostTensor::new(indices.shape.clone(), x.element, values)
}
