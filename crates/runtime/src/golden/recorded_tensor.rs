//! A result of the model as a golden has it: all its values, or their summary.

use super::summary::RecordedSummary;
use std::borrow::Cow;
use testgen_nn::array::Array;

/// A recorded result. A golden of a large model has the summary of each large one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RecordedTensor {
    /// All values.
    Whole(Array),
    /// Signed sums of the values of each row.
    Summary(RecordedSummary),
}

impl RecordedTensor {
    /// The shape of the result.
    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Self::Whole(array) => array.shape(),
            Self::Summary(summary) => &summary.shape,
        }
    }

    /// All values, or `None` where only their summary is recorded.
    pub(crate) fn whole(&self) -> Option<&Array> {
        match self {
            Self::Whole(array) => Some(array),
            Self::Summary(_) => None,
        }
    }

    /// Whether the result holds floats.
    pub(crate) fn holds_floats(&self) -> bool {
        self.whole().is_none_or(|array| array.as_floats().is_some())
    }

    /// The largest absolute value of the result; 0 if it does not hold floats.
    pub(crate) fn largest(&self) -> f64 {
        match self {
            Self::Whole(array) => array
                .as_floats()
                .unwrap_or_default()
                .iter()
                .fold(0.0, |largest, value| largest.max(f64::from(value.abs()))),
            Self::Summary(summary) => summary.largest,
        }
    }

    /// Whether rows and positions of these leading dimensions can be selected from the recorded
    /// numbers.
    pub(crate) fn keeps(&self, dimensions: &[usize]) -> bool {
        match self {
            Self::Whole(array) => array.shape().starts_with(dimensions),
            Self::Summary(summary) => summary.rows().starts_with(dimensions),
        }
    }

    /// The recorded numbers, and the same numbers of `got`; `None` if `got` has another shape, or
    /// does not hold floats where the record does.
    pub(crate) fn beside<'a>(&'a self, got: &'a Array) -> Option<[Cow<'a, Array>; 2]> {
        let same_kind = self.holds_floats() == got.as_floats().is_some();
        if self.shape() != got.shape() || !same_kind {
            return None;
        }
        Some(match self {
            Self::Whole(array) => [Cow::Borrowed(array), Cow::Borrowed(got)],
            Self::Summary(summary) => [
                Cow::Borrowed(&summary.sums),
                Cow::Owned(summary.same_of(got)),
            ],
        })
    }

    /// The entry `index` of dimension 1, without that dimension; `None` where the recorded numbers
    /// have no such dimension.
    pub(crate) fn at_step(&self, index: usize) -> Option<Self> {
        let (numbers, shape) = match self {
            Self::Whole(array) => (array, array.shape()),
            Self::Summary(summary) => (&summary.sums, summary.shape.as_slice()),
        };
        let without_steps = |shape: &[usize]| [&shape[..1], &shape[2..]].concat();
        if numbers.shape().len() != shape.len() || shape.len() < 2 || index >= shape[1] {
            return None;
        }
        let part = numbers.narrow(1, index, 1);
        let part = part.reshaped(&without_steps(numbers.shape()));
        Some(match self {
            Self::Whole(_) => Self::Whole(part),
            Self::Summary(summary) => Self::Summary(RecordedSummary {
                shape: without_steps(shape),
                largest: summary.largest,
                sums: part,
            }),
        })
    }
}
