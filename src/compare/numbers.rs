//! Two errors against one golden, and the distance between the two results that follows from them.

use serde::Serialize;
use testgen_types::{OutputError, ReportEntry};

/// Errors below this part of their threshold are rounding noise, whose ratio has no meaning.
const NOISE: f64 = 0.01;

/// One tensor: both results against the golden, and the distance between them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreeWay {
    /// The tensor.
    pub name: String,
    /// rel-L2 of the first report against the golden, or `None` if it is not finite.
    pub a_to_golden: Option<f64>,
    /// rel-L2 of the second report.
    pub b_to_golden: Option<f64>,
    /// The distance between the two results.
    pub a_to_b: Option<DistanceInterval>,
    /// The larger of the two thresholds.
    pub threshold: f64,
    /// The headroom of both reports, if it alone is known and both errors are written as 0.
    pub headroom: Option<[f64; 2]>,
    /// How the error changed.
    pub change: ErrorChange,
}

/// The least and the greatest distance of two results, by the triangle inequality.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DistanceInterval {
    /// The least distance.
    pub min: f64,
    /// The greatest distance.
    pub max: f64,
}

/// How an error changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorChange {
    /// It grew by the factor or more.
    Worse,
    /// It shrank by the factor or more.
    Better,
    /// Neither.
    Same,
    /// The second report did not compare this tensor.
    Lost,
}

/// Every tensor of the first entry, in its order.
pub(super) fn three_way(a: &ReportEntry, b: &ReportEntry, factor: f64) -> Vec<ThreeWay> {
    // A tensor that only the second report has cannot have got worse.
    a.outputs
        .iter()
        .map(|output| {
            let other = b.outputs.iter().find(|other| other.name == output.name);
            compare_outputs(output, other, factor)
        })
        .collect()
}

fn compare_outputs(a: &OutputError, b: Option<&OutputError>, factor: f64) -> ThreeWay {
    let (a_to_golden, b_to_golden) = (finite_error(a), b.and_then(finite_error));
    // The two reports may come from suites with different thresholds; with the larger one, fewer
    // errors count as more than noise.
    let threshold = a
        .rel_l2_threshold
        .max(b.map_or(0.0, |output| output.rel_l2_threshold));
    let headroom = b
        .filter(|b| has_headroom_alone(a) && has_headroom_alone(b))
        .map(|b| [a.headroom, b.headroom]);
    let change = match (b, headroom) {
        (None, _) => ErrorChange::Lost,
        // Errors in units of their threshold.
        (_, Some([a, b])) => change(Some(a.recip()), Some(b.recip()), 1.0, factor),
        (Some(_), None) => change(a_to_golden, b_to_golden, threshold, factor),
    };
    // Both errors are relative to the norm of one golden, so the triangle inequality holds for
    // them.
    let a_to_b = a_to_golden.zip(b_to_golden).map(|(a, b)| DistanceInterval {
        min: (a - b).abs(),
        max: a + b,
    });
    ThreeWay {
        name: a.name.clone(),
        a_to_golden,
        b_to_golden,
        a_to_b,
        threshold,
        headroom,
        change,
    }
}

/// Whether nothing but the headroom is known, as in [`OutputError::with_headroom`].
fn has_headroom_alone(output: &OutputError) -> bool {
    // An exact result has errors of 0, too, but its thresholds are above 0.
    let numbers = [
        output.rel_l2,
        output.max_rel,
        output.rel_l2_threshold,
        output.max_rel_threshold,
    ];
    numbers == [0.0; 4] && output.non_finite == 0
}

fn change(a: Option<f64>, b: Option<f64>, threshold: f64, factor: f64) -> ErrorChange {
    match (a, b) {
        (Some(a), Some(b)) if a.max(b) <= threshold * NOISE => ErrorChange::Same,
        // A product and not a quotient, because an error can be 0.
        (Some(a), Some(b)) if b > a * factor => ErrorChange::Worse,
        (Some(a), Some(b)) if a > b * factor => ErrorChange::Better,
        (Some(_), Some(_)) | (None, None) => ErrorChange::Same,
        // A result that is not finite is worse than any error.
        (Some(_), None) => ErrorChange::Worse,
        (None, Some(_)) => ErrorChange::Better,
    }
}

fn finite_error(output: &OutputError) -> Option<f64> {
    // The largest number represents an error that is not finite.
    Some(output.rel_l2).filter(|error| *error < f64::MAX && output.non_finite == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_ignored_and_a_factor_counts() {
        assert_eq!(change(Some(1e-7), Some(9e-7), 1e-3, 2.0), ErrorChange::Same);
        assert_eq!(
            change(Some(1e-4), Some(1.9e-4), 1e-3, 2.0),
            ErrorChange::Same
        );
        assert_eq!(
            change(Some(1e-4), Some(2.1e-4), 1e-3, 2.0),
            ErrorChange::Worse
        );
        assert_eq!(
            change(Some(2.1e-4), Some(1e-4), 1e-3, 2.0),
            ErrorChange::Better
        );
        assert_eq!(change(Some(0.0), Some(0.5), 0.0, 2.0), ErrorChange::Worse);
        assert_eq!(change(Some(1e-4), None, 1e-3, 2.0), ErrorChange::Worse);
    }

    #[test]
    fn headroom_is_compared_if_nothing_else_is_known() {
        let change = |a: f64, b: f64| {
            let output = |headroom| OutputError::with_headroom("gemm".to_owned(), headroom);
            compare_outputs(&output(a), Some(&output(b)), 2.0).change
        };
        assert_eq!(change(90.0, 1.01), ErrorChange::Worse);
        assert_eq!(change(1.01, 90.0), ErrorChange::Better);
        assert_eq!(change(3.0, 2.0), ErrorChange::Same);
        assert_eq!(change(1e6, 150.0), ErrorChange::Same, "noise");
    }
}
