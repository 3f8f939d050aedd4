//! Comparing a tensor with its reference in f64.
//!
//! In this order: the shapes, the positions of NaN and infinity, then |d| / |ref| and max |d| / max
//! |ref|. Knows nothing of models and goldens.

mod measure;

pub(crate) use measure::{MeasuredError, measure};

use crate::tolerance::Threshold;
use std::fmt;
use testgen_nn::array::Array;
use testgen_types::{OutputError, WorstElement};

/// The headroom of a zero error, and the largest that is reported.
// JSON has no infinity.
const LARGEST_HEADROOM: f64 = 1e6;
/// Elements reported for a tensor that fails.
const WORST: usize = 5;

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TensorComparison {
    /// For the report. JSON has neither NaN nor infinity, so they are replaced by the largest
    /// number here; the failure has the original values.
    pub(crate) error: OutputError,
    /// Why the tensors do not agree, or `None` if they do.
    pub(crate) failure: Option<Mismatch>,
}

/// Why two tensors do not agree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mismatch {
    /// They have different shapes.
    Shape {
        /// The shape of the reference.
        expected: Vec<usize>,
        /// The computed shape.
        got: Vec<usize>,
    },
    /// One of them does not hold floats.
    Type,
    /// NaN or infinity in place of another value of the reference, or the other way round.
    NonFinite {
        /// How many elements.
        count: usize,
        /// The first of them.
        first: ComparedElement,
    },
    /// NaN in both of two runs, neither of which is a reference.
    NanInBoth {
        /// How many elements.
        count: usize,
        /// One index per dimension of the first of them.
        first: Vec<usize>,
    },
    /// The errors are above the threshold.
    TooFar {
        /// The element with the largest error.
        worst: ComparedElement,
        /// The errors.
        measured: MeasuredError,
        /// The largest errors that pass.
        threshold: Threshold,
    },
}

/// One element of both tensors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ComparedElement {
    /// One index per dimension.
    pub(crate) index: Vec<usize>,
    /// The value of the reference.
    pub(crate) expected: f32,
    /// The computed value.
    pub(crate) got: f32,
}

/// Compares `got` with `expected`; errors up to and including the threshold pass.
pub(crate) fn compare(
    name: &str,
    expected: &Array,
    got: &Array,
    threshold: Threshold,
) -> TensorComparison {
    let same_shape = expected.shape() == got.shape();
    // Shapes first: without equal shapes no element has a counterpart, and every distance would be
    // arbitrary.
    let (true, Some(reference), Some(values)) = (same_shape, expected.as_floats(), got.as_floats())
    else {
        return incomparable(name, expected.shape(), got, threshold);
    };
    let measured = measure(reference, values);
    let failure = evaluate(expected.shape(), reference, values, &measured, threshold);
    // Only then: it sorts all elements, and a report of a pass does not show them.
    let worst = if failure.is_some() {
        worst(expected.shape(), reference, values)
    } else {
        Vec::new()
    };
    let error = OutputError {
        name: name.to_owned(),
        // The measured errors leave out elements that are not finite, so they could look small.
        rel_l2: if measured.non_finite > 0 {
            f64::MAX
        } else {
            finite(measured.rel_l2)
        },
        max_rel: if measured.non_finite > 0 {
            f64::MAX
        } else {
            finite(measured.max_rel)
        },
        rel_l2_threshold: threshold.rel_l2,
        max_rel_threshold: threshold.max_rel,
        headroom: headroom(&measured, threshold),
        non_finite: measured.non_finite as u64,
        worst,
    };
    TensorComparison { error, failure }
}

/// Like [`compare`], for two runs of which neither is a reference: nothing says that NaN in both is
/// right.
pub(crate) fn compare_runs(
    name: &str,
    expected: &Array,
    got: &Array,
    threshold: Threshold,
) -> TensorComparison {
    let comparison = compare(name, expected, got, threshold);
    // Only after a pass: a failure of the ordinary comparison names its own element.
    let nan = nan_in_both(expected, got).filter(|_| comparison.failure.is_none());
    let Some((count, first)) = nan else {
        return comparison;
    };
    let error = OutputError {
        non_finite: count as u64,
        ..without_distance(name, threshold)
    };
    TensorComparison {
        error,
        failure: Some(Mismatch::NanInBoth { count, first }),
    }
}

/// The number of elements that are NaN in both tensors, and the position of the first, or `None`
/// without any.
fn nan_in_both(expected: &Array, got: &Array) -> Option<(usize, Vec<usize>)> {
    let pairs = expected.as_floats()?.iter().zip(got.as_floats()?);
    let mut found = pairs
        .enumerate()
        .filter(|(_, (one, other))| one.is_nan() && other.is_nan());
    let (first, _) = found.next()?;
    Some((1 + found.count(), unravel(expected.shape(), first)))
}

/// The comparison of `got` with a reference of another shape, or of another type.
pub(crate) fn incomparable(
    name: &str,
    expected: &[usize],
    got: &Array,
    threshold: Threshold,
) -> TensorComparison {
    // Only the type can differ if the shapes are equal.
    let failure = if expected == got.shape() {
        Mismatch::Type
    } else {
        Mismatch::Shape {
            expected: expected.to_vec(),
            got: got.shape().to_vec(),
        }
    };
    TensorComparison {
        error: without_distance(name, threshold),
        failure: Some(failure),
    }
}

fn evaluate(
    shape: &[usize],
    reference: &[f32],
    values: &[f32],
    measured: &MeasuredError,
    threshold: Threshold,
) -> Option<Mismatch> {
    let element = |flat: usize| ComparedElement {
        index: unravel(shape, flat),
        expected: reference[flat],
        got: values[flat],
    };
    if let Some(first) = measured.first_non_finite {
        return Some(Mismatch::NonFinite {
            count: measured.non_finite,
            first: element(first),
        });
    }
    // Written as `<=`, so that a NaN error fails.
    let within = measured.rel_l2 <= threshold.rel_l2 && measured.max_rel <= threshold.max_rel;
    if within {
        return None;
    }
    // One element is enough for the message; the report has the others.
    let furthest = furthest(reference, values, 1).first().copied().unwrap_or(0);
    Some(Mismatch::TooFar {
        worst: element(furthest),
        measured: measured.clone(),
        threshold,
    })
}

/// The report entry of tensors without a distance.
fn without_distance(name: &str, threshold: Threshold) -> OutputError {
    // There is no distance where shape or type differ.
    OutputError {
        name: name.to_owned(),
        // Not zero, which would read as a perfect result in a table.
        rel_l2: f64::MAX,
        max_rel: f64::MAX,
        rel_l2_threshold: threshold.rel_l2,
        max_rel_threshold: threshold.max_rel,
        headroom: 0.0,
        non_finite: 0,
        worst: Vec::new(),
    }
}

/// threshold / error in the measure that has the smaller ratio.
fn headroom(measured: &MeasuredError, threshold: Threshold) -> f64 {
    // The tighter of the two measures is the one that fails first.
    let smaller =
        ratio(threshold.rel_l2, measured.rel_l2).min(ratio(threshold.max_rel, measured.max_rel));
    if measured.non_finite > 0 {
        0.0
    } else {
        smaller.min(LARGEST_HEADROOM)
    }
}

fn worst(shape: &[usize], reference: &[f32], values: &[f32]) -> Vec<WorstElement> {
    furthest(reference, values, WORST)
        .into_iter()
        .map(|flat| WorstElement {
            index: unravel(shape, flat),
            expected: finite(reference[flat].into()),
            got: finite(values[flat].into()),
        })
        .collect()
}

/// The elements with the largest errors, largest first.
fn furthest(reference: &[f32], values: &[f32], count: usize) -> Vec<usize> {
    // An element that is NaN or infinite on one side only comes first.
    let distance = |flat: &usize| {
        let (expected, got) = (f64::from(reference[*flat]), f64::from(values[*flat]));
        // Equal infinities have a difference of NaN.
        if expected == got || (expected.is_nan() && got.is_nan()) {
            0.0
        } else {
            finite((expected - got).abs())
        }
    };
    let mut order: Vec<usize> = (0..reference.len())
        .filter(|flat| distance(flat) > 0.0)
        .collect();
    // By index where errors are equal, so that reports of two runs do not differ.
    order.sort_by(|a, b| distance(b).total_cmp(&distance(a)).then(a.cmp(b)));
    order.truncate(count);
    order
}

fn unravel(shape: &[usize], mut flat: usize) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (component, length) in index.iter_mut().zip(shape).rev() {
        *component = flat % length;
        flat /= length;
    }
    index
}

/// Replaces NaN and infinity by the largest number with that sign.
fn finite(value: f64) -> f64 {
    if value.is_nan() {
        f64::MAX
    } else {
        value.clamp(f64::MIN, f64::MAX)
    }
}

impl fmt::Display for ComparedElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?}: expected {}, got {}",
            self.index, self.expected, self.got
        )
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape { expected, got } => {
                write!(f, "its shape is {got:?}, expected {expected:?}")
            }
            Self::Type => write!(f, "it does not hold floats"),
            Self::NonFinite { count, first } => {
                write!(
                    f,
                    "NaN or infinity differs from the reference in {count} elements, first at {first}"
                )
            }
            Self::NanInBoth { count, first } => {
                write!(
                    f,
                    "{count} elements are NaN in both runs, first at {first:?}"
                )
            }
            Self::TooFar {
                worst,
                measured,
                threshold,
            } => write!(
                f,
                "error rel-L2 {:.3e} (threshold {:.3e}), max {:.3e} (threshold {:.3e}); furthest off at {worst}",
                measured.rel_l2, threshold.rel_l2, measured.max_rel, threshold.max_rel
            ),
        }
    }
}

#[cfg(test)]
mod tests;

fn ratio(threshold: f64, error: f64) -> f64 {
    if error == 0.0 {
        LARGEST_HEADROOM
    } else {
        threshold / error
    }
}
