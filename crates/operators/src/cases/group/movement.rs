//! Operators that move elements and compute nothing.

use crate::{
    calls::{Attributes, Call, HostTensor, Layout},
    cases::{
        case::{Case, CaseSizes},
        reference::{Reference, lines},
    },
};
use testgen_types::Operator;

/// The smallest and the largest number of an input.
const LIMITS: [f64; 2] = [-2.0, 2.0];

pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    let (rows, columns) = (sizes.sizes[0], sizes.sizes[1]);
    match sizes.operator {
        Operator::Reshape | Operator::View => {
            one(sizes, Attributes::of_shape(vec![columns, 1, rows]))
        }
        Operator::Squeeze => {
            let narrow = input(sizes, 0).reshaped([rows, 1, columns]);
            vec![Case::new(sizes.call(vec![narrow], Attributes::of_dim(1)))]
        }
        Operator::Unsqueeze => at_each_dim(sizes, &[input(sizes, 0)]),
        Operator::Stack => at_each_dim(sizes, &[input(sizes, 0), input(sizes, 1)]),
        Operator::Contiguous => {
            let mut call = sizes.call(vec![input(sizes, 0)], Attributes::default());
            call.inputs[0].layout = Layout::Reversed;
            vec![Case::new(call)]
        }
        Operator::LayoutTransform => one(
            sizes,
            Attributes {
                axes: vec![0, 2, 3, 1],
                ..Attributes::default()
            },
        ),
        Operator::Broadcast => broadcasts(sizes, rows, columns),
        Operator::Concat => concatenations(sizes, rows, columns),
        Operator::Slice => slices(sizes, rows, columns),
        // `copy`.
        _ => one(sizes, Attributes::default()),
    }
}

/// Numbers in the shape of the case, for input `index`.
fn input(sizes: &CaseSizes<'_>, index: usize) -> HostTensor {
    sizes.floats(index, sizes.sizes, LIMITS)
}

/// The only case of an operator with one input.
fn one(sizes: &CaseSizes<'_>, attributes: Attributes) -> Vec<Case> {
    vec![Case::new(sizes.call(vec![input(sizes, 0)], attributes))]
}

/// A new dimension before, between and after the two of a matrix.
fn at_each_dim(sizes: &CaseSizes<'_>, inputs: &[HostTensor]) -> Vec<Case> {
    [0, 1, 2]
        .map(|dim| {
            Case::named(
                format!("dim {dim}"),
                sizes.call(inputs.to_vec(), Attributes::of_dim(dim)),
            )
        })
        .to_vec()
}

/// One dimension that is repeated: the second of three, the last, and one that the input lacks.
fn broadcasts(sizes: &CaseSizes<'_>, rows: usize, columns: usize) -> Vec<Case> {
    let column = sizes.floats(0, &[rows, 1], LIMITS);
    let row = sizes.floats(1, &[columns], LIMITS);
    let middle = sizes.floats(2, &[rows, 1, columns], LIMITS);
    [
        ("between", middle, vec![rows, 2, columns]),
        ("columns", column, vec![rows, columns]),
        ("rows", row, vec![2, rows, columns]),
    ]
    .map(|(name, x, shape)| Case::named(name, sizes.call(vec![x], Attributes::of_shape(shape))))
    .to_vec()
}

/// Three tensors, of which the middle one has another size than its neighbours.
fn concatenations(sizes: &CaseSizes<'_>, rows: usize, columns: usize) -> Vec<Case> {
    [(0, [1, columns]), (1, [rows, 2])]
        .map(|(dim, middle)| {
            let middle = sizes.floats(1, &middle, LIMITS);
            Case::named(
                format!("dim {dim}"),
                sizes.call(
                    vec![input(sizes, 0), middle, input(sizes, 2)],
                    Attributes::of_dim(dim),
                ),
            )
        })
        .to_vec()
}

fn slices(sizes: &CaseSizes<'_>, rows: usize, columns: usize) -> Vec<Case> {
    [
        // In a dimension without elements, a slice from 1 on would begin after the end.
        ("rows", slice_of(0, [1.min(rows), rows, 1])),
        (
            "every second column",
            slice_of(1, [1.min(columns), columns, 2]),
        ),
    ]
    .map(|(name, attributes)| Case::named(name, sizes.call(vec![input(sizes, 0)], attributes)))
    .to_vec()
}

pub(super) fn reference(call: &Call) -> Reference {
    let Some(x) = call.tensor(0) else {
        return Reference::booleans([0], Vec::new());
    };
    let attributes = &call.attributes;
    let dim = attributes.dim.unwrap_or(0);
    Reference::moved(match call.operator {
        Operator::Reshape | Operator::View => x.reshaped(attributes.shape.clone()),
        Operator::Squeeze => {
            let mut shape = x.shape.clone();
            shape.remove(dim);
            x.reshaped(shape)
        }
        Operator::Unsqueeze => unsqueezed(x, dim),
        Operator::LayoutTransform => x.permuted(&attributes.axes),
        Operator::Broadcast => x.expanded(&attributes.shape),
        Operator::Concat => concat(&tensors(call), dim),
        Operator::Stack => concat(
            &tensors(call)
                .iter()
                .map(|x| unsqueezed(x, dim))
                .collect::<Vec<_>>(),
            dim,
        ),
        Operator::Slice => sliced(x, dim, attributes.range),
        // `copy` and `contiguous`.
        _ => x.clone(),
    })
}

fn tensors(call: &Call) -> Vec<HostTensor> {
    call.inputs
        .iter()
        .map(|input| input.tensor.clone())
        .collect()
}

fn unsqueezed(x: &HostTensor, dim: usize) -> HostTensor {
    let mut shape = x.shape.clone();
    shape.insert(dim, 1);
    x.reshaped(shape)
}

fn concat(parts: &[HostTensor], dim: usize) -> HostTensor {
    let first = &parts[0];
    let outer: usize = first.shape[..dim].iter().product();
    let values = (0..outer)
        .flat_map(|index| {
            parts
                .iter()
                .flat_map(move |part| rows_of_part(part, index, outer))
        })
        .collect();
    let mut shape = first.shape.clone();
    shape[dim] = parts.iter().map(|part| part.shape[dim]).sum();
    HostTensor::new(shape, first.element, values)
}

fn sliced(x: &HostTensor, dim: usize, [start, end, step]: [usize; 3]) -> HostTensor {
    let picked: Vec<usize> = (start..end).step_by(step.max(1)).collect();
    let mut shape = x.shape.clone();
    shape[dim] = picked.len();
    let mut values = vec![0.0; shape.iter().product()];
    for (from, to) in lines(&x.shape, dim).into_iter().zip(lines(&shape, dim)) {
        for (index, place) in to.into_iter().zip(&picked) {
            values[index] = x.values[from[*place]];
        }
    }
    HostTensor::new(shape, x.element, values)
}

fn slice_of(dim: usize, range: [usize; 3]) -> Attributes {
    Attributes {
        range,
        ..Attributes::of_dim(dim)
    }
}

fn rows_of_part(part: &HostTensor, index: usize, outer: usize) -> Vec<f64> {
    let size = part.len() / outer.max(1);
    part.values[index * size..(index + 1) * size].to_vec()
}
