//! A stress case: a call on repeated inputs.

use super::{
    memory,
    period::{self, Period},
    result, tail,
};
use crate::{
    calls::{Element, PeriodicCall},
    cases::{
        arithmetic::Arithmetic, case::Case, group::reference, reference::Reference, sizes::cases,
    },
};
use testgen_types::{Operator, OperatorGroup};

/// A call on repeated inputs, with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct StressCase {
    /// The variant of the operator, for instance `dim 1`; empty if it has one only.
    pub variant: String,
    /// The call.
    pub call: PeriodicCall,
    /// The shape of one period of the result.
    pub period: Vec<usize>,
    /// Multiplications and additions, or for operators without sums about as many operations.
    pub work: u64,
}

impl StressCase {
    /// The operator.
    pub fn operator(&self) -> Operator {
        self.call.call.operator
    }

    /// The shapes on the device and the variant, for messages.
    pub fn description(&self) -> String {
        let shapes = self.call.description();
        if self.variant.is_empty() {
            shapes
        } else {
            format!("{shapes}, {}", self.variant)
        }
    }

    /// An estimate of the bytes that one run holds at a time: inputs, result, and what the operator
    /// needs besides.
    pub fn bytes(&self) -> u64 {
        memory::bytes(&self.call)
    }

    /// The type of the result.
    pub(super) fn reference_element(&self, arithmetic: Arithmetic) -> Element {
        match self.operator().group() {
            OperatorGroup::Comparison => Element::Bool,
            _ => arithmetic.element(),
        }
    }

    /// The reference of one period.
    pub(super) fn reference(&self, arithmetic: Arithmetic) -> Reference {
        reference(&self.call.call, arithmetic)
    }
}

/// Every stress case of `operator` for `sizes`, on inputs of type `element`: the variants whose
/// results repeat with their inputs. Empty if there is none.
pub fn stress_cases(operator: Operator, sizes: &[usize], element: Element) -> Vec<StressCase> {
    period::periods(operator, sizes)
        .into_iter()
        .flat_map(|period| {
            let all = cases(operator, &period.sizes, element).into_iter();
            let periodic = all
                .filter(|case| period::is_periodic(operator, case, &period))
                .collect::<Vec<_>>();
            periodic
                .into_iter()
                .filter_map(|case| repeated(operator, case, &period, sizes))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn repeated(
    operator: Operator,
    mut case: Case,
    period: &Period,
    sizes: &[usize],
) -> Option<StressCase> {
    let whole = |shape: &[usize], tensor: usize| -> Vec<usize> {
        let lengths = shape.iter().enumerate();
        lengths
            .map(|(dim, length)| match may_repeat(operator, tensor, dim) {
                true => whole_length(*length, period, sizes),
                false => *length,
            })
            .collect()
    };
    let inputs = case.call.inputs.iter().enumerate();
    let shapes: Vec<Vec<usize>> = inputs
        .map(|(index, input)| whole(&input.tensor.shape, index))
        .collect();
    tail::emphasise(&mut case.call);
    let own = result::shape(&case.call)?;
    let result = whole(&own, 0);
    let call = PeriodicCall {
        call: case.call,
        shapes,
        result,
        fill: true,
        every: 1,
    };
    Some(StressCase {
        variant: case.variant,
        work: memory::work(&call),
        call,
        period: own,
    })
}

/// Whether a dimension of an input may repeat a period.
fn may_repeat(operator: Operator, tensor: usize, dim: usize) -> bool {
    // Only batch and channels of an image: its other lengths may belong to a period.
    match operator.group() {
        OperatorGroup::Convolution => tensor == 0 && dim == 0,
        OperatorGroup::Pooling => dim < 2,
        _ => true,
    }
}

/// The length in the whole call of a dimension that has `length` in the period's call.
fn whole_length(length: usize, period: &Period, sizes: &[usize]) -> usize {
    (0..sizes.len())
        // The repeated lengths of a case differ, so that a length shows which size it repeats.
        .find(|index| period.sizes[*index] != sizes[*index] && period.sizes[*index] == length)
        .map_or(length, |index| sizes[index])
}
