//! The result of an algorithm compared with the reference.

use crate::{guarded::Overwritten, library_error::LibraryError};
use testgen_operators::{calls::HostTensor, cases::Reference};

/// The result of an algorithm.
pub(crate) enum AlgorithmResult {
    /// The elements, row-major, and a byte outside of them that was changed.
    Computed {
        values: Vec<f64>,
        overwritten: Option<Overwritten>,
    },
    /// The library returned an error.
    Refused(LibraryError),
}

impl AlgorithmResult {
    /// The elements of a result that the library returned, and nothing else.
    pub(crate) fn values(self) -> Result<Vec<f64>, LibraryError> {
        match self {
            Self::Refused(error) => Err(error),
            // An error, although the elements may be right: the checks of operators compare
            // elements only.
            Self::Computed {
                overwritten: Some(place),
                ..
            } => Err(LibraryError::Overwritten {
                place: place.to_string(),
            }),
            Self::Computed { values, .. } => Ok(values),
        }
    }
}

/// How far a result is from its bound.
pub(crate) struct ResultEvaluation {
    /// The smallest of bound / error; below 1 the result fails.
    pub(crate) headroom: f64,
    /// Why it fails.
    pub(crate) failure: Option<String>,
}

impl ResultEvaluation {
    /// The evaluation of two results of one call.
    pub(crate) fn and(self, other: Self) -> Self {
        let failures: Vec<String> = [self.failure, other.failure]
            .into_iter()
            .flatten()
            .collect();
        Self {
            headroom: self.headroom.min(other.headroom),
            failure: (!failures.is_empty()).then(|| failures.join("; ")),
        }
    }
}

/// Compares every element with its bound, and the bytes around the elements with the bytes that
/// were written before.
pub(crate) fn evaluate(
    reference: &Reference,
    values: &[f64],
    overwritten: Option<Overwritten>,
) -> ResultEvaluation {
    let got = HostTensor::new(reference.shape.clone(), reference.element, values.to_vec());
    let evaluation = testgen_operators::cases::evaluate(reference, &got);
    // A result of floats is NaN before the library writes it, and no planned computation has NaN as
    // its value.
    let unwritten = values.iter().filter(|value| value.is_nan()).count();
    let outside = overwritten.map(|place| place.to_string());
    let missing = (unwritten > 0).then(|| {
        format!(
            "{unwritten} of {} elements are NaN or were not written",
            values.len()
        )
    });
    let parts: Vec<String> = [outside, missing, evaluation.failure]
        .into_iter()
        .flatten()
        .collect();
    ResultEvaluation {
        headroom: evaluation.headroom,
        failure: (!parts.is_empty()).then(|| parts.join("; ")),
    }
}

/// The first element whose bits differ, with both values.
pub(crate) fn first_difference(first: &[f64], second: &[f64]) -> Option<String> {
    // By their bits: zeros of different signs differ, and NaN equals itself.
    (0..first.len())
        .find(|index| first[*index].to_bits() != second[*index].to_bits())
        .map(|index| {
            format!(
                "computed twice, element {index} is {:?} and {:?}",
                first[index], second[index]
            )
        })
}

#[cfg(test)]
mod tests {
    use super::evaluate;
    use testgen_operators::{
        calls::Element,
        cases::{BoundedNumber, Reference},
    };

    #[test]
    fn a_wrong_result_has_its_headroom() {
        let number = BoundedNumber {
            value: 1.0,
            error: 0.5,
            variance: 0.0,
        };
        let reference = Reference {
            shape: vec![1],
            element: Element::F32,
            numbers: vec![number],
            sums: false,
            signed_zeros: false,
        };
        let evaluation = evaluate(&reference, &[3.0], None);
        assert!(evaluation.failure.is_some());
        assert_eq!(evaluation.headroom, 0.25);
    }
}
