//! Seeded faults of large sizes.

mod inputs;
mod runs;
mod values;

use testgen_operators::calls::{PeriodicCall, PeriodicResult};
use testgen_types::{Operator, Precision};

/// A fault with the shape on which it is seeded.
pub(crate) struct LargeFault {
    pub(crate) name: &'static str,
    pub(crate) operator: Operator,
    pub(crate) sizes: &'static [usize],
    pub(crate) precision: Precision,
    pub(crate) change: Change,
}

/// The difference of a faulty device from a right one.
pub(crate) enum Change {
    /// It reads other inputs.
    Inputs(fn(&mut PeriodicCall)),
    /// It writes other elements of a result of this shape.
    Values(fn(&[usize], &mut Vec<f32>)),
    /// It writes other elements in some runs.
    State(fn(&State, &mut Vec<f32>)),
    /// It returns another tensor.
    Result(fn(&mut PeriodicResult, &mut Vec<f32>)),
    /// It sums in two parts, whose terms are selected by the second argument.
    Sums(fn(&mut PeriodicCall, bool)),
}

/// A run of a case.
pub(crate) struct State {
    /// The number of earlier runs.
    pub(crate) run: usize,
    /// The number of other calls so far.
    pub(crate) others: usize,
    /// The number of the thread, in the order of their first runs.
    pub(crate) stream: usize,
    /// Whether the memory of the result was filled with NaN.
    pub(crate) filled: bool,
}

/// Every fault.
pub(crate) fn all() -> Vec<LargeFault> {
    [inputs::all(), values::all(), runs::all()]
        .into_iter()
        .flatten()
        .collect()
}

/// A fault of `operator`: the last row is not written.
pub(crate) fn without_last_row(operator: Operator) -> LargeFault {
    let change = |shape: &[usize], values: &mut Vec<f32>| {
        let width = shape.last().copied().unwrap_or(1);
        values
            .iter_mut()
            .rev()
            .take(width)
            .for_each(|value| *value = f32::NAN);
    };
    LargeFault::new(
        "the last row is not written",
        operator,
        &[],
        Change::Values(change),
    )
}

impl LargeFault {
    /// A fault in f32.
    fn new(
        name: &'static str,
        operator: Operator,
        sizes: &'static [usize],
        change: Change,
    ) -> Self {
        Self {
            name,
            operator,
            sizes,
            precision: Precision::F32,
            change,
        }
    }
}
