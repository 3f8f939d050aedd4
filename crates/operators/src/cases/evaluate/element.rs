//! One element of a computed tensor, and how far it is from its reference.

use crate::cases::{number::BoundedNumber, reference::Reference};

/// One element of both sides.
pub(super) struct ElementPair {
    pub(super) expected: BoundedNumber,
    pub(super) got: f64,
    /// Bound / error; infinite where both are equal, 0 where one is not finite.
    pub(super) headroom: f64,
    /// Whether the errors can be measured: both are finite.
    pub(super) finite: bool,
}

impl ElementPair {
    pub(super) fn new(reference: &Reference, expected: BoundedNumber, got: f64) -> Self {
        // A number beyond the largest one of the type is an infinity on the device.
        let rounded = reference.element.round(expected.value);
        let finite = rounded.is_finite() && got.is_finite();
        let headroom = if finite {
            let error = (got - expected.value).abs();
            let zeros = expected.value == 0.0 && got == 0.0 && reference.signed_zeros;
            match (error, expected.error) {
                _ if zeros && expected.value.is_sign_negative() != got.is_sign_negative() => 0.0,
                // Not bound / error: of an exact element that is NaN.
                (0.0, _) => f64::INFINITY,
                (error, bound) => bound / error,
            }
        } else if is_same_number(rounded, got) || overflows(reference, expected, got) {
            f64::INFINITY
        } else {
            0.0
        };
        Self {
            expected,
            got,
            headroom,
            finite,
        }
    }

    pub(super) fn error(&self) -> f64 {
        if self.finite {
            self.got - self.expected.value
        } else {
            0.0
        }
    }

    pub(super) fn is_wrong(&self) -> bool {
        self.headroom < 1.0
    }
}

/// Whether the bound reaches over the largest number.
fn overflows(reference: &Reference, expected: BoundedNumber, got: f64) -> bool {
    // One side may then be infinite while the other is finite.
    let largest = reference.element.largest();
    let edge = expected.value.abs() - largest;
    !got.is_nan()
        && !expected.value.is_nan()
        && expected.value.is_sign_negative() == got.is_sign_negative()
        && expected.value.is_finite()
        && edge.abs() <= expected.error
        && (got.is_infinite() || got.abs() >= largest - expected.error)
}

fn is_same_number(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan()
}
