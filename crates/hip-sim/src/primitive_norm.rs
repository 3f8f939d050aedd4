//! The arithmetic of norms of the simulated MIOpen, in f64, with injected faults.

use crate::primitive_fault::PrimitiveFault;

/// A norm of dense elements.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedNorm {
    /// The mean and the variance of each channel.
    pub recorded: Vec<[f64; 2]>,
    /// Added to each variance.
    pub epsilon: f64,
    /// The factor of each channel, and the number that is added.
    pub parameters: Vec<[f64; 2]>,
    /// The elements of a channel that follow each other.
    pub positions: usize,
}

impl SimulatedNorm {
    /// The results of the elements `x`.
    pub(crate) fn apply(&self, x: &[f64], has: &impl Fn(PrimitiveFault) -> bool) -> Vec<f64> {
        let numbers = x.iter().enumerate();
        let result = |(index, x): (usize, &f64)| {
            let channel = index / self.positions % self.parameters.len();
            let [mean, variance] = self.recorded[channel];
            let mean = if has(PrimitiveFault::Mean) { 0.0 } else { mean };
            let root = if has(PrimitiveFault::Epsilon) {
                variance.sqrt() + self.epsilon
            } else {
                (variance + self.epsilon).sqrt()
            };
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

#[cfg(test)]
mod tests;
