//! A curve with bounded memory: the means of neighbouring steps, in intervals that double when
//! there are too many.

use super::{metric::Metric, record::Record};
use std::collections::BTreeMap;

/// The most intervals of a curve.
// A log with fewer steps is kept exactly.
const MOST: usize = 16_384;

/// The values of a log by step.
///
/// An interval has 2^`shift` steps and starts at a multiple of that, so that the intervals of two
/// curves are alike after the finer one is reduced.
#[derive(Debug, Clone, Default)]
pub struct Curve {
    shift: u32,
    intervals: BTreeMap<u64, CurveInterval>,
    /// The interval of the last record, which most often contains the next one, too.
    last: Option<(u64, CurveInterval)>,
}

/// The means of an interval of steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Its first step.
    pub step: u64,
    /// A mean for each of [`Metric::ALL`], of its finite values.
    pub values: [Option<f64>; Metric::COUNT],
}

#[derive(Debug, Clone, Copy, Default)]
struct CurveInterval([Mean; Metric::COUNT]);

#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Curve {
    /// Adds the finite values of a record.
    pub fn add(&mut self, record: &Record) {
        if self
            .last
            .as_ref()
            .is_none_or(|(key, _)| *key != record.step >> self.shift)
        {
            let last = self.last.take();
            self.keep(last);
            // Keeping may have doubled the intervals.
            self.last = Some((record.step >> self.shift, CurveInterval::default()));
        }
        let Some((_, interval)) = &mut self.last else {
            return;
        };
        for (mean, value) in interval.0.iter_mut().zip(&record.values) {
            // One NaN would make the mean of a whole interval NaN; such losses are counted
            // elsewhere.
            if let Some(value) = value.as_ref().filter(|value| value.is_finite()) {
                mean.sum += *value;
                mean.count += 1;
            }
        }
    }

    /// Completes the curve.
    #[must_use]
    pub fn finish(mut self) -> Self {
        let last = self.last.take();
        self.keep(last);
        self
    }

    /// The number of steps of an interval: 1 as long as every step is kept.
    pub fn steps_per_point(&self) -> u64 {
        1 << self.shift
    }

    /// The intervals of a finished curve in the order of their steps.
    pub fn points(&self) -> impl Iterator<Item = CurvePoint> + '_ {
        self.intervals.iter().map(|(key, interval)| CurvePoint {
            step: key << self.shift,
            values: interval
                .0
                .map(|mean| (mean.count > 0).then(|| mean.sum / mean.count as f64)),
        })
    }

    /// The number of intervals of a finished curve.
    pub fn len(&self) -> usize {
        self.intervals.len()
    }

    /// Whether it has no interval.
    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// The same curve with intervals of at least `steps_per_point` steps, and at most `most` of
    /// them.
    #[must_use]
    pub fn reduced(&self, steps_per_point: u64, most: usize) -> Self {
        let mut reduced = self.clone();
        // At least one interval: with 0 the loop would not end.
        while reduced.steps_per_point() < steps_per_point || reduced.intervals.len() > most.max(1) {
            reduced.double();
        }
        reduced
    }

    fn keep(&mut self, interval: Option<(u64, CurveInterval)>) {
        let Some((key, interval)) = interval else {
            return;
        };
        // Several processes write one log, so an interval can come back later.
        self.intervals.entry(key).or_default().add(&interval);
        // Sparse steps may not share an interval after one doubling.
        while self.intervals.len() > MOST {
            self.double();
        }
    }

    fn double(&mut self) {
        // Steps are at most 2^53, so that one interval has all of them long before the shift
        // reaches 64.
        self.shift += 1;
        for (key, interval) in std::mem::take(&mut self.intervals) {
            self.intervals.entry(key >> 1).or_default().add(&interval);
        }
    }
}

impl CurveInterval {
    fn add(&mut self, other: &Self) {
        for (mean, other) in self.0.iter_mut().zip(other.0) {
            mean.sum += other.sum;
            mean.count += other.count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Curve, MOST};
    use crate::{format::LogFormat, metric::Metric, record::Record};

    fn curve(steps: impl Iterator<Item = (u64, f64)>) -> Curve {
        let mut curve = Curve::default();
        for (step, loss) in steps {
            let mut values = [None; Metric::COUNT];
            values[Metric::Loss.index()] = Some(loss);
            curve.add(&Record {
                format: LogFormat::NanoGpt,
                step,
                is_counted: false,
                is_about_run: false,
                rank: None,
                values,
            });
        }
        curve.finish()
    }

    fn losses(curve: &Curve) -> Vec<(u64, Option<f64>)> {
        curve
            .points()
            .map(|point| (point.step, point.values[Metric::Loss.index()]))
            .collect()
    }

    #[test]
    fn short_logs_are_exact_and_repeated_steps_are_averaged() {
        let exact = curve([(1, 4.0), (2, 3.0), (10, 2.0), (2, 5.0), (3, f64::NAN)].into_iter());
        assert_eq!(
            losses(&exact),
            [(1, Some(4.0)), (2, Some(4.0)), (3, None), (10, Some(2.0))]
        );
        assert_eq!(
            losses(&exact.reduced(4, MOST)),
            [(0, Some(4.0)), (8, Some(2.0))]
        );
        assert_eq!(exact.reduced(1, 1).len(), 1);
    }

    #[test]
    fn long_logs_have_bounded_curves_with_the_same_mean() {
        let steps = 100_000;
        let long = curve((0..steps).map(|step| (step, step as f64)));
        assert!(
            long.len() <= MOST && long.len() > MOST / 4,
            "{}",
            long.len()
        );
        assert_eq!(long.steps_per_point(), 8);
        assert_eq!(losses(&long)[1], (8, Some(11.5)));
        let sparse = curve((0..steps).map(|step| (u64::MAX / 3 + step * 10, 1.0)));
        assert!(sparse.len() <= MOST, "{}", sparse.len());
    }
}
