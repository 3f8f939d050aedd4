//! Two errors against one golden, and what they say about each other.

use serde::Serialize;
use testgen_contract::{OutputError, Record};

/// Below this part of its threshold an error is noise, whatever its ratio to another.
const NOISE: f64 = 0.01;

/// One tensor: both reports against the golden, and the distance that this leaves open between them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreeWay {
    /// The tensor.
    pub name: String,
    /// rel-L2 of the first report against the golden; none when it is not finite.
    pub a_to_golden: Option<f64>,
    /// rel-L2 of the second.
    pub b_to_golden: Option<f64>,
    /// The least and the most that the two can be apart, by the triangle inequality.
    pub a_to_b: Option<[f64; 2]>,
    /// The larger of the two thresholds.
    pub threshold: f64,
    /// How the second moved.
    pub change: Change,
}

/// How an error moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It grew by the factor or more.
    Worse,
    /// It shrank by the factor or more.
    Better,
    /// Neither.
    Same,
    /// The second report did not compare this tensor.
    Lost,
}

/// Every tensor of the first record, in its order.
pub(super) fn three_way(a: &Record, b: &Record, factor: f64) -> Vec<ThreeWay> {
    let other = |name: &str| b.outputs.iter().find(|output| output.name == name);
    a.outputs.iter().map(|output| of(output, other(&output.name), factor)).collect()
}

fn of(a: &OutputError, b: Option<&OutputError>, factor: f64) -> ThreeWay {
    let finite = |output: &OutputError| Some(output.rel_l2).filter(|error| *error < f64::MAX && output.non_finite == 0);
    let (to_a, to_b) = (finite(a), b.and_then(finite));
    let threshold = a.rel_l2_threshold.max(b.map_or(0.0, |output| output.rel_l2_threshold));
    let change = match b {
        None => Change::Lost,
        Some(_) => change(to_a, to_b, threshold, factor),
    };
    let a_to_b = to_a.zip(to_b).map(|(a, b)| [(a - b).abs(), a + b]);
    ThreeWay { name: a.name.clone(), a_to_golden: to_a, b_to_golden: to_b, a_to_b, threshold, change }
}

fn change(a: Option<f64>, b: Option<f64>, threshold: f64, factor: f64) -> Change {
    match (a, b) {
        (Some(a), Some(b)) if a.max(b) <= threshold * NOISE => Change::Same,
        (Some(a), Some(b)) if b > a * factor => Change::Worse,
        (Some(a), Some(b)) if a > b * factor => Change::Better,
        (Some(_), Some(_)) | (None, None) => Change::Same,
        (Some(_), None) => Change::Worse,
        (None, Some(_)) => Change::Better,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_no_change_and_a_factor_is() {
        assert_eq!(change(Some(1e-7), Some(9e-7), 1e-3, 2.0), Change::Same);
        assert_eq!(change(Some(1e-4), Some(1.9e-4), 1e-3, 2.0), Change::Same);
        assert_eq!(change(Some(1e-4), Some(2.1e-4), 1e-3, 2.0), Change::Worse);
        assert_eq!(change(Some(2.1e-4), Some(1e-4), 1e-3, 2.0), Change::Better);
        assert_eq!(change(Some(0.0), Some(0.5), 0.0, 2.0), Change::Worse);
        assert_eq!(change(Some(1e-4), None, 1e-3, 2.0), Change::Worse);
    }
}
