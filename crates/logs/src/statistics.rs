//! The values of one metric of a log.

use serde::Serialize;

/// The values of a metric in its unit. Values that are NaN or infinite are only counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MetricSummary {
    /// Finite values.
    pub count: u64,
    /// Values that are NaN or infinite.
    pub non_finite: u64,
    /// The first value.
    pub first: Option<f64>,
    /// The last value.
    pub last: Option<f64>,
    /// The smallest value.
    pub min: Option<f64>,
    /// The largest value.
    pub max: Option<f64>,
    /// The mean of all values.
    pub mean: Option<f64>,
    #[serde(skip)]
    sum: f64,
}

impl MetricSummary {
    /// Adds a value.
    pub(super) fn add(&mut self, value: f64) {
        if !value.is_finite() {
            self.non_finite += 1;
            return;
        }
        self.count += 1;
        self.sum += value;
        self.first = self.first.or(Some(value));
        self.last = Some(value);
        self.min = Some(self.min.map_or(value, |min| min.min(value)));
        self.max = Some(self.max.map_or(value, |max| max.max(value)));
    }

    /// With its mean, or `None` if it has no value at all.
    pub(super) fn finish(mut self) -> Option<Self> {
        // A sum of large values can be infinite, which JSON does not have.
        // Without a finite value it is 0 / 0, which the filter drops, too.
        self.mean = Some(self.sum / self.count as f64).filter(|mean| mean.is_finite());
        (self.count + self.non_finite > 0).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::MetricSummary;

    #[test]
    fn non_finite_values_are_only_counted() {
        let mut summary = MetricSummary::default();
        [2.0, f64::NAN, 4.0, f64::INFINITY, 3.0]
            .into_iter()
            .for_each(|value| summary.add(value));
        let summary = summary.finish().expect("there are values");
        let MetricSummary {
            count,
            non_finite,
            first,
            last,
            min,
            max,
            mean,
            ..
        } = summary;
        assert_eq!((count, non_finite), (3, 2));
        assert_eq!(
            [first, last, min, max, mean],
            [2.0, 3.0, 2.0, 4.0, 3.0].map(Some)
        );
        assert_eq!(MetricSummary::default().finish(), None);
    }
}
