//! Faults of sums: 16 bits where f32 is needed, factors of TF32, and terms that are left out.

use super::{Computation, Fault, inputs::changed};
use crate::emulated::on_host;
use testgen_operators::calls::{Call, Element, Execute, HostTensor};
use testgen_types::{Operator, OperatorGroup, Precision};

/// Faults of an operator that sums.
pub(super) fn for_operator(operator: Operator) -> Vec<Fault> {
    use Operator::*;
    let mut faults = Vec::new();
    let products = matches!(
        operator,
        Matmul | BatchMatmul | Gemm | WeightedSum | MatmulBiasRelu | MatmulBiasGelu
    ) || matches!(operator.group(), OperatorGroup::Convolution)
        || matches!(operator, ScaledDotProductAttention | ConvBatchNormRelu);
    if products {
        faults.push(changed("factors of TF32", |call| {
            let floats = call
                .inputs
                .iter_mut()
                .take(3)
                .filter(|input| input.tensor.element == Element::F32);
            floats.for_each(|input| {
                input
                    .tensor
                    .values
                    .iter_mut()
                    .for_each(|value| *value = tf32(*value))
            });
            Some(())
        }));
    }
    if matches!(
        operator,
        Matmul | BatchMatmul | Gemm | Sum | Mean | WeightedSum
    ) {
        faults.push(in_16_bits("sums in f16", Precision::F16, Element::F16));
        faults.push(in_16_bits("sums in bf16", Precision::Bf16, Element::Bf16));
    }
    if matches!(
        operator,
        Matmul
            | BatchMatmul
            | Gemm
            | MatmulBiasRelu
            | MatmulBiasGelu
            | Sum
            | Mean
            | LayerNorm
            | RmsNorm
    ) {
        faults.push(changed("the last term of each row is left out", |call| {
            let tensor = &mut call.inputs[0].tensor;
            let width = *tensor.shape.last().filter(|width| **width > 1)?;
            tensor
                .values
                .chunks_mut(width)
                .for_each(|row| row[width - 1] = 0.0);
            Some(())
        }));
    }
    if matches!(operator.group(), OperatorGroup::Convolution) || operator == ConvBatchNormRelu {
        faults.push(changed("the last channel is left out", |call| {
            let tensor = &mut call.inputs[0].tensor;
            let plane: usize = tensor.shape[1..].iter().product();
            let channel: usize = tensor.shape[2..].iter().product();
            tensor
                .values
                .chunks_mut(plane)
                .for_each(|row| row[plane - channel..].fill(0.0));
            Some(())
        }));
    }
    faults
}

/// The nearest number with 10 bits of mantissa.
fn tf32(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let step = (value.abs().log2().floor() - 10.0).exp2();
    (value / step).round_ties_even() * step
}

/// Products and partial sums rounded to a type of 16 bits.
fn in_16_bits(name: &'static str, precision: Precision, element: Element) -> Fault {
    let change = move |_: &dyn Execute, call: &Call| -> Option<Computation> {
        // Only floats: integers are summed exactly.
        call.tensor(0).filter(|tensor| tensor.element == element)?;
        sums(call, element).map(|tensor| Ok(on_host(tensor)))
    };
    Fault {
        precision,
        ..Fault::new(name, change)
    }
}

fn sums(call: &Call, element: Element) -> Option<HostTensor> {
    let total = |terms: &mut dyn Iterator<Item = f64>| {
        terms.fold(0.0, |sum: f64, term| {
            element.round(sum + element.round(term))
        })
    };
    let x = call.tensor(0)?;
    match call.operator {
        Operator::Sum | Operator::Mean => {
            let (shape, lines) = match call.attributes.dim {
                None => (Vec::new(), x.reshaped([1, x.len()])),
                Some(1) => (vec![x.shape[0]], x.clone()),
                _ => (vec![x.shape[1]], x.permuted(&[1, 0])),
            };
            let width = lines.shape[1];
            let mean = if call.operator == Operator::Mean {
                width as f64
            } else {
                1.0
            };
            let values = lines
                .values
                .chunks(width.max(1))
                .map(|line| total(&mut line.iter().copied()) / mean)
                .collect();
            Some(HostTensor::new(shape, element, values))
        }
        Operator::WeightedSum => {
            let rows = call.tensor(1)?;
            let columns = rows.shape[1];
            let of = |column: usize| {
                total(
                    &mut x
                        .values
                        .iter()
                        .enumerate()
                        .map(|(row, weight)| weight * rows.values[row * columns + column]),
                )
            };
            Some(HostTensor::new(
                [columns],
                element,
                (0..columns).map(of).collect(),
            ))
        }
        _ => product(x, call.tensor(1)?, element, total),
    }
}

fn product(
    left: &HostTensor,
    right: &HostTensor,
    element: Element,
    total: impl Fn(&mut dyn Iterator<Item = f64>) -> f64,
) -> Option<HostTensor> {
    let [.., rows, inner] = *left.shape else {
        return None;
    };
    let [.., columns] = *right.shape else {
        return None;
    };
    let batches = left.len() / (rows * inner);
    let mut values = Vec::new();
    for (batch, row, column) in (0..batches * rows)
        .flat_map(|row| (0..columns).map(move |column| (row / rows, row, column)))
    {
        let term = |index: usize| {
            left.values[row * inner + index]
                * right.values[(batch * inner + index) * columns + column]
        };
        values.push(total(&mut (0..inner).map(term)));
    }
    let shape = [&left.shape[..left.shape.len() - 1], &[columns]].concat();
    Some(HostTensor::new(shape, element, values))
}
