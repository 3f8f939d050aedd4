//! The lengths that the tensors of a call have in common, by the operator: what must change
//! together when a call is made smaller.
//!
//! Describing a call also validates it: tensors, ranks, lengths and indices that an operator does
//! not take are errors.

mod channels;
mod description;
mod rows;
mod windows;

use crate::calls::Call;
use description::{Dimensions, Problem};
use testgen_types::{Operator, OperatorGroup};

pub(crate) use description::{Dimension, DimensionSlot};

/// The dimensions of a call; the error is its difference from a call of its operator.
pub(crate) fn dimensions(call: &Call) -> Result<Dimensions<'_>, Problem> {
    let mut dimensions = Dimensions::of_filled(call)?;
    let described = match call.operator.group() {
        OperatorGroup::Elementwise | OperatorGroup::Comparison => {
            rows::broadcast(&mut dimensions, call.operator.elementwise_inputs())
        }
        OperatorGroup::Activation | OperatorGroup::Reduction => rows::one(&mut dimensions),
        OperatorGroup::Matrix => rows::matrix(&mut dimensions),
        OperatorGroup::Convolution => windows::convolution(&mut dimensions),
        OperatorGroup::Pooling => windows::pool(&mut dimensions),
        OperatorGroup::Normalisation => channels::normalisation(&mut dimensions),
        OperatorGroup::Movement => rows::movement(&mut dimensions),
        OperatorGroup::Indexing => channels::indexing(&mut dimensions),
        OperatorGroup::Loss => channels::loss(&mut dimensions),
        OperatorGroup::Attention => channels::attention(&mut dimensions),
        OperatorGroup::Collective => rows::collective(&mut dimensions),
        OperatorGroup::Fused => match call.operator {
            Operator::AddRelu => rows::broadcast(&mut dimensions, 2),
            Operator::MulAdd => rows::broadcast(&mut dimensions, 3),
            Operator::ConvBatchNormRelu => windows::convolution(&mut dimensions),
            _ => rows::matrix(&mut dimensions),
        },
    };
    dimensions.result = described?.ok_or("its result has more elements than memory")?;
    Ok(dimensions)
}

/// The number of elements of the result of a call, found without computing it.
///
/// # Errors
///
/// The difference from a call of its operator: its tensors, ranks, lengths or indices.
pub fn result_elements(call: &Call) -> Result<usize, String> {
    dimensions(call).map(|described| described.result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        calls::Element,
        cases::{
            Arithmetic, cases, group::reference, integer_cases, odd_sizes, shape_cases,
            special_cases,
        },
    };
    use testgen_types::Precision;

    /// Every case of every operator.
    fn all() -> impl Iterator<Item = crate::cases::Case> {
        Operator::ALL.iter().flat_map(|operator| {
            let plain = cases(*operator, &odd_sizes(*operator), Element::F32);
            let shapes = shape_cases(*operator, Element::F32);
            let special = special_cases(*operator, Element::F32);
            [plain, shapes, special, integer_cases(*operator)].concat()
        })
    }

    #[test]
    fn every_case_is_a_call_of_its_operator_with_the_described_number_of_results() {
        for case in all() {
            let name = format!("{} {}", case.call.operator, case.description());
            let described =
                dimensions(&case.call).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            let integers = case
                .call
                .inputs
                .iter()
                .all(|input| !input.tensor.element.is_float());
            let arithmetic = if integers {
                Arithmetic::exact(Element::I32)
            } else {
                Arithmetic::for_precision(Precision::F32)
            };
            assert_eq!(
                described.result,
                reference(&case.call, arithmetic).numbers.len(),
                "{name}"
            );
            let one = |dimension: &&Dimension| dimension.places.is_empty();
            assert_eq!(described.all.iter().find(one), None, "{name}");
        }
    }

    #[test]
    fn every_length_of_an_input_is_described() {
        // A length of 1 cannot shrink, and the length of a squeezed dimension is 1.
        for operator in Operator::ALL {
            for case in cases(*operator, &odd_sizes(*operator), Element::F32) {
                let described = dimensions(&case.call).expect("is valid");
                let has = |at: (usize, usize)| {
                    let places = described.all.iter().flat_map(|dimension| &dimension.places);
                    places
                        .into_iter()
                        .any(|place| matches!(place, DimensionSlot::Input { input, dim, .. } if (*input, *dim) == at))
                };
                for (index, input) in case.call.inputs.iter().enumerate() {
                    for (dim, length) in input.tensor.shape.iter().enumerate() {
                        assert!(
                            *length == 1 || has((index, dim)),
                            "{operator} {}: {index}, {dim}",
                            case.description()
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn inputs_of_other_lengths_are_refused() {
        for operator in Operator::ALL {
            for case in cases(*operator, &odd_sizes(*operator), Element::F32) {
                let mut missing = case.call.clone();
                missing.inputs.clear();
                assert!(dimensions(&missing).is_err(), "{operator}");
                let mut unfilled = case.call.clone();
                unfilled.inputs[0].tensor.values.pop();
                assert!(dimensions(&unfilled).is_err(), "{operator}");
            }
        }
        for operator in [
            Operator::Matmul,
            Operator::LayerNorm,
            Operator::Rope,
            Operator::Gather,
            Operator::Conv2d,
        ] {
            let mut call = cases(operator, &odd_sizes(operator), Element::F32)
                .remove(0)
                .call;
            let tensor = &mut call.inputs[1].tensor;
            tensor.shape.insert(0, 1);
            assert!(dimensions(&call).is_err(), "{operator}");
        }
        let mut gather = cases(Operator::Gather, &odd_sizes(Operator::Gather), Element::F32)
            .remove(0)
            .call;
        gather.inputs[1].tensor.values[0] = 5.0;
        assert_eq!(
            dimensions(&gather).err().as_deref(),
            Some("input 1 is not of indices below 5")
        );
    }
    #[test]
    fn a_collective_has_ranks_but_may_have_no_columns() {
        let all = Operator::ALL
            .iter()
            .filter(|operator| operator.group() == OperatorGroup::Collective);
        for operator in all {
            let mut call = cases(*operator, &odd_sizes(*operator), Element::F32)
                .remove(0)
                .call;
            for input in &mut call.inputs {
                input.tensor = input.tensor.rows(&[]);
            }
            assert_eq!(
                dimensions(&call).err().as_deref(),
                Some("a collective needs at least one rank"),
                "{operator}"
            );
        }
        for operator in [
            Operator::ColumnParallelProduct,
            Operator::RowParallelProduct,
        ] {
            let mut call = cases(operator, &odd_sizes(operator), Element::F32)
                .remove(0)
                .call;
            let weight = &mut call.inputs[1].tensor;
            weight.shape[2] = 0;
            weight.values.clear();
            assert_eq!(result_elements(&call), Ok(0));
            let reference = reference(&call, Arithmetic::for_precision(Precision::F32));
            assert!(reference.numbers.is_empty(), "{operator}");
        }
    }
}
