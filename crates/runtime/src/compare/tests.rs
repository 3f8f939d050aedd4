//! Errors computed by hand.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

const LOOSE: Threshold = Threshold {
    rel_l2: 0.5,
    max_rel: 0.5,
};

fn row(values: &[f32]) -> Array {
    Array::floats([values.len()], values.to_vec())
}

fn against(expected: &[f32], got: &[f32], threshold: Threshold) -> TensorComparison {
    compare("y", &row(expected), &row(got), threshold)
}

#[test]
fn both_measures_are_those_of_the_formula() {
    let found = against(&[3.0, 4.0, 0.0], &[3.0, 4.0, 1.0], LOOSE);
    assert_eq!(found.error.rel_l2, 0.2);
    assert_eq!(found.error.max_rel, 0.25);
    assert_eq!(found.error.headroom, 2.0);
    assert_eq!(found.failure, None);
    assert!(found.error.worst.is_empty());
}

#[test]
fn the_threshold_itself_passes_and_either_measure_can_fail() {
    let at = |rel_l2, max_rel| {
        against(
            &[3.0, 4.0, 0.0],
            &[3.0, 4.0, 1.0],
            Threshold { rel_l2, max_rel },
        )
        .failure
    };
    assert_eq!(at(0.2, 0.25), None);
    assert!(matches!(at(0.19, 0.25), Some(Mismatch::TooFar { .. })));
    assert!(matches!(at(0.2, 0.24), Some(Mismatch::TooFar { .. })));
}

#[test]
fn the_sum_is_made_in_f64() {
    let many = vec![1.0f32; 20_000_000 / 8];
    let off: Vec<f32> = many.iter().map(|value| value + 1e-3).collect();
    let found = against(&many, &off, LOOSE);
    let exact = f64::from(1.0f32 + 1e-3) - 1.0;
    assert!(
        (found.error.rel_l2 - exact).abs() < 1e-12,
        "{}",
        found.error.rel_l2
    );
}

#[test]
fn the_five_worst_elements_are_reported_with_their_indices() {
    let expected = Array::floats([2, 4], vec![1.0; 8]);
    let got = Array::floats([2, 4], vec![1.0, 2.0, 1.0, 9.0, 3.0, 4.0, 5.0, 6.0]);
    let found = compare("y", &expected, &got, LOOSE);
    let places: Vec<Vec<usize>> = found
        .error
        .worst
        .iter()
        .map(|worst| worst.index.clone())
        .collect();
    assert_eq!(places, [[0, 3], [1, 3], [1, 2], [1, 1], [1, 0]]);
    assert_eq!(
        (found.error.worst[0].expected, found.error.worst[0].got),
        (1.0, 9.0)
    );
    let message = found.failure.expect("is far off").to_string();
    assert!(message.contains("[0, 3]: expected 1, got 9"), "{message}");
}

#[test]
fn equal_elements_are_not_among_the_worst() {
    let with_both = |last| [1.0, f32::NAN, f32::INFINITY, last];
    let found = against(&with_both(1.0), &with_both(9.0), LOOSE);
    let places: Vec<Vec<usize>> = found
        .error
        .worst
        .iter()
        .map(|worst| worst.index.clone())
        .collect();
    assert_eq!(places, [[3]]);
}

#[test]
fn a_tensor_that_is_not_finite_has_the_largest_error_in_both_measures() {
    let found = against(&[1.0, 2.0], &[1.0, f32::NAN], LOOSE).error;
    assert_eq!(
        (found.rel_l2, found.max_rel, found.non_finite),
        (f64::MAX, f64::MAX, 1)
    );
}

#[test]
fn a_shape_is_compared_before_any_number() {
    let found = compare(
        "y",
        &Array::floats([1, 2], vec![1.0; 2]),
        &Array::floats([2, 1], vec![1.0; 2]),
        LOOSE,
    );
    assert_eq!(
        found.failure,
        Some(Mismatch::Shape {
            expected: vec![1, 2],
            got: vec![2, 1]
        })
    );
    assert_eq!(found.error.headroom, 0.0);
    assert!(matches!(
        compare(
            "y",
            &Array::floats([1], vec![1.0]),
            &Array::integers([1], vec![1]),
            LOOSE
        )
        .failure,
        Some(Mismatch::Type)
    ));
}

#[test]
fn nan_and_infinity_must_be_where_the_reference_has_them() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    assert_eq!(
        against(&[nan, inf, 1.0], &[nan, inf, 1.0], LOOSE).failure,
        None
    );
    for (expected, got) in [(1.0, nan), (1.0, inf), (nan, 1.0), (inf, -inf), (inf, nan)] {
        let found = against(&[1.0, expected], &[1.0, got], LOOSE);
        assert!(
            matches!(&found.failure, Some(Mismatch::NonFinite { count: 1, first }) if first.index == [1]),
            "{expected} {got}: {found:?}"
        );
        assert_eq!(found.error.headroom, 0.0);
    }
}

/// A golden has NaN only if transformers computed it. Two runs of a device that is wrong in the same
/// way agree about it.
#[test]
fn nan_in_both_of_two_runs_is_a_failure() {
    let runs = |expected: &[f32], got: &[f32]| compare_runs("y", &row(expected), &row(got), LOOSE);
    let nan = [1.0, f32::NAN, f32::NAN];
    assert_eq!(against(&nan, &nan, LOOSE).failure, None);
    let found = runs(&nan, &nan);
    let expected = Mismatch::NanInBoth {
        count: 2,
        first: vec![1],
    };
    assert_eq!(found.failure, Some(expected));
    assert_eq!((found.error.headroom, found.error.non_finite), (0.0, 2));
    let infinite = [1.0, f32::INFINITY];
    assert_eq!(
        runs(&infinite, &infinite),
        against(&infinite, &infinite, LOOSE)
    );
    // What differs is reported as a difference.
    let differs = runs(&[1.0, f32::NAN], &[9.0, f32::NAN]);
    assert!(matches!(differs.failure, Some(Mismatch::TooFar { .. })));
}

#[test]
fn an_error_is_always_json() {
    for got in [f32::NAN, f32::NEG_INFINITY, 2.0_f32.powi(127)] {
        let found = against(&[0.0, 0.0], &[0.0, got], LOOSE);
        let text = serde_json::to_string(&found.error).unwrap();
        assert!(!text.contains("null"), "{text}");
        let back: OutputError = serde_json::from_str(&text).unwrap();
        assert!(
            back.rel_l2 == f64::MAX && back.worst[0].got.is_finite(),
            "{back:?}"
        );
    }
}

#[test]
fn a_reference_of_zero_allows_no_error() {
    assert_eq!(
        against(
            &[0.0],
            &[0.0],
            Threshold {
                rel_l2: 0.0,
                max_rel: 0.0
            }
        )
        .failure,
        None
    );
    assert!(against(&[0.0], &[1e-30], LOOSE).failure.is_some());
    assert_eq!(against(&[], &[], LOOSE).failure, None);
}
