//! A call on large inputs that repeat a small one: the host holds one period, the device the whole.

use crate::calls::{call::Call, element::Element};
use testgen_types::DeviceKind;

/// A call whose inputs repeat the inputs of a small call along some dimensions.
///
/// The host holds one period of each input; the device tensor is made from it by repetition on the
/// device, so that an input of gigabytes needs no memory of the host. A dimension need not have
/// whole periods: the last one is cut.
#[derive(Debug, Clone, PartialEq)]
pub struct PeriodicCall {
    /// The operator with one period of each input, and its attributes.
    pub call: Call,
    /// The shape of each input on the device; of the rank of its period.
    pub shapes: Vec<Vec<usize>>,
    /// The shape of the result.
    pub result: Vec<usize>,
    /// Whether memory of the size of the result is filled with NaN and released before the operator
    /// runs, so that the allocator returns it for the result.
    pub fill: bool,
    /// Of the pieces of the result, each `every`-th one and the last one are read; 1 reads all.
    pub every: usize,
}

impl PeriodicCall {
    /// The shapes on the device, for messages.
    pub fn description(&self) -> String {
        let shapes: Vec<String> = self
            .shapes
            .iter()
            .map(|shape| format!("{shape:?}"))
            .collect();
        shapes.join(" ")
    }
}

/// A piece of a result: neighbours in row-major order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece<'p> {
    /// The flat index of the first element.
    pub first: usize,
    /// The elements; f32 has every number of the floating-point types, booleans are 0 and 1.
    pub values: &'p [f32],
}

/// A result whose elements were read piece by piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeriodicResult {
    /// The shape of the whole.
    pub shape: Vec<usize>,
    /// The type of its elements.
    pub element: Element,
    /// The kind of device that the tensor was on.
    pub device: DeviceKind,
}
