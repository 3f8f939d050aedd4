//! Fused patterns, compared with their parts one after another.

use super::property::{Relation, other_shape, result};
use crate::{
    calls::{Attributes, Call, CallError, Element, Execute, HostTensor},
    cases::{arithmetic::Arithmetic, case::Case, group::reference},
};
use testgen_types::{Operator, Precision};

/// The fused and the unfused result differ by at most twice the bound of either.
pub(super) fn unfused(case: &Case, element: Element) -> Option<Relation> {
    let parts: &[Operator] = match case.call.operator {
        Operator::MatmulBiasRelu => &[Operator::Matmul, Operator::Add, Operator::Relu],
        Operator::MatmulBiasGelu => &[Operator::Matmul, Operator::Add, Operator::Gelu],
        Operator::ConvBatchNormRelu => &[Operator::Conv2d, Operator::BatchNorm, Operator::Relu],
        Operator::AddRelu => &[Operator::Add, Operator::Relu],
        Operator::MulAdd => &[Operator::Mul, Operator::Add],
        _ => return None,
    };
    // Products of f32 may be TF32 here, whose bound is the wider one.
    let precision = match element {
        Element::F16 => Precision::F16,
        Element::Bf16 => Precision::Bf16,
        _ => Precision::Tf32,
    };
    Some(Relation::new(
        "the parts one after another",
        case,
        move |executor, call| {
            let (fused, unfused) = (result(executor, call)?, composed(executor, call, parts)?);
            let reference = reference(call, Arithmetic::for_precision(precision));
            let expected = reference.tensor();
            // Otherwise elements that are missing in one of them would not be compared.
            let mut results = [&fused, &unfused].into_iter();
            if let Some(problem) = results.find_map(|got| other_shape(&expected, got)) {
                return Ok(Some(problem));
            }
            let pairs = fused.values.iter().zip(&unfused.values);
            let pairs = pairs.zip(&reference.numbers);
            // NaN is not within the bound.
            let near = pairs
                .filter(|((fused, unfused), bound)| (*fused - *unfused).abs() <= 2.0 * bound.error)
                .count();
            let far = fused.len() - near;
            Ok((far > 0).then(|| {
                format!(
                    "{far} of {} elements are further apart than twice their bound",
                    fused.len()
                )
            }))
        },
    ))
}

/// The first part takes its own inputs, each later part takes the result so far and the inputs that
/// are left.
fn composed(
    executor: &dyn Execute,
    call: &Call,
    parts: &[Operator],
) -> Result<HostTensor, CallError> {
    let mut left = call.inputs.iter().map(|input| input.tensor.clone());
    let mut current = left.next().into_iter().collect::<Vec<_>>();
    for part in parts {
        let more = match part {
            Operator::Relu | Operator::Gelu => 0,
            Operator::BatchNorm => 4,
            _ => 1,
        };
        current.extend(left.by_ref().take(more));
        let attributes = match part {
            // The fused operator has the form with erf, whatever its attributes say.
            Operator::Gelu => Attributes::default(),
            _ => call.attributes.clone(),
        };
        current = vec![result(executor, &Call::new(*part, current, attributes))?];
    }
    Ok(current.remove(0))
}

#[cfg(test)]
mod tests {
    use super::{Element, unfused};
    use crate::{
        calls::{Call, CallError, Computed, Execute},
        cases::{Arithmetic, cases, group::reference, odd_sizes},
    };
    use testgen_types::{DeviceKind, Operator, Precision};

    /// Computes the reference, of whose last rows this one is left out for the fused operator.
    struct WithoutRows(usize);

    impl Execute for WithoutRows {
        fn execute(&self, call: &Call) -> Result<Computed, CallError> {
            let mut tensor = reference(call, Arithmetic::for_precision(Precision::F32)).tensor();
            if call.operator == Operator::AddRelu {
                let row: usize = tensor.shape[1..].iter().product();
                tensor.shape[0] -= self.0.min(tensor.shape[0]);
                tensor.values.truncate(tensor.shape[0] * row);
            }
            Ok(Computed {
                tensor,
                device: DeviceKind::Cpu,
            })
        }
    }

    #[test]
    fn a_fused_result_without_all_elements_violates_the_relation() {
        let case = cases(
            Operator::AddRelu,
            &odd_sizes(Operator::AddRelu),
            Element::F32,
        )
        .remove(0);
        let relation = unfused(&case, Element::F32).expect("it is fused");
        let violation = |rows| relation.violation(&WithoutRows(rows)).expect("is computed");
        assert_eq!(violation(0), None);
        for rows in [1, usize::MAX] {
            let violation = violation(rows).unwrap_or_default();
            assert!(violation.starts_with("the result is f32"), "{violation}");
        }
    }
}
