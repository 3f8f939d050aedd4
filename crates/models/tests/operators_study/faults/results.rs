//! Faults in results: elements that are not written, shifted, rounded, or lost.

use super::{Computation, Fault};
use std::cell::Cell;
use testgen_operators::calls::{Call, Element, Execute, HostTensor};
use testgen_types::{Operator, OperatorGroup};

/// Faults of an operator's results.
pub(super) fn for_operator(operator: Operator) -> Vec<Fault> {
    let mut faults = vec![
        changed("the last element is not written", |tensor| {
            let last = tensor.values.len().checked_sub(1)?;
            tensor.values[last] = if tensor.element == Element::Bool {
                1.0 - tensor.values[last]
            } else {
                0.0
            };
            Some(())
        }),
        changed("the elements are shifted by one", |tensor| {
            (tensor.len() > 1).then(|| tensor.values.rotate_right(1))
        }),
        changed("an element is off by a hundredth", |tensor| {
            let middle = tensor.len() / 2;
            let value = tensor.values.get_mut(middle)?;
            *value = match tensor.element {
                Element::Bool => 1.0 - *value,
                Element::I32 => *value + 1.0,
                _ => *value * 1.01 + 1e-3,
            };
            Some(())
        }),
        every_second_call(),
    ];
    if operator.group() == OperatorGroup::Comparison {
        return faults;
    }
    faults.push(changed("the mantissa has 8 bits", |tensor| {
        every(tensor, |value| Element::Bf16.round(value))
    }));
    // PyTorch refuses numbers outside of 0 to 1.
    if operator != Operator::BceLoss {
        faults.push(changed("NaN becomes zero", |tensor| {
            every(tensor, |value| if value.is_nan() { 0.0 } else { value })
        }));
    }
    faults.push(changed("the last element is off by one bit", |tensor| {
        let last = tensor
            .values
            .last_mut()
            .filter(|_| tensor.element == Element::F32)?;
        *last = f64::from((*last as f32).next_up());
        Some(())
    }));
    if keeps_numbers(operator) {
        faults.push(changed("subnormal numbers become zero", |tensor| {
            let normal = tensor.element.smallest_normal();
            every(tensor, |value| {
                if value.abs() < normal {
                    0.0 * value
                } else {
                    value
                }
            })
        }));
        faults.push(changed("infinities become the largest number", |tensor| {
            let largest = tensor.element.largest();
            every(tensor, |value| value.clamp(-largest, largest))
        }));
    }
    faults
}

/// Whether results are numbers of the inputs, or exact functions of them.
fn keeps_numbers(operator: Operator) -> bool {
    use Operator::*;
    let exact = matches!(
        operator,
        Add | Sub
            | Neg
            | Abs
            | MaxBinary
            | MinBinary
            | Maximum
            | Minimum
            | Where
            | Relu
            | Dropout
            | Max
            | Min
            | Transpose
    );
    exact
        || matches!(
            operator.group(),
            OperatorGroup::Movement | OperatorGroup::Indexing
        )
}

/// A fault that changes floats alone.
fn every(tensor: &mut HostTensor, of: impl Fn(f64) -> f64) -> Option<()> {
    tensor.element.is_float().then(|| {
        tensor
            .values
            .iter_mut()
            .for_each(|value| *value = of(*value))
    })
}

/// A fault that changes the elements of every result.
fn changed(name: &'static str, change: fn(&mut HostTensor) -> Option<()>) -> Fault {
    Fault::new(
        name,
        move |device: &dyn Execute, call: &Call| -> Option<Computation> {
            let mut computed = device.execute(call).ok()?;
            change(&mut computed.tensor)?;
            Some(Ok(computed))
        },
    )
}

fn every_second_call() -> Fault {
    let calls = Cell::new(0);
    Fault::new(
        "every second call differs",
        move |device: &dyn Execute, call: &Call| -> Option<Computation> {
            calls.set(calls.get() + 1);
            let mut computed = device.execute(call).ok().filter(|_| calls.get() % 2 == 0)?;
            let last = computed.tensor.values.last_mut()?;
            *last = match computed.tensor.element {
                Element::F32 => f64::from((*last as f32).next_up()),
                _ => 1.0 - *last,
            };
            Some(Ok(computed))
        },
    )
}
