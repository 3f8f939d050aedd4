//! Two logs, aligned by step.

use super::{metric::Metric, summary::LogSummary};
use serde::Serialize;
use std::collections::BTreeMap;

/// The differences between two logs at the steps that both have.
#[derive(Debug, Clone, Serialize)]
pub struct LogComparison {
    /// Whether the steps of both logs are printed, or are numbers of lines in both. Otherwise they
    /// are not aligned, and no step is common.
    pub are_steps_comparable: bool,
    /// The number of steps that a compared value is the mean of: 1 unless a log has more than
    /// 16,384 steps.
    pub steps_per_point: u64,
    /// Steps, or intervals of steps, in both logs.
    pub common: usize,
    /// Steps in the first log alone.
    pub only_first: usize,
    /// Steps in the second log alone.
    pub only_second: usize,
    /// Each metric that both logs have at a common step.
    pub metrics: BTreeMap<Metric, MetricComparison>,
}

/// A metric at the steps that both logs have. Differences are second log minus first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricComparison {
    /// Common steps at which both logs have a finite value.
    pub common: usize,
    /// The mean of the first log.
    pub first: f64,
    /// The mean of the second log.
    pub second: f64,
    /// The median of the ratios of second to first, or `None` if a value of the first is 0.
    pub median_ratio: Option<f64>,
    /// The mean difference.
    pub mean_difference: f64,
    /// The difference that is largest in size.
    pub largest_difference: f64,
    /// The largest difference in size relative to the larger of both values.
    pub largest_relative: f64,
    /// The step of the largest difference.
    pub largest_at: u64,
}

impl LogComparison {
    /// Compares two logs.
    pub fn new(first: &LogSummary, second: &LogSummary) -> Self {
        let are_steps_comparable = first.steps_are_counted == second.steps_are_counted;
        // The coarser curve decides: a mean cannot be split into its steps again.
        let steps_per_point = first
            .curve
            .steps_per_point()
            .max(second.curve.steps_per_point());
        let [first, second] =
            // Any number of points: every common step is compared, not only the ones that are
            // shown.
            [&first.curve, &second.curve].map(|curve| curve.reduced(steps_per_point, usize::MAX));
        let later: BTreeMap<u64, _> = second
            .points()
            .map(|point| (point.step, point.values))
            .collect();
        let pairs: Vec<_> = first
            .points()
            .filter(|_| are_steps_comparable)
            .filter_map(|point| {
                later
                    .get(&point.step)
                    .map(|values| (point.step, point.values, *values))
            })
            .collect();
        Self {
            are_steps_comparable,
            steps_per_point,
            common: pairs.len(),
            only_first: first.len() - pairs.len(),
            only_second: second.len() - pairs.len(),
            metrics: Metric::ALL
                .iter()
                // A count, which is among the losses that are not finite, and no value of a step.
                .filter(|metric| **metric != Metric::NanIterations)
                .filter_map(|metric| {
                    let index = metric.index();
                    let values = pairs
                        .iter()
                        .filter_map(|(step, a, b)| Some((*step, a[index]?, b[index]?)))
                        .collect::<Vec<_>>();
                    Some((*metric, MetricComparison::new(&values)?))
                })
                .collect(),
        }
    }

    /// Whether the logs have no step in common.
    pub fn is_empty(&self) -> bool {
        self.common == 0
    }

    /// The losses, or `None` if they were not compared.
    pub fn losses(&self) -> Option<&MetricComparison> {
        self.metrics.get(&Metric::Loss)
    }

    /// The largest relative difference of the losses, or `None` if they were not compared.
    pub fn largest_loss_difference(&self) -> Option<f64> {
        self.losses().map(|losses| losses.largest_relative)
    }
}

impl MetricComparison {
    /// Compares step, first and second value, or `None` without any.
    fn new(values: &[(u64, f64, f64)]) -> Option<Self> {
        let (largest_at, first, second) = *values
            .iter()
            // By the absolute difference: the step that a reader looks for has the largest jump,
            // whatever its value.
            .max_by(|x, y| (x.2 - x.1).abs().total_cmp(&(y.2 - y.1).abs()))?;
        let count = values.len() as f64;
        let mean =
            |value: fn(&(u64, f64, f64)) -> f64| values.iter().map(value).sum::<f64>() / count;
        let mut ratios: Vec<f64> = values
            .iter()
            .map(|(_, first, second)| second / first)
            .collect();
        ratios.sort_by(f64::total_cmp);
        // A first value of 0 has no ratio.
        let all_finite = ratios.iter().all(|ratio| ratio.is_finite());
        Some(Self {
            common: values.len(),
            first: mean(|value| value.1),
            second: mean(|value| value.2),
            median_ratio: all_finite.then(|| median(&ratios)),
            mean_difference: mean(|value| value.2 - value.1),
            largest_difference: second - first,
            largest_relative: values
                .iter()
                .map(|(_, first, second)| relative(*first, *second))
                .max_by(f64::total_cmp)?,
            largest_at,
        })
    }
}

/// The difference in units of the larger value; infinite if one of them is.
fn relative(first: f64, second: f64) -> f64 {
    match first.abs().max(second.abs()) {
        0.0 => 0.0,
        // Means of huge values are infinite. The quotient would be NaN, which can have the sign
        // that is less than every number.
        larger if larger.is_infinite() => f64::INFINITY,
        larger => (second - first).abs() / larger,
    }
}

/// The median of sorted values, of which there is at least one.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

#[cfg(test)]
mod tests {
    use super::LogComparison;
    use crate::{metric::Metric, reading::read_log, summary::LogSummary};
    use std::path::Path;

    fn log(lines: &[(u64, f64, f64)]) -> LogSummary {
        let line = |(step, loss, time): &(u64, f64, f64)| {
            format!("iter {step}: loss {loss:.4}, time {time:.2}ms, mfu 1%\n")
        };
        let text: String = lines.iter().map(line).collect();
        read_log(Path::new("log"), text.as_bytes()).expect("lines of nanoGPT")
    }

    #[test]
    fn common_steps_are_compared() {
        let first = log(&[
            (0, 4.0, 100.0),
            (10, 2.0, 50.0),
            (20, 1.0, 50.0),
            (30, 1.0, 50.0),
        ]);
        let second = log(&[
            (10, 2.5, 25.0),
            (20, 1.0, 25.0),
            (30, 0.9, 200.0),
            (40, 1.0, 25.0),
        ]);
        let comparison = LogComparison::new(&first, &second);
        assert_eq!(
            (
                comparison.common,
                comparison.only_first,
                comparison.only_second
            ),
            (3, 1, 1)
        );
        let loss = &comparison.metrics[&Metric::Loss];
        assert_eq!(
            (
                loss.largest_difference,
                loss.largest_at,
                loss.largest_relative
            ),
            (0.5, 10, 0.2)
        );
        assert!((loss.mean_difference - 0.4 / 3.0).abs() < 1e-12, "{loss:?}");
        assert_eq!(
            comparison.metrics[&Metric::StepSeconds].median_ratio,
            Some(0.5)
        );
        assert_eq!(comparison.largest_loss_difference(), Some(0.2));
    }

    #[test]
    fn means_that_overflow_are_not_alike() {
        let text = "iter 1: loss 1e308, time 1.00ms, mfu 1%\n".repeat(2)
            + "iter 2: loss 1.0, time 1.00ms, mfu 1%\n";
        let huge = read_log(Path::new("log"), text.as_bytes()).expect("lines of nanoGPT");
        for other in [&huge, &log(&[(1, 1.0, 1.0), (2, 1.0, 1.0)])] {
            let largest = LogComparison::new(&huge, other).largest_loss_difference();
            assert_eq!(largest, Some(f64::INFINITY));
        }
    }

    #[test]
    fn logs_without_a_common_step_are_not_alike() {
        let comparison = LogComparison::new(&log(&[(1, 1.0, 1.0)]), &log(&[(2, 1.0, 1.0)]));
        assert!(comparison.is_empty() && comparison.largest_loss_difference().is_none());
    }

    #[test]
    fn numbered_lines_are_not_aligned_with_steps() {
        let numbered = read_log(
            Path::new("log"),
            b"{'loss': 1.0, 'epoch': 0.1}\n".as_slice(),
        )
        .expect("a line of the Trainer");
        let comparison = LogComparison::new(&log(&[(1, 1.0, 1.0)]), &numbered);
        assert!(
            !comparison.are_steps_comparable
                && comparison.is_empty()
                && comparison.metrics.is_empty()
        );
        assert!(!LogComparison::new(&numbered, &numbered).is_empty());
    }

    #[test]
    fn logs_of_other_lengths_are_compared_in_the_same_intervals() {
        let steps = |count: u64| (0..count).map(|step| (step, 2.0, 10.0)).collect::<Vec<_>>();
        let comparison = LogComparison::new(&log(&steps(40_000)), &log(&steps(1000)));
        assert_eq!((comparison.steps_per_point, comparison.common), (4, 250));
        assert_eq!(comparison.largest_loss_difference(), Some(0.0));
    }
}
