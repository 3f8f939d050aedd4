//! Products of matrices, and their transposition.

use crate::{
    calls::{Attributes, Call, HostTensor, Layout, broadcast_shape},
    cases::{
        arithmetic::Arithmetic,
        case::{Case, CaseSizes},
        number::BoundedNumber,
        reference::{Reference, exact},
    },
};
use testgen_types::Operator;

pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    match *sizes.sizes {
        [rows, inner, columns] if sizes.operator == Operator::Gemm => {
            gemm_cases(sizes, [rows, inner, columns])
        }
        [rows, inner, columns] => {
            vec![Case::new(sizes.call(
                vec![
                    sizes.factors(0, &[rows, inner]),
                    sizes.factors(1, &[inner, columns]),
                ],
                Attributes::default(),
            ))]
        }
        [batch, rows, inner, columns] => {
            let factors = vec![
                sizes.factors(0, &[batch, rows, inner]),
                sizes.factors(1, &[batch, inner, columns]),
            ];
            vec![Case::new(sizes.call(factors, Attributes::default()))]
        }
        _ => {
            let axes = Attributes {
                axes: vec![0, 1],
                ..Attributes::default()
            };
            vec![Case::new(
                sizes.call(vec![sizes.factors(0, sizes.sizes)], axes),
            )]
        }
    }
}

pub(super) fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    match (call.operator, call.tensor(0), call.tensor(1)) {
        (Operator::Transpose, Some(x), _) => {
            let mut axes: Vec<usize> = (0..x.shape.len()).collect();
            // As `torch.transpose`, which exchanges two dimensions.
            if let [a, b] = *call.attributes.axes {
                axes.swap(a, b);
            }
            Reference::moved(x.permuted(&axes))
        }
        (_, Some(left), Some(right)) => {
            let (shape, mut numbers) = product(arithmetic, left, right);
            if let (Operator::Gemm, Some(added)) = (call.operator, call.tensor(2)) {
                scale_and_add(
                    arithmetic,
                    call.attributes.scales,
                    &mut numbers,
                    &exact(added),
                );
            }
            Reference::summed(arithmetic, shape, numbers)
        }
        _ => Reference::computed(arithmetic, [0], Vec::new()),
    }
}

/// Every way to store the factors, with the scales of a plain product, of an accumulation, and of
/// neither.
fn gemm_cases(sizes: &CaseSizes<'_>, [rows, inner, columns]: [usize; 3]) -> Vec<Case> {
    let layouts = [
        ("nn", [false, false]),
        ("nt", [false, true]),
        ("tn", [true, false]),
        ("tt", [true, true]),
    ];
    let scales = [[1.0, 0.0], [-0.5, 1.0], [2.0, 0.75]];
    layouts
        .iter()
        .flat_map(|layout| {
            scales.map(|scales| gemm_case(sizes, [rows, inner, columns], *layout, scales))
        })
        .collect()
}

fn gemm_case(
    sizes: &CaseSizes<'_>,
    [rows, inner, columns]: [usize; 3],
    (name, transposed): (&str, [bool; 2]),
    [alpha, beta]: [f64; 2],
) -> Case {
    // A library that reads c although beta is 0 returns NaN.
    let added = if beta == 0.0 {
        HostTensor::new(
            [rows, columns],
            sizes.element,
            vec![f64::NAN; rows * columns],
        )
    } else {
        sizes.factors(2, &[rows, columns])
    };
    let inputs = vec![
        sizes.factors(0, &[rows, inner]),
        sizes.factors(1, &[inner, columns]),
        added,
    ];
    let attributes = Attributes {
        scales: [alpha, beta],
        ..Attributes::default()
    };
    let mut call = sizes.call(inputs, attributes);
    for (input, transposed) in call.inputs.iter_mut().zip(transposed) {
        input.layout = if transposed {
            Layout::Reversed
        } else {
            Layout::Contiguous
        };
    }
    Case::named(format!("{name}, alpha {alpha}, beta {beta}"), call)
}

/// alpha times each number plus beta times what is added, which is not read where beta is 0.
fn scale_and_add(
    arithmetic: Arithmetic,
    [alpha, beta]: [f64; 2],
    numbers: &mut [BoundedNumber],
    added: &[BoundedNumber],
) {
    for (number, added) in numbers.iter_mut().zip(added) {
        let scaled = arithmetic.mul(BoundedNumber::exact(alpha), *number);
        // With beta 0 the matrix is not read: cases have NaN there.
        *number = if beta == 0.0 {
            scaled
        } else {
            arithmetic.add(scaled, arithmetic.mul(BoundedNumber::exact(beta), *added))
        };
    }
}

/// [.., rows, inner] times [.., inner, columns], whose batches are broadcast.
pub(super) fn product(
    arithmetic: Arithmetic,
    left: &HostTensor,
    right: &HostTensor,
) -> (Vec<usize>, Vec<BoundedNumber>) {
    let [(left_batches, left_size), (right_batches, right_size)] =
        [left, right].map(|factor| factor.shape.split_at(factor.shape.len() - 2));
    let (rows, inner, columns) = (left_size[0], left_size[1], right_size[1]);
    // The batches of the left one if they do not fit, which no case has.
    let mut shape =
        broadcast_shape(&[left_batches, right_batches]).unwrap_or_else(|| left_batches.to_vec());
    let batches: usize = shape.iter().product();
    let [a, b] = [(left, left_size), (right, right_size)]
        .map(|(factor, size)| exact(&factor.expanded(&[shape.as_slice(), size].concat())));
    let mut numbers = Vec::with_capacity(batches * rows * columns);
    for batch in 0..batches {
        let (a, b) = (&a[batch * rows * inner..], &b[batch * inner * columns..]);
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)))
        {
            let factors =
                (0..inner).map(|index| (a[row * inner + index], b[index * columns + column]));
            numbers.push(arithmetic.dot(factors));
        }
    }
    shape.extend([rows, columns]);
    (shape, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{calls::Element, cases::result_elements};
    use testgen_types::Precision;

    /// The shape of a product, whose elements are as many as a call of these shapes is described
    /// with.
    fn product_shape(left: &[usize], right: &[usize]) -> Vec<usize> {
        let ones = |shape: &[usize]| {
            HostTensor::new(shape, Element::F32, vec![1.0; shape.iter().product()])
        };
        let factors = vec![ones(left), ones(right)];
        let call = Call::new(Operator::Matmul, factors, Attributes::default());
        let reference = reference(&call, Arithmetic::for_precision(Precision::F32));
        let elements: usize = reference.shape.iter().product();
        assert_eq!(result_elements(&call), Ok(elements), "{left:?} {right:?}");
        assert_eq!(reference.numbers.len(), elements, "{left:?} {right:?}");
        reference.shape
    }

    #[test]
    fn batches_are_broadcast() {
        assert_eq!(product_shape(&[2, 1, 3, 4], &[2, 1, 4, 5]), [2, 1, 3, 5]);
        assert_eq!(product_shape(&[2, 1, 3, 4], &[1, 3, 4, 5]), [2, 3, 3, 5]);
        assert_eq!(product_shape(&[1, 3, 4], &[0, 4, 5]), [0, 3, 5]);
        assert_eq!(product_shape(&[2, 3, 0], &[1, 0, 5]), [2, 3, 5]);
        let tensor =
            |shape: &[usize], values: &[f64]| HostTensor::new(shape, Element::F32, values.to_vec());
        let (_, numbers) = product(
            Arithmetic::for_precision(Precision::F32),
            &tensor(&[2, 1, 1, 1], &[1.0, 2.0]),
            &tensor(&[1, 3, 1, 1], &[3.0, 5.0, 7.0]),
        );
        let values: Vec<f64> = numbers.iter().map(|number| number.value).collect();
        assert_eq!(values, [3.0, 5.0, 7.0, 6.0, 10.0, 14.0]);
    }
}
