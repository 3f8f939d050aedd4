//! The arithmetic of norms of the simulated MIOpen, in f64, with injected faults.

use crate::{
    fault::{Fault, Faults},
    primitive_fault::PrimitiveFault,
};

/// A norm of dense elements.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedNorm {
    /// The means and variances.
    pub statistics: SimulatedStatistics,
    /// Added to each variance.
    pub epsilon: f64,
    /// The factor of each channel, and the number that is added.
    pub parameters: Vec<[f64; 2]>,
    /// The elements of a channel that follow each other.
    pub positions: usize,
}

/// The statistics of a norm.
#[derive(Debug, Clone, PartialEq)]
pub enum SimulatedStatistics {
    /// The mean and the variance of each channel.
    Recorded(Vec<[f64; 2]>),
    /// The statistics of so many elements that follow each other.
    Computed {
        /// The number of elements.
        together: usize,
        /// Whether the mean is subtracted, before the squares, too.
        is_centred: bool,
    },
}

impl SimulatedNorm {
    /// The mean of each group of the elements `x` with the reciprocal of the root of its variance,
    /// as the library returns them. Nothing is returned with the fault `primitive=silent`.
    pub fn returned(&self, x: &[f64], faults: &Faults) -> Vec<[f64; 2]> {
        let has = |fault: PrimitiveFault| faults.any(|one| *one == Fault::Primitive(fault));
        if has(PrimitiveFault::Silent) {
            return Vec::new();
        }
        let statistics = self.statistics.numbers(x, &has).into_iter();
        let returned = |[mean, variance]: [f64; 2]| {
            if has(PrimitiveFault::Statistics) {
                [mean, variance]
            } else {
                [mean, 1.0 / self.root(variance, &has)]
            }
        };
        statistics.map(returned).collect()
    }

    /// The deviation of a variance.
    fn root(&self, variance: f64, has: &impl Fn(PrimitiveFault) -> bool) -> f64 {
        if has(PrimitiveFault::Epsilon) {
            variance.sqrt() + self.epsilon
        } else {
            (variance + self.epsilon).sqrt()
        }
    }

    /// The results of the elements `x`.
    pub(crate) fn apply(&self, x: &[f64], has: &impl Fn(PrimitiveFault) -> bool) -> Vec<f64> {
        let statistics = self.statistics.numbers(x, has);
        let numbers = x.iter().enumerate();
        let result = |(index, x): (usize, &f64)| {
            let channel = index / self.positions % self.parameters.len();
            let [mean, variance] = match self.statistics {
                SimulatedStatistics::Recorded(_) => statistics[channel],
                SimulatedStatistics::Computed { together, .. } => statistics[index / together],
            };
            let mean = if has(PrimitiveFault::Mean) { 0.0 } else { mean };
            let root = self.root(variance, has);
            let parameter = if has(PrimitiveFault::Channel) {
                self.parameters.len() - 1
            } else {
                channel
            };
            let [weight, bias] = self.parameters[parameter];
            (x - mean) / root * weight + bias
        };
        numbers.map(result).collect()
    }
}

impl SimulatedStatistics {
    /// The mean and the variance of each channel, or of each group of elements.
    fn numbers(&self, x: &[f64], has: &impl Fn(PrimitiveFault) -> bool) -> Vec<[f64; 2]> {
        match self {
            Self::Recorded(recorded) => recorded.clone(),
            Self::Computed {
                together,
                is_centred,
            } => x
                .chunks(*together)
                .map(|group| computed(group, *is_centred, has))
                .collect(),
        }
    }
}

/// The mean and the variance of a group, or zero and the mean of squares.
fn computed(group: &[f64], is_centred: bool, has: &impl Fn(PrimitiveFault) -> bool) -> [f64; 2] {
    let count = group.len() as f64;
    let full = group.len() / PrimitiveFault::BLOCK * PrimitiveFault::BLOCK;
    let added = if has(PrimitiveFault::Block) && full > 0 {
        &group[..full]
    } else {
        group
    };
    let mean = if is_centred && !has(PrimitiveFault::Mean) {
        added.iter().sum::<f64>() / count
    } else {
        0.0
    };
    let squares: f64 = added.iter().map(|number| (number - mean).powi(2)).sum();
    let divisor = if has(PrimitiveFault::Samples) {
        count - 1.0
    } else {
        count
    };
    [mean, squares / divisor]
}

#[cfg(test)]
mod tests;
