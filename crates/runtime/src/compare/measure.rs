//! The two error measures, computed in f64.

/// How far a tensor is from its reference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MeasuredError {
    /// |d| / |ref| over the elements that are finite in both.
    pub(crate) rel_l2: f64,
    /// max |d| / max |ref| over the elements that are finite in both.
    pub(crate) max_rel: f64,
    /// max |d|.
    pub(crate) max_difference: f64,
    /// Elements that are NaN or infinite in one tensor and not equally in the other.
    pub(crate) non_finite: usize,
    /// The first of them, row-major.
    pub(crate) first_non_finite: Option<usize>,
}

/// Measures `values` against `reference`, element by element. Both have the same length.
pub(crate) fn measure(reference: &[f32], values: &[f32]) -> MeasuredError {
    let mut sums = ErrorSums::default();
    let (mut non_finite, mut first_non_finite) = (0, None);
    for (flat, (&expected, &got)) in reference.iter().zip(values).enumerate() {
        // Infinity in a sum would make every ratio infinite or NaN, and hide how far off the other
        // elements are.
        if expected.is_finite() && got.is_finite() {
            sums.add(expected.into(), got.into());
        } else if !(expected == got || (expected.is_nan() && got.is_nan())) {
            non_finite += 1;
            first_non_finite = first_non_finite.or(Some(flat));
        }
    }
    MeasuredError {
        rel_l2: ratio(
            sums.difference_squared.sqrt(),
            sums.reference_squared.sqrt(),
        ),
        max_rel: ratio(sums.difference_max, sums.reference_max),
        max_difference: sums.difference_max,
        non_finite,
        first_non_finite,
    }
}

#[derive(Default)]
struct ErrorSums {
    difference_squared: f64,
    difference_max: f64,
    reference_squared: f64,
    reference_max: f64,
}

impl ErrorSums {
    fn add(&mut self, expected: f64, got: f64) {
        let difference = (got - expected).abs();
        self.difference_squared += difference * difference;
        self.difference_max = self.difference_max.max(difference);
        self.reference_squared += expected * expected;
        self.reference_max = self.reference_max.max(expected.abs());
    }
}

/// 0 / 0 counts as 0: output and reference are both zero. Any difference from a reference of zero
/// is an infinite error.
fn ratio(difference: f64, reference: f64) -> f64 {
    if difference == 0.0 {
        0.0
    } else {
        difference / reference
    }
}
