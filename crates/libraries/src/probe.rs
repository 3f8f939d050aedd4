//! The operations that probe the arithmetic of a device, as products of matrices, which
//! convolutions compute, too.

use testgen_engine::ComputeOperation;
use testgen_operators::calls::{Attributes, Call, Element, HostTensor};
use testgen_types::{Operator, Precision};

/// A call of a product with the result of `operation`, up to its shape: of `[operands, result]` in
/// these precisions. The error names what is missing.
pub(crate) fn call(
    operation: ComputeOperation,
    operands: &[HostTensor],
    [from, to]: [Precision; 2],
) -> Result<Call, String> {
    let element = Element::for_precision(to);
    // A cast rounds the operand; other operations have operands of one type, the type of their
    // result or a narrower one.
    if operation != ComputeOperation::Cast && from != to {
        return Err(format!("a product of {from} with a result of {to}"));
    }
    let left = operands.first().ok_or("an operation without operands")?;
    let count = left.len();
    let tensor = |shape: &[usize], values: Vec<f64>| HostTensor::new(shape, element, values);
    let ones = |shape: &[usize]| tensor(shape, vec![1.0; shape.iter().product()]);
    let right = || {
        operands
            .get(1)
            .map(|right| right.values.clone())
            .ok_or("an operation with one operand")
    };
    let call = |operator, factors| Call::new(operator, factors, Attributes::default());
    Ok(match operation {
        // A product with one changes nothing but the type.
        ComputeOperation::Cast => call(
            Operator::Matmul,
            vec![tensor(&[count, 1], left.values.clone()), ones(&[1, 1])],
        ),
        ComputeOperation::Sum => call(
            Operator::Matmul,
            vec![tensor(&[1, count], left.values.clone()), ones(&[count, 1])],
        ),
        ComputeOperation::Add => {
            let pairs = left
                .values
                .iter()
                .zip(right()?)
                .flat_map(|(left, right)| [*left, right])
                .collect();
            call(
                Operator::Matmul,
                vec![tensor(&[count, 2], pairs), ones(&[2, 1])],
            )
        }
        // Products of one term each, so that nothing is added.
        ComputeOperation::Multiply => {
            let factors =
                [left.values.clone(), right()?].map(|values| tensor(&[count, 1, 1], values));
            call(Operator::BatchMatmul, factors.to_vec())
        }
        ComputeOperation::MatrixProduct => {
            let right = operands.get(1).ok_or("a product of one matrix")?;
            let factor = |operand: &HostTensor| tensor(&operand.shape, operand.values.clone());
            call(Operator::Matmul, vec![factor(left), factor(right)])
        }
    })
}

/// A product of [`call`] as a convolution with the same elements in its result: the rows of the
/// left factor are a batch of one position with a channel for each column, and a batch of products
/// of numbers has a group for each.
pub(crate) fn as_convolution(product: &Call) -> Option<Call> {
    let (left, right) = (product.tensor(0)?, product.tensor(1)?);
    let (input, weight, groups) = match (&left.shape[..], &right.shape[..]) {
        ([rows, inner], [_, columns]) => {
            let weight = right.permuted(&[1, 0]);
            (
                left.reshaped([*rows, *inner, 1, 1]),
                weight.reshaped([*columns, *inner, 1, 1]),
                1,
            )
        }
        ([count, 1, 1], [_, 1, 1]) => (
            left.reshaped([1, *count, 1, 1]),
            right.reshaped([*count, 1, 1, 1]),
            *count,
        ),
        _ => return None,
    };
    let attributes = Attributes {
        groups,
        ..Attributes::default()
    };
    Some(Call::new(Operator::Conv2d, vec![input, weight], attributes))
}

/// The shape of the result.
pub(crate) fn shape(operation: ComputeOperation, operands: &[HostTensor]) -> Vec<usize> {
    let [left, right] = [0, 1].map(|index| shape_of(operands, index));
    match (operation, &left[..], &right[..]) {
        (ComputeOperation::Sum, ..) => vec![1],
        (ComputeOperation::MatrixProduct, [rows, _], [_, columns]) => vec![*rows, *columns],
        (_, shape, _) => shape.to_vec(),
    }
}

/// The shape of an operand; without dimensions if it is missing.
fn shape_of(operands: &[HostTensor], index: usize) -> Vec<usize> {
    operands
        .get(index)
        .map(|operand| operand.shape.clone())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[usize], values: &[f64]) -> HostTensor {
        HostTensor::new(shape, Element::F32, values.to_vec())
    }

    #[test]
    fn operations_are_products() {
        let operands = [tensor(&[2], &[1.0, 2.0]), tensor(&[2], &[3.0, 5.0])];
        let of = |operation| call(operation, &operands, [Precision::F32; 2]);
        let shapes = |operation| of(operation).map(|call| call.shapes());
        assert_eq!(
            shapes(ComputeOperation::Cast),
            Ok("[2, 1] [1, 1]".to_owned())
        );
        assert_eq!(
            shapes(ComputeOperation::Sum),
            Ok("[1, 2] [2, 1]".to_owned())
        );
        assert_eq!(
            shapes(ComputeOperation::Multiply),
            Ok("[2, 1, 1] [2, 1, 1]".to_owned())
        );
        let sums = of(ComputeOperation::Add).map(|call| call.inputs[0].tensor.values.clone());
        assert_eq!(sums, Ok(vec![1.0, 3.0, 2.0, 5.0]));
        assert_eq!(shape(ComputeOperation::Add, &operands), [2]);
        let matrices = [tensor(&[2, 1], &[1.0, 2.0]), tensor(&[1, 2], &[3.0, 5.0])];
        assert_eq!(shape(ComputeOperation::MatrixProduct, &matrices), [2, 2]);
        assert!(
            call(
                ComputeOperation::Add,
                &operands,
                [Precision::F16, Precision::F32]
            )
            .is_err()
        );
        assert!(call(ComputeOperation::Add, &operands[..1], [Precision::F32; 2]).is_err());
    }

    #[test]
    fn products_are_convolutions() {
        let operands = [tensor(&[2], &[1.0, 2.0]), tensor(&[2], &[3.0, 5.0])];
        let convolution = |operation, operands: &[HostTensor]| {
            let product = call(operation, operands, [Precision::F32; 2]).expect("is a product");
            as_convolution(&product).expect("is a convolution")
        };
        let products = convolution(ComputeOperation::Multiply, &operands);
        assert_eq!(products.shapes(), "[1, 2, 1, 1] [2, 1, 1, 1]");
        assert_eq!(products.attributes.groups, 2);
        let matrices = [
            tensor(&[1, 2], &[1.0, 2.0]),
            tensor(&[2, 2], &[3.0, 4.0, 5.0, 6.0]),
        ];
        let product = convolution(ComputeOperation::MatrixProduct, &matrices);
        assert_eq!(product.shapes(), "[1, 2, 1, 1] [2, 2, 1, 1]");
        assert_eq!(product.inputs[1].tensor.values, [3.0, 5.0, 4.0, 6.0]);
    }

    #[test]
    fn a_cast_rounds_its_operand() {
        let cast = call(
            ComputeOperation::Cast,
            &[tensor(&[1], &[1.001])],
            [Precision::F32, Precision::Bf16],
        );
        assert_eq!(
            cast.map(|call| call.inputs[0].tensor.clone()),
            Ok(HostTensor::new([1, 1], Element::Bf16, vec![1.0]))
        );
    }
}
