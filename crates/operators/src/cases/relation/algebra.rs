//! Operators that exchange their arguments, undo themselves, or change nothing a second time.

use super::property::{Relation, difference, result};
use crate::{
    calls::{Attributes, Call, CallError, Computed, Element, Execute, HostTensor},
    cases::case::{Case, CaseSizes},
};
use testgen_types::{Operator, Precision};

/// The laws of the operator of a case.
pub(super) fn relation(case: &Case) -> Option<Relation> {
    use Operator::*;
    match case.call.operator {
        Add | Mul | MaxBinary | MinBinary | Maximum | Minimum | Eq | Ne | MseLoss | L1Loss
        | SmoothL1Loss | AddRelu => Some(Relation::new(
            "exchanged arguments",
            case,
            |executor, call| {
                let expected = result(executor, call)?;
                Ok(difference(
                    &expected,
                    &result(executor, &exchanged(call, call.operator))?,
                ))
            },
        )),
        Gt | Ge | Lt | Le | Less => Some(Relation::new(
            "exchanged arguments of the opposite comparison",
            case,
            |executor, call| {
                let expected = result(executor, call)?;
                Ok(difference(
                    &expected,
                    &result(executor, &exchanged(call, opposite(call.operator)))?,
                ))
            },
        )),
        Abs | Relu | Clamp | Copy | Contiguous | Dropout => Some(Relation::new(
            "a second time nothing changes",
            case,
            |executor, call| {
                let once = result(executor, call)?;
                Ok(difference(&once, &again(executor, call, &once)?.tensor))
            },
        )),
        Neg | Transpose => Some(Relation::new(
            "the second time undoes the first",
            case,
            |executor, call| {
                let once = result(executor, call)?;
                let x = call.tensor(0).cloned().unwrap_or_else(|| once.clone());
                Ok(difference(&x, &again(executor, call, &once)?.tensor))
            },
        )),
        _ => None,
    }
}

/// The operator applied to its own result.
fn again(executor: &dyn Execute, call: &Call, once: &HostTensor) -> Result<Computed, CallError> {
    executor.execute(&Call::new(
        call.operator,
        vec![once.clone()],
        call.attributes.clone(),
    ))
}

/// Both inputs exchanged, for another operator.
fn exchanged(call: &Call, operator: Operator) -> Call {
    let mut exchanged = Call {
        operator,
        ..call.clone()
    };
    exchanged.inputs.swap(0, 1);
    exchanged
}

fn opposite(comparison: Operator) -> Operator {
    match comparison {
        Operator::Gt => Operator::Lt,
        Operator::Ge => Operator::Le,
        Operator::Le => Operator::Ge,
        _ => Operator::Gt,
    }
}

/// A matrix times the identity is the matrix.
pub(super) fn identity(operator: Operator, precision: Precision) -> Option<Relation> {
    let (size, element) = (7, Element::for_precision(precision));
    let values = (0..size * size)
        .map(|index| f64::from(u8::from(index / size == index % size)))
        .collect();
    let identity = HostTensor::new([size, size], element, values);
    let sizes = CaseSizes {
        operator,
        sizes: &[],
        element,
    };
    let mut x = sizes.floats(0, &[5, size], [-2.0, 2.0]);
    if precision == Precision::Tf32 {
        // A library may round the factors of a product of any size. Numbers of f16 have as many
        // bits as TF32, which keeps them.
        x = HostTensor::new(x.shape, Element::F16, x.values);
        x.element = element;
    }
    let inputs = match operator {
        Operator::Matmul => vec![x, identity],
        Operator::BatchMatmul => vec![x.reshaped([1, 5, size]), identity.reshaped([1, size, size])],
        _ => return None,
    };
    let case = Case::new(Call::new(operator, inputs, Attributes::default()));
    Some(Relation::new(
        "the identity matrix",
        &case,
        |executor, call| {
            let got = result(executor, call)?;
            Ok(call.tensor(0).and_then(|x| difference(x, &got)))
        },
    ))
}
