//! Elements that are written to another place, not at all, or wrong.

use super::{Change::Values, LargeFault};
use testgen_types::Operator::{
    self, Add, Contiguous, Embedding, Gelu, Lt, Matmul, Softmax, Transpose,
};

const ROWS: &[usize] = &[70_001, 41];
const PRODUCT: &[usize] = &[45, 4097, 53];

/// The columns of a result.
fn columns(shape: &[usize]) -> usize {
    shape.last().copied().unwrap_or(1)
}

fn large_fault(
    name: &'static str,
    operator: Operator,
    sizes: &'static [usize],
    change: fn(&[usize], &mut Vec<f32>),
) -> LargeFault {
    LargeFault::new(name, operator, sizes, Values(change))
}

pub(super) fn all() -> Vec<LargeFault> {
    [places(), lost()].into_iter().flatten().collect()
}

/// Elements of other places.
fn places() -> Vec<LargeFault> {
    vec![
        large_fault(
            "the index of an element has 20 bits",
            Add,
            ROWS,
            |_, values| {
                (1 << 20..values.len()).for_each(|flat| values[flat] = values[flat - (1 << 20)]);
            },
        ),
        large_fault("the row has 16 bits", Add, ROWS, |shape, values| {
            let width = columns(shape);
            (65_536 * width..values.len())
                .for_each(|flat| values[flat] = values[flat - 65_536 * width]);
        }),
        large_fault(
            "one row in the middle is that of its neighbour",
            Softmax,
            ROWS,
            |shape, values| {
                let width = columns(shape);
                values.copy_within(35_000 * width..35_001 * width, 35_001 * width);
            },
        ),
        large_fault(
            "elements are shifted by one",
            Transpose,
            &[2001, 41],
            |_, values| values.rotate_left(1),
        ),
        large_fault(
            "the last element is off by a thousandth",
            Contiguous,
            &[2001, 41],
            |_, values| {
                values
                    .iter_mut()
                    .rev()
                    .take(1)
                    .for_each(|last| *last *= 1.001);
            },
        ),
        large_fault("the last comparison is inverted", Lt, ROWS, |_, values| {
            values
                .iter_mut()
                .rev()
                .take(1)
                .for_each(|last| *last = 1.0 - *last);
        }),
    ]
}

/// Elements that are not written.
fn lost() -> Vec<LargeFault> {
    vec![
        large_fault(
            "the index of an element has 21 bits with a sign",
            Gelu,
            ROWS,
            |_, values| {
                values
                    .iter_mut()
                    .skip(1 << 20)
                    .for_each(|value| *value = f32::NAN);
            },
        ),
        large_fault(
            "rows beyond the grid are not written",
            Add,
            ROWS,
            |shape, values| {
                values
                    .iter_mut()
                    .skip(65_535 * columns(shape))
                    .for_each(|value| *value = f32::NAN);
            },
        ),
        large_fault(
            "rows beyond the grid keep zeros",
            Embedding,
            &[70_001, 41, 37],
            |shape, values| {
                values
                    .iter_mut()
                    .skip(60 * columns(shape))
                    .for_each(|value| *value = 0.0);
            },
        ),
        large_fault(
            "stores beyond 8 MiB are lost",
            Transpose,
            ROWS,
            |_, values| {
                values
                    .iter_mut()
                    .skip((8 << 20) / 4)
                    .for_each(|value| *value = 0.0);
            },
        ),
        large_fault(
            "the last block of rows is not written",
            Matmul,
            PRODUCT,
            |shape, values| {
                values
                    .iter_mut()
                    .skip(32 * columns(shape))
                    .for_each(|value| *value = f32::NAN);
            },
        ),
        large_fault(
            "the last column is not written",
            Matmul,
            PRODUCT,
            |shape, values| {
                let width = columns(shape);
                values
                    .chunks_mut(width)
                    .for_each(|row| row[width - 1] = f32::NAN);
            },
        ),
    ]
}
