//! The result of an algorithm compared with the reference.

use super::factors::element;
use crate::{blas::BlasError, guarded::Overwritten, product::Gemm};
use testgen_operators::{calls::HostTensor, cases::Reference};

/// The result of an algorithm.
pub(super) enum CaseResult {
    /// The elements of D, row-major, and a byte outside of them that was changed.
    Computed {
        values: Vec<f64>,
        overwritten: Option<Overwritten>,
    },
    /// The library returned an error.
    Refused(BlasError),
}

/// How far a result is from its bound.
pub(super) struct ProductEvaluation {
    /// The smallest of bound / error; below 1 the product fails.
    pub(super) headroom: f64,
    /// Why it fails.
    pub(super) failure: Option<String>,
}

/// Compares every element with its bound, and the bytes around the elements with those that were
/// written before.
pub(super) fn evaluate(
    product: &Gemm,
    reference: &Reference,
    values: &[f64],
    overwritten: Option<Overwritten>,
) -> ProductEvaluation {
    let shape = [product.batch, product.rows, product.columns];
    let got = HostTensor::new(shape, element(product.arithmetic.result), values.to_vec());
    let evaluation = testgen_operators::cases::evaluate(reference, &got);
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
    let headroom = if parts.is_empty() {
        evaluation.headroom
    } else {
        evaluation.headroom.min(0.0)
    };
    ProductEvaluation {
        headroom,
        failure: (!parts.is_empty()).then(|| parts.join("; ")),
    }
}
