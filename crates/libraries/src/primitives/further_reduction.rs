//! Reductions that no operator of a spec computes, on the inputs of one that does: the largest
//! magnitude of `max`, the norms of `sum`.

use crate::primitive::PrimitiveReduction;
use testgen_operators::{
    calls::{Call, HostTensor},
    cases::{Arithmetic, BoundedNumber, Reference, reference},
};
use testgen_types::Operator;

/// The further reductions of an operator.
pub(super) const fn further_reductions(operator: Operator) -> &'static [PrimitiveReduction] {
    match operator {
        Operator::Max => &[PrimitiveReduction::LargestMagnitude],
        Operator::Sum => &[PrimitiveReduction::Norm1, PrimitiveReduction::Norm2],
        _ => &[],
    }
}

/// The reference of a further reduction of the input of `call`.
pub(super) fn further_reference(
    reduction: PrimitiveReduction,
    call: &Call,
    arithmetic: Arithmetic,
) -> Reference {
    if reduction == PrimitiveReduction::Norm2 {
        roots_of_squares(call, arithmetic)
    } else {
        // The same operator of absolute values.
        reference(&with_magnitudes(call), arithmetic)
    }
}

fn with_magnitudes(call: &Call) -> Call {
    let x = &call.inputs[0].tensor;
    let values = x.values.iter().map(|value| value.abs()).collect();
    let magnitudes = HostTensor::new(x.shape.clone(), x.element, values);
    Call::new(call.operator, vec![magnitudes], call.attributes.clone())
}

fn roots_of_squares(call: &Call, arithmetic: Arithmetic) -> Reference {
    let x = &call.inputs[0].tensor;
    let root = |line: Vec<usize>| {
        let factors = line.into_iter().map(|index| {
            let number = BoundedNumber::exact(x.values[index]);
            (number, number)
        });
        arithmetic.stored(arithmetic.sqrt(arithmetic.dot(factors)))
    };
    Reference {
        // The sum has the shape and the type of the norm; only its numbers differ.
        numbers: lines(&x.shape, call.attributes.dim).map(root).collect(),
        // A root is not a sum.
        sums: false,
        ..reference(call, arithmetic)
    }
}

/// The indices of the elements that a reduction takes together: those along a dimension, or all.
fn lines(shape: &[usize], dim: Option<usize>) -> impl Iterator<Item = Vec<usize>> {
    let [before, length, after] = match dim {
        Some(dim) => [
            shape[..dim].iter().product(),
            shape[dim],
            shape[dim + 1..].iter().product(),
        ],
        None => [1, shape.iter().product(), 1],
    };
    (0..before).flat_map(move |first: usize| {
        (0..after).map(move |last: usize| {
            (0..length)
                .map(|index: usize| (first * length + index) * after + last)
                .collect()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{further_reductions, further_reference};
    use testgen_operators::{
        calls::{Attributes, Call, Element, HostTensor},
        cases::Arithmetic,
    };
    use testgen_types::{Operator, Precision};

    /// Name and numbers of each further reduction of a matrix.
    fn results(operator: Operator, attributes: Attributes) -> Vec<(&'static str, Vec<f64>)> {
        let x = HostTensor::new([2, 2], Element::F32, vec![3.0, -5.0, 4.0, -12.0]);
        let call = Call::new(operator, vec![x], attributes);
        let arithmetic = Arithmetic::for_precision(Precision::F32);
        let further = further_reductions(operator).iter();
        further
            .map(|reduction| {
                let reference = further_reference(*reduction, &call, arithmetic);
                assert_eq!(
                    reference.shape.iter().product::<usize>(),
                    reference.numbers.len()
                );
                let numbers = reference.numbers.iter().map(|number| number.value);
                (reduction.as_str(), numbers.collect())
            })
            .collect()
    }

    #[test]
    fn norms_and_the_largest_magnitude_have_no_signs() {
        let columns = results(Operator::Sum, Attributes::of_dim(0));
        assert_eq!(
            columns,
            [("norm1", vec![7.0, 17.0]), ("norm2", vec![5.0, 13.0])]
        );
        let rows = results(Operator::Max, Attributes::of_dim(1));
        assert_eq!(rows, [("amax", vec![5.0, 12.0])]);
        let all = results(Operator::Sum, Attributes::default());
        assert_eq!(all[0], ("norm1", vec![24.0]));
        assert_eq!(all[1].1[0], 194_f64.sqrt());
        assert!(results(Operator::Min, Attributes::default()).is_empty());
    }
}
