//! The results of operators as a report has them.

use testgen_engine::AlgorithmResults;
use testgen_operators::cases::ErrorEvaluation;
use testgen_types::{Operator, OutputError, WorstElement};

/// The headroom of a zero error.
// JSON has no infinity.
const LARGEST_HEADROOM: f64 = 1e6;

/// The evaluation as a report has it, under the name of the operator. Of several cases the report
/// keeps the one with the least headroom.
pub(in crate::check::operators) fn output_error(
    operator: Operator,
    shape: &[usize],
    evaluation: ErrorEvaluation,
) -> OutputError {
    let strides = testgen_operators::calls::row_major_strides(shape);
    let worst = evaluation
        .worst
        .into_iter()
        .map(|(flat, expected, got)| WorstElement {
            index: position(flat, &strides, shape),
            expected: finite(expected),
            got: finite(got),
        });
    OutputError {
        name: operator.to_string(),
        rel_l2: finite(evaluation.rel_l2),
        max_rel: finite(evaluation.max_rel),
        rel_l2_threshold: finite(evaluation.rel_l2_threshold),
        max_rel_threshold: finite(evaluation.max_rel_threshold),
        headroom: evaluation.headroom.min(LARGEST_HEADROOM),
        non_finite: evaluation.non_finite,
        worst: worst.collect(),
    }
}

/// The result of bitwise comparisons, or of a call that was not computed, as a report has it.
pub(in crate::check::operators) fn exact(operator: Operator, holds: bool) -> OutputError {
    OutputError::with_headroom(
        operator.to_string(),
        if holds { LARGEST_HEADROOM } else { 0.0 },
    )
}

/// The results of an algorithm as a report has them.
pub(in crate::check::operators) fn of_algorithm(row: &AlgorithmResults) -> OutputError {
    // Its engine compares them, so that only their headroom is known.
    let headroom = row
        .headroom
        .unwrap_or(LARGEST_HEADROOM)
        .min(LARGEST_HEADROOM);
    // Wrong results count even if the engine reports headroom.
    OutputError::with_headroom(row.name.clone(), if row.wrong > 0 { 0.0 } else { headroom })
}

fn position(flat: usize, strides: &[usize], shape: &[usize]) -> Vec<usize> {
    strides
        .iter()
        .zip(shape)
        .map(|(stride, length)| flat / stride % length)
        .collect()
}

fn finite(value: f64) -> f64 {
    // As in the comparison with goldens: JSON has neither NaN nor infinity.
    if value.is_nan() {
        f64::MAX
    } else {
        value.clamp(f64::MIN, f64::MAX)
    }
}
