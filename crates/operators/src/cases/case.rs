//! A case: a call with a name, made from the sizes of a shape.

use crate::{
    calls::{Attributes, Call, Element, HostTensor},
    cases::values::XorShift64,
};
use testgen_types::Operator;

/// A call with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The variant, for instance `dim 1`; empty if the operator has one only.
    pub variant: String,
    /// The call.
    pub call: Call,
}

impl Case {
    /// A case of an operator without variants.
    pub(crate) fn new(call: Call) -> Self {
        Self {
            variant: String::new(),
            call,
        }
    }

    /// A case of a variant.
    pub(crate) fn named(variant: impl Into<String>, call: Call) -> Self {
        Self {
            variant: variant.into(),
            call,
        }
    }

    /// Whether an input has no elements.
    pub fn is_empty(&self) -> bool {
        self.call
            .inputs
            .iter()
            .any(|input| input.tensor.shape.contains(&0))
    }

    /// The shapes of the inputs and the variant, for messages.
    pub fn description(&self) -> String {
        let shapes = self.call.shapes();
        if self.variant.is_empty() {
            shapes
        } else {
            format!("{shapes}, {}", self.variant)
        }
    }
}

/// The sizes of a shape, and the source of the numbers of inputs.
pub(crate) struct CaseSizes<'a> {
    /// The operator.
    pub operator: Operator,
    /// The sizes, as [`Operator::sizes`] names them.
    pub sizes: &'a [usize],
    /// The type of float inputs.
    pub element: Element,
}

impl CaseSizes<'_> {
    /// A call of the operator.
    pub(crate) fn call(&self, inputs: Vec<HostTensor>, attributes: Attributes) -> Call {
        Call::new(self.operator, inputs, attributes)
    }

    /// Random numbers for input `index`.
    pub(crate) fn random(&self, index: usize) -> XorShift64 {
        XorShift64::new(self.operator.as_str(), index)
    }

    /// Numbers from `low` to `high` for input `index`.
    pub(crate) fn floats(&self, index: usize, shape: &[usize], limits: [f64; 2]) -> HostTensor {
        self.random(index).floats(shape, self.element, limits)
    }

    /// Numbers from -1 to 1 for input `index`: products and sums of them stay small.
    pub(crate) fn factors(&self, index: usize, shape: &[usize]) -> HostTensor {
        self.floats(index, shape, [-1.0, 1.0])
    }
}
