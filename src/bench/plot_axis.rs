//! The axes of a plot: sizes by their logarithm, because they are usually doubled, and rates from 0
//! on, so that a difference looks as large as it is.

/// The axis of sizes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SizeAxis {
    /// Every size of the plot, in ascending order.
    sizes: Vec<usize>,
}

/// The part of the axis before the first size and after the last one.
const MARGIN: f64 = 0.05;

/// Labels nearer than this part of the axis would cover each other.
const NEAREST: f64 = 0.07;

impl SizeAxis {
    /// The axis of sizes in any order.
    pub(super) fn new(mut sizes: Vec<usize>) -> Self {
        sizes.sort_unstable();
        sizes.dedup();
        Self { sizes }
    }

    /// The place of a size, from 0 to 1.
    pub(super) fn place(&self, size: usize) -> f64 {
        let (Some(&first), Some(&last)) = (self.sizes.first(), self.sizes.last()) else {
            return 0.5;
        };
        let [low, size, high] = [first, size, last]
            // A batch of 0 is not measured, and has no logarithm.
            .map(|size| (size.max(1) as f64).ln());
        // A single size has no distance that could be divided.
        if low == high {
            return 0.5;
        }
        MARGIN + (1.0 - 2.0 * MARGIN) * (size - low) / (high - low)
    }

    /// The sizes that have a label.
    pub(super) fn labels(&self) -> Vec<usize> {
        let mut labels: Vec<usize> = Vec::new();
        for &size in &self.sizes {
            let is_free = labels
                .last()
                .is_none_or(|&before| self.place(size) - self.place(before) >= NEAREST);
            if is_free {
                labels.push(size);
            }
        }
        labels
    }
}

/// The axis of rates, from 0 to a multiple of its step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RateAxis {
    step: f64,
    steps: u32,
}

/// The most steps of an axis.
const STEPS: f64 = 5.0;

impl RateAxis {
    /// The axis for rates up to `highest`.
    pub(super) fn new(highest: f64) -> Self {
        if !(highest.is_finite() && highest > 0.0) {
            return Self {
                step: 1.0,
                steps: 1,
            };
        }
        let least = highest / STEPS;
        let power = 10_f64.powf(least.log10().floor());
        let factors = [1.0, 2.0, 5.0];
        let step = factors
            .iter()
            .map(|factor| factor * power)
            .find(|step| *step >= least)
            // Above 5 times the power of ten, the next one.
            .unwrap_or(10.0 * power);
        Self {
            step,
            steps: (highest / step).ceil().max(1.0) as u32,
        }
    }

    /// The place of a rate, from 0 to 1.
    pub(super) fn place(self, rate: f64) -> f64 {
        rate / (self.step * f64::from(self.steps))
    }

    /// The rates that have a label, and the labels.
    pub(super) fn labels(self) -> Vec<(f64, String)> {
        // A step below 1 has as many digits as it needs.
        let decimals = (-self.step.log10().floor()).max(0.0) as usize;
        (0..=self.steps)
            .map(|index| {
                let rate = self.step * f64::from(index);
                (rate, format!("{rate:.decimals$}"))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{RateAxis, SizeAxis};

    #[test]
    fn sizes_that_are_doubled_have_equal_distances() {
        let axis = SizeAxis::new(vec![4, 1, 2, 2]);
        let places = [1, 2, 4].map(|size| axis.place(size));
        assert!((places[0] - 0.05).abs() < 1e-12 && (places[2] - 0.95).abs() < 1e-12);
        assert!((places[1] - 0.5).abs() < 1e-12, "{places:?}");
        assert_eq!(axis.labels(), [1, 2, 4]);
        // Labels that would cover each other are omitted.
        assert_eq!(
            SizeAxis::new(vec![1, 100, 101, 1000]).labels(),
            [1, 100, 1000]
        );
        assert_eq!(SizeAxis::new(vec![8]).place(8), 0.5);
    }

    #[test]
    fn rates_begin_at_zero_and_have_round_steps() {
        let labels = |highest: f64| -> Vec<String> {
            let labels = RateAxis::new(highest).labels();
            labels.into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(51_200.0), ["0", "20000", "40000", "60000"]);
        assert_eq!(labels(10.0), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(0.3), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(f64::NAN), ["0", "1"]);
        assert_eq!(RateAxis::new(51_200.0).place(30_000.0), 0.5);
    }
}
