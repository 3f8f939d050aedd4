//! Results that depend on memory, on earlier work and on other streams, and results of another
//! kind.

use super::{Change, LargeFault, State};
use testgen_operators::calls::{Element, PeriodicResult};
use testgen_types::{
    DeviceKind,
    Operator::{self, Add, Matmul, ScaledDotProductAttention, Softmax, Sum},
};

const PRODUCT: &[usize] = &[45, 4097, 53];
const SUMMANDS: &[usize] = &[2001, 41];

pub(super) fn all() -> Vec<LargeFault> {
    [states(), kinds()].into_iter().flatten().collect()
}

/// Runs that differ.
fn states() -> Vec<LargeFault> {
    vec![
        large_fault(
            "the last row keeps what its memory held",
            Matmul,
            PRODUCT,
            |state, values| {
                if state.filled {
                    values
                        .iter_mut()
                        .rev()
                        .take(53)
                        .for_each(|value| *value = f32::NAN);
                }
            },
        ),
        large_fault(
            "a run after other work is off by one bit",
            Matmul,
            PRODUCT,
            |state, values| {
                if state.others > 0 {
                    one_bit(values);
                }
            },
        ),
        large_fault(
            "a run after other work is not finite",
            ScaledDotProductAttention,
            &[1, 2, 7, 1025, 16],
            |state, values| {
                if state.others > 0 {
                    values
                        .iter_mut()
                        .take(1)
                        .for_each(|first| *first = f32::NAN);
                }
            },
        ),
        large_fault(
            "every second run is off by one bit",
            Softmax,
            &[41, 1031],
            |state, values| {
                if state.run % 2 == 1 {
                    one_bit(values);
                }
            },
        ),
        large_fault(
            "the third stream is off by one bit",
            Sum,
            SUMMANDS,
            |state, values| {
                if state.stream == 2 {
                    one_bit(values);
                }
            },
        ),
        large_fault(
            "streams other than the first write to other rows",
            Add,
            SUMMANDS,
            |state, values| {
                if state.stream > 0 {
                    values.copy_within(..41, 41);
                }
            },
        ),
    ]
}

/// Results that are not the whole, or of another kind.
fn kinds() -> Vec<LargeFault> {
    let large_fault = |name, change: fn(&mut PeriodicResult, &mut Vec<f32>)| {
        LargeFault::new(name, Add, SUMMANDS, Change::Result(change))
    };
    vec![
        large_fault("the last rows are not returned", |_, values| {
            values.truncate(2000 * 41)
        }),
        large_fault("the result has another shape", |result, _| {
            result.shape.reverse()
        }),
        large_fault("the result has another type", |result, _| {
            result.element = Element::F16
        }),
        large_fault("the result is on another device", |result, _| {
            result.device = DeviceKind::Cuda
        }),
    ]
}

fn large_fault(
    name: &'static str,
    operator: Operator,
    sizes: &'static [usize],
    change: fn(&State, &mut Vec<f32>),
) -> LargeFault {
    LargeFault::new(name, operator, sizes, Change::State(change))
}

fn one_bit(values: &mut [f32]) {
    values
        .iter_mut()
        .rev()
        .take(1)
        .for_each(|last| *last = last.next_up());
}
