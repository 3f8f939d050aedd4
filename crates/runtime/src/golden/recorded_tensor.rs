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
        // A summary always holds floats: `SummaryEntry::of` refuses anything else.
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

    /// Whether a recorded number is NaN.
    pub(crate) fn has_nan(&self) -> bool {
        let numbers = match self {
            Self::Whole(array) => array,
            Self::Summary(summary) => &summary.sums,
        };
        numbers
            .as_floats()
            .is_some_and(|values| values.iter().any(|value| value.is_nan()))
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
        // Integers where floats were recorded are another result, even if their values agree.
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
        // Sums over several steps at once lack the dimension of steps.
        if numbers.shape().len() != shape.len() || shape.len() < 2 || index >= shape[1] {
            return None;
        }
        let part = numbers.narrow(1, index, 1);
        let part = part.reshaped(&without_steps(numbers.shape()));
        Some(match self {
            Self::Whole(_) => Self::Whole(part),
            Self::Summary(summary) => Self::Summary(RecordedSummary {
                shape: without_steps(shape),
                // The record has one largest value for all steps.
                largest: summary.largest,
                sums: part,
            }),
        })
    }
}

/// [batch, steps, ...] to [batch, ...].
fn without_steps(shape: &[usize]) -> Vec<usize> {
    [&shape[..1], &shape[2..]].concat()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const SHAPE: [usize; 3] = [2, 3, 50];

    fn values() -> Vec<f32> {
        (0..300_u16).map(f32::from).collect()
    }

    /// The record of a tensor of [`values`] with 8 sums for each row.
    fn recorded() -> RecordedTensor {
        let zeros = RecordedSummary {
            shape: SHAPE.to_vec(),
            largest: 299.0,
            sums: Array::floats([2, 3, 8], vec![0.0; 48]),
        };
        let sums = zeros.same_of(&Array::floats(SHAPE, values()));
        RecordedTensor::Summary(RecordedSummary { sums, ..zeros })
    }

    #[test]
    fn a_changed_value_changes_one_sum_of_each_set() {
        let mut changed = values();
        changed[123] += 1.0;
        for (got, expected) in [(values(), 0), (changed, 2)] {
            let (recorded, got) = (recorded(), Array::floats(SHAPE, got));
            let [sums, other] = recorded.beside(&got).unwrap();
            let [sums, other] = [&sums, &other].map(|array| array.as_floats().unwrap());
            let differing = sums.iter().zip(other).filter(|(a, b)| a != b);
            assert_eq!(differing.count(), expected);
        }
    }

    #[test]
    fn nan_is_found_in_a_tensor_and_in_its_summary() {
        let mut changed = values();
        assert!(!RecordedTensor::Whole(Array::floats(SHAPE, changed.clone())).has_nan());
        changed[7] = f32::NAN;
        let changed = Array::floats(SHAPE, changed);
        assert!(RecordedTensor::Whole(changed.clone()).has_nan());
        let RecordedTensor::Summary(summary) = recorded() else {
            panic!("a record of sums");
        };
        let sums = summary.same_of(&changed);
        assert!(!recorded().has_nan());
        assert!(RecordedTensor::Summary(RecordedSummary { sums, ..summary }).has_nan());
    }

    #[test]
    fn another_shape_or_type_has_nothing_beside_the_record() {
        let recorded = recorded();
        assert!(recorded.beside(&Array::floats([300], values())).is_none());
        let integers = Array::integers(SHAPE, vec![0; 300]);
        assert!(recorded.beside(&integers).is_none());
    }

    #[test]
    fn only_kept_dimensions_can_be_selected() {
        let recorded = recorded();
        assert!(recorded.keeps(&[2]) && recorded.keeps(&[2, 3]));
        // The number of sums is not a dimension of the result.
        assert!(!recorded.keeps(&[2, 3, 8]) && !recorded.keeps(&[2, 3, 50]));
        assert!(RecordedTensor::Whole(Array::floats(SHAPE, values())).keeps(&[2, 3, 50]));
    }

    #[test]
    fn a_step_has_the_sums_of_its_rows() {
        let step = recorded().at_step(1).unwrap();
        let rows = [&values()[50..100], &values()[200..250]].concat();
        let got = Array::floats([2, 50], rows);
        let [sums, other] = step.beside(&got).unwrap();
        assert_eq!((sums.shape(), &sums), (&[2, 8][..], &other));
        assert!(recorded().at_step(3).is_none());
    }

    #[test]
    fn a_step_of_a_long_generation_has_the_sums_of_its_rows() {
        let long = |sums: &[usize]| {
            RecordedTensor::Summary(RecordedSummary {
                shape: vec![2, 100, 50],
                largest: 1.0,
                sums: Array::floats(sums, vec![0.0; sums.iter().product()]),
            })
        };
        let step = long(&[2, 100, 8]).at_step(99).unwrap();
        assert_eq!(step.shape(), [2, 50]);
        // Sums of several steps, which older recorders stored, have no steps.
        assert!(long(&[2, 512]).at_step(99).is_none());
    }
}
