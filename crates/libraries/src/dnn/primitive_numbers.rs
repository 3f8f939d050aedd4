//! The numbers for softmax and reductions, which are the same in cuDNN and MIOpen.
//! `tests/declarations` compares them with both published headers.

use crate::primitive::PrimitiveReduction;
use std::ffi::c_int;

/// A number with the part of its name that reports show.
pub type NamedNumber = (c_int, &'static str);

/// The numbers that both libraries have.
#[derive(Debug, Clone, Copy)]
pub struct PrimitiveNumbers;

impl PrimitiveNumbers {
    /// The softmax without the maximum.
    pub const SOFTMAX_FAST: NamedNumber = (0, "FAST");
    /// The softmax that subtracts the maximum first.
    pub const SOFTMAX_ACCURATE: NamedNumber = (1, "ACCURATE");
    /// The logarithm of the softmax.
    pub const SOFTMAX_LOG: NamedNumber = (2, "LOG");
    /// The softmax over all dimensions but the first.
    pub const INSTANCE: NamedNumber = (0, "INSTANCE");
    /// The softmax over the second dimension.
    pub const CHANNEL: NamedNumber = (1, "CHANNEL");
    /// NaN of the input is NaN in the result.
    pub const PROPAGATE_NAN: c_int = 1;
    /// A reduction does not return the place of an extreme.
    pub const NO_INDICES: c_int = 0;
    /// The type of places.
    pub const INDICES_32BIT: c_int = 0;

    /// The operation of a reduction.
    pub const fn reduction(reduction: PrimitiveReduction) -> NamedNumber {
        match reduction {
            PrimitiveReduction::Sum => (0, "ADD"),
            PrimitiveReduction::Product => (1, "MUL"),
            PrimitiveReduction::Min => (2, "MIN"),
            PrimitiveReduction::Max => (3, "MAX"),
            PrimitiveReduction::LargestMagnitude => (4, "AMAX"),
            PrimitiveReduction::Mean => (5, "AVG"),
            PrimitiveReduction::Norm1 => (6, "NORM1"),
            PrimitiveReduction::Norm2 => (7, "NORM2"),
        }
    }
}
