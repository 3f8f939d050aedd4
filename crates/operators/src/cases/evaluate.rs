//! Compares a computed tensor with its reference.

mod element;

use crate::{calls::HostTensor, cases::reference::Reference};
use element::ElementPair;

/// How far a computed tensor is from its reference.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorEvaluation {
    /// The smallest of bound / error over all elements, and of limit / value of both statistics;
    /// below 1 the tensor fails.
    pub headroom: f64,
    /// |d| / |reference| over the tensor.
    pub rel_l2: f64,
    /// max |d| / max |reference|.
    pub max_rel: f64,
    /// |bounds| / |reference|.
    pub rel_l2_threshold: f64,
    /// max bound / max |reference|.
    pub max_rel_threshold: f64,
    /// Elements that are NaN or infinite on one side only.
    pub non_finite: u64,
    /// The elements with the least headroom, at most five: flat index, expected, computed. Empty if
    /// the tensor passes.
    pub worst: Vec<(usize, f64, f64)>,
    /// Why the tensor fails.
    pub failure: Option<String>,
}

/// The largest ratio of the squares of errors to their variance: errors of truncation are twice the
/// errors of rounding, and larger if elements share an error.
const VARIANCE_LIMIT: f64 = 16.0;
/// The largest sum of errors in units of their deviation, divided by the root of the number of
/// elements.
// A term that is missing in every sum can stay within each bound, but the errors have one sign.
const BIAS_LIMIT: f64 = 8.0;
/// Below this many elements the statistics say nothing that the bounds do not.
const FEW: usize = 32;

/// Compares `got` with `reference`, first shape and type, then every element, then bias and
/// variance.
pub fn evaluate(reference: &Reference, got: &HostTensor) -> ErrorEvaluation {
    if got.shape != reference.shape || got.element != reference.element {
        let (shape, element) = (&got.shape, got.element);
        return ErrorEvaluation::failed(format!(
            "the result is {element} {shape:?}, expected {} {:?}",
            reference.element, reference.shape
        ));
    }
    let elements: Vec<ElementPair> = reference
        .numbers
        .iter()
        .zip(&got.values)
        .map(|(number, got)| ElementPair::new(reference, *number, *got))
        .collect();
    let mut evaluation = ErrorEvaluation::new(&elements);
    evaluation.failure = element_failure(reference, got, &elements);
    if let Some(failure) = reference
        .sums
        .then(|| statistics(&elements, &mut evaluation.headroom))
        .flatten()
    {
        // An element outside of its bound is the more precise failure, so it stays.
        evaluation.failure.get_or_insert(failure);
    }
    if evaluation.failure.is_some() {
        evaluation.worst = worst(&elements);
    }
    evaluation
}

/// The headroom of one number as element `index`: bound / error; infinite where both are equal, 0
/// where one is not finite.
pub(crate) fn element_headroom(reference: &Reference, index: usize, got: f64) -> f64 {
    ElementPair::new(reference, reference.numbers[index], got).headroom
}

fn element_failure(
    reference: &Reference,
    got: &HostTensor,
    elements: &[ElementPair],
) -> Option<String> {
    let count = elements.iter().filter(|element| element.is_wrong()).count();
    let index = (0..elements.len())
        .filter(|index| elements[*index].is_wrong())
        .min_by(|a, b| {
            elements[*a]
                .headroom
                .total_cmp(&elements[*b].headroom)
                .then(a.cmp(b))
        })?;
    let ElementPair {
        expected,
        got: found,
        ..
    } = &elements[index];
    let (position, total) = (got.position(index), elements.len());
    let (value, bound) = (reference.element.round(expected.value), expected.error);
    Some(format!(
        "{count} of {total} elements are wrong; {position:?} is {found:?}, expected {value:?} within {bound:.2e}"
    ))
}

/// Bias and variance of all errors, as TOSA's conformance tests measure them for sums of products.
fn statistics(elements: &[ElementPair], headroom: &mut f64) -> Option<String> {
    // Exact elements have no deviation to divide by.
    let measured: Vec<&ElementPair> = elements
        .iter()
        .filter(|element| element.finite && element.expected.variance > 0.0)
        .collect();
    let count = measured.len() as f64;
    if measured.len() < FEW {
        return None;
    }
    let ratios = measured
        .iter()
        .map(|element| element.error().powi(2) / element.expected.variance);
    let variance = ratios.sum::<f64>() / count;
    let deviations = measured
        .iter()
        .map(|element| element.error() / element.expected.variance.sqrt());
    let bias = deviations.sum::<f64>().abs() / count.sqrt();
    // Also if both are within their limits: the report shows how near they are.
    *headroom = headroom
        .min(VARIANCE_LIMIT / variance)
        .min(BIAS_LIMIT / bias);
    if variance > VARIANCE_LIMIT {
        return Some(format!(
            "the errors are larger than those of independent roundings: their squares are {variance:.1} times the variance, \
             at most {VARIANCE_LIMIT} are allowed"
        ));
    }
    (bias > BIAS_LIMIT).then(|| {
        format!("the errors have a bias of {bias:.1} deviations of their sum, at most {BIAS_LIMIT} are allowed")
    })
}

fn worst(elements: &[ElementPair]) -> Vec<(usize, f64, f64)> {
    let mut indices: Vec<usize> = (0..elements.len()).collect();
    indices.sort_by(|a, b| {
        elements[*a]
            .headroom
            .total_cmp(&elements[*b].headroom)
            .then(a.cmp(b))
    });
    indices
        .into_iter()
        .take(5)
        .map(|index| (index, elements[index].expected.value, elements[index].got))
        .collect()
}

impl ErrorEvaluation {
    fn failed(failure: String) -> Self {
        Self {
            headroom: 0.0,
            rel_l2: 0.0,
            max_rel: 0.0,
            rel_l2_threshold: 0.0,
            max_rel_threshold: 0.0,
            non_finite: 0,
            worst: Vec::new(),
            failure: Some(failure),
        }
    }

    fn new(elements: &[ElementPair]) -> Self {
        let finite = || elements.iter().filter(|element| element.finite);
        let largest =
            |values: &mut dyn Iterator<Item = f64>| values.fold(0.0_f64, |a, b| a.max(b.abs()));
        let norm = euclidean_norm(&mut finite().map(|element| element.expected.value));
        let top = largest(&mut finite().map(|element| element.expected.value));
        Self {
            headroom: elements
                .iter()
                .map(|element| element.headroom)
                .fold(f64::INFINITY, f64::min),
            rel_l2: relative(euclidean_norm(&mut finite().map(ElementPair::error)), norm),
            max_rel: relative(largest(&mut finite().map(ElementPair::error)), top),
            rel_l2_threshold: relative(
                euclidean_norm(&mut finite().map(|element| element.expected.error)),
                norm,
            ),
            max_rel_threshold: relative(
                largest(&mut finite().map(|element| element.expected.error)),
                top,
            ),
            non_finite: elements
                .iter()
                .filter(|element| !element.finite && element.is_wrong())
                .count() as u64,
            worst: Vec::new(),
            failure: None,
        }
    }
}

fn euclidean_norm(values: &mut dyn Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

fn relative(value: f64, to: f64) -> f64 {
    // Where everything is zero, an error relative to it would be infinite, which JSON has no
    // number for.
    if to > 0.0 { value / to } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{calls::Element, cases::number::BoundedNumber};

    fn reference(values: &[f64], error: f64) -> Reference {
        let number = |value: &f64| BoundedNumber {
            value: *value,
            error,
            variance: error * error / 3.0,
        };
        Reference {
            shape: vec![values.len()],
            element: Element::F16,
            numbers: values.iter().map(number).collect(),
            sums: true,
            signed_zeros: false,
        }
    }

    fn evaluated(expected: &[f64], error: f64, got: &[f64]) -> ErrorEvaluation {
        evaluate(
            &reference(expected, error),
            &HostTensor::new([got.len()], Element::F16, got.to_vec()),
        )
    }

    #[test]
    fn every_element_has_its_bound() {
        assert_eq!(evaluated(&[1.0, 2.0], 0.01, &[1.0, 2.0]).failure, None);
        let wrong = evaluated(&[1.0, 2.0], 0.01, &[1.0, 2.5]);
        assert!(wrong.failure.is_some_and(|failure| failure.starts_with("1 of 2 elements are wrong; [1] is 2.5")));
        assert_eq!(wrong.worst[0], (1, 2.0, 2.5));
        assert!(
            evaluated(&[1.0], 0.01, &[1.0, 1.0])
                .failure
                .is_some_and(|failure| failure.contains("expected f16 [1]"))
        );
    }

    #[test]
    fn infinities_and_nan_must_be_at_their_places() {
        let (infinite, none) = (f64::INFINITY, f64::NAN);
        assert_eq!(
            evaluated(
                &[infinite, none, -infinite],
                0.0,
                &[infinite, none, -infinite]
            )
            .failure,
            None
        );
        for wrong in [none, -infinite, 65_504.0] {
            assert_eq!(
                evaluated(&[infinite], 0.0, &[wrong]).non_finite,
                1,
                "{wrong}"
            );
        }
        assert_eq!(evaluated(&[1.0], 10.0, &[infinite]).non_finite, 1);
        // 65519 rounds to the largest number; with an error of 10 it may also overflow.
        assert_eq!(evaluated(&[65_519.0], 20.0, &[infinite]).failure, None);
        assert_eq!(evaluated(&[1e6], 10.0, &[infinite]).failure, None);
    }

    #[test]
    fn a_bias_within_the_bounds_is_detected() {
        let expected = vec![1.0; 64];
        // Each error is within its bound, which is far above the deviation.
        let mut wide = reference(&expected, 1.0);
        wide.numbers
            .iter_mut()
            .for_each(|number| number.variance = 1e-6);
        let got = |offset: &dyn Fn(usize) -> f64| {
            HostTensor::new(
                [64],
                Element::F32,
                (0..64).map(|index| 1.0 + offset(index)).collect(),
            )
        };
        wide.element = Element::F32;
        assert_eq!(
            evaluate(
                &wide,
                &got(&|index| if index % 2 == 0 { 1e-3 } else { -1e-3 })
            )
            .failure,
            None
        );
        assert!(
            evaluate(&wide, &got(&|_| 2e-3))
                .failure
                .is_some_and(|failure| failure.contains("bias"))
        );
        let loud = evaluate(
            &wide,
            &got(&|index| if index % 2 == 0 { 1e-2 } else { -1e-2 }),
        );
        assert!(
            loud.failure
                .is_some_and(|failure| failure.contains("independent roundings"))
        );
    }
}
