//! How far a tensor may be from its reference: four times the recorded noise, between a floor and a
//! ceiling.
//!
//! Floors and ceilings of the maximum error are twice as large as for rel-L2: the largest of many
//! errors is further from zero than their mean.

use crate::{
    golden::{Noise, NoiseLevel},
    harness::ToleranceOverride,
};
use testgen_types::{OutputError, Precision};

/// The largest errors that pass, in both measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Threshold {
    /// For |d| / |ref| over the tensor.
    pub(crate) rel_l2: f64,
    /// For max |d| / max |ref|.
    pub(crate) max_rel: f64,
}

/// The threshold of probabilities, which follows from the threshold of the scores that they are
/// computed from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DerivedThreshold {
    /// At most the largest threshold of the precision: with a wider one every probability passes.
    pub(crate) capped: Threshold,
    /// The largest error that the recorded noise of the scores can cause. An error between both
    /// shows nothing.
    pub(crate) uncapped: Threshold,
}

/// The arithmetic of a device in a precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeviceArithmetic {
    /// f32 throughout.
    F32,
    /// f32, but the factors of products are rounded to the mantissa of f16: the precision tf32, and
    /// a translation layer whose f32 was measured to be that.
    Tf32,
    /// f16.
    F16,
    /// bf16.
    Bf16,
}

/// Number of elements below which the L2 norm is dominated by single elements, any of which may be
/// near zero by chance.
const FEW: usize = 64;

impl Threshold {
    /// The threshold for `expected`, a tensor of the same kind as `recorded` but computed from
    /// other inputs.
    pub(crate) fn in_units_of(self, recorded: f64, expected: &[f32]) -> Self {
        // Many elements average out, so that the norm of another input is close to the recorded
        // one.
        if expected.len() >= FEW {
            return self;
        }
        // Noise is relative to the recorded tensor. A tensor of few elements may be much smaller by
        // chance, so it may be off by as much, in absolute terms, as the worst element of the
        // recorded tensor.
        let norm = expected
            .iter()
            .map(|value| f64::from(*value).powi(2))
            .sum::<f64>()
            .sqrt();
        let allowed = self.max_rel * recorded.max(largest(expected));
        // A tensor of zeros has no unit; it keeps its threshold, and every error in it is infinite.
        let per = |unit: f64, otherwise: f64| {
            if unit > 0.0 {
                allowed / unit
            } else {
                otherwise
            }
        };
        // If each of n elements is off by `allowed`, |d| is `allowed` times the root of n.
        let root = (expected.len() as f64).sqrt();
        Self {
            rel_l2: per(norm / root, self.rel_l2),
            max_rel: per(largest(expected), self.max_rel),
        }
    }

    const fn new(rel_l2: f64, max_rel: f64) -> Self {
        Self { rel_l2, max_rel }
    }
}

/// The factor between the noise of the reference and the error that passes.
// An implementation with the same arithmetic but another order of operations has an error of the
// size of the noise, and its largest element may be a few times that.
const NOISE_FACTOR: f64 = 4.0;

/// The limits of thresholds for one arithmetic.
struct ThresholdLimits {
    /// The precision whose noise applies.
    noise: Precision,
    /// A precision whose noise is an upper limit of it.
    noise_at_most: Option<Precision>,
    /// The least threshold; noise of a small model can be zero by chance.
    floor: Threshold,
    /// The largest threshold.
    // A numerically unstable reference must not let everything pass.
    ceiling: Threshold,
    /// The threshold of a tensor without recorded noise.
    without_noise: Threshold,
    /// The floor for comparing two runs of one device, which share most of their rounding errors.
    metamorphic_floor: Threshold,
}

impl DeviceArithmetic {
    /// The arithmetic of `precision` on a device; `tf32` is whether it declares TF32.
    pub(crate) fn new(precision: Precision, tf32: bool) -> Self {
        match precision {
            Precision::F32 if tf32 => Self::Tf32,
            Precision::F32 => Self::F32,
            Precision::Tf32 => Self::Tf32,
            Precision::F16 => Self::F16,
            Precision::Bf16 => Self::Bf16,
        }
    }

    // The floors in 16 bits are about one step of the type at 1: 2^-10 and 2^-7.
    fn limits(self) -> ThresholdLimits {
        match self {
            Self::F32 => ThresholdLimits {
                noise: Precision::F32,
                noise_at_most: None,
                floor: Threshold::new(3e-6, 6e-6),
                ceiling: Threshold::new(3e-5, 6e-5),
                without_noise: Threshold::new(1e-5, 3e-5),
                metamorphic_floor: Threshold::new(1e-6, 2e-6),
            },
            // The reference never computes in TF32. Its noise in f16 is the closest, because the
            // mantissas have equal lengths. TF32 has the range of bf16, though: where numbers are
            // too large for f16, its noise in bf16 is the smaller one.
            Self::Tf32 => ThresholdLimits {
                noise: Precision::F16,
                noise_at_most: Some(Precision::Bf16),
                floor: Threshold::new(1e-3, 2e-3),
                ceiling: Threshold::new(5e-2, 1e-1),
                without_noise: Threshold::new(5e-3, 1e-2),
                metamorphic_floor: Threshold::new(1e-3, 2e-3),
            },
            Self::F16 => ThresholdLimits {
                noise: Precision::F16,
                noise_at_most: None,
                floor: Threshold::new(1e-3, 2e-3),
                ceiling: Threshold::new(5e-2, 1e-1),
                without_noise: Threshold::new(1e-2, 2e-2),
                metamorphic_floor: Threshold::new(1e-3, 2e-3),
            },
            Self::Bf16 => ThresholdLimits {
                noise: Precision::Bf16,
                noise_at_most: None,
                floor: Threshold::new(8e-3, 1.6e-2),
                ceiling: Threshold::new(2e-1, 4e-1),
                without_noise: Threshold::new(5e-2, 1e-1),
                metamorphic_floor: Threshold::new(1e-3, 2e-3),
            },
        }
    }
}

/// The thresholds of one model on one device in one precision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tolerance<'a> {
    noise: &'a Noise,
    overrides: &'a [ToleranceOverride],
    precision: Precision,
    compute: DeviceArithmetic,
}

impl<'a> Tolerance<'a> {
    /// For results in `precision`; `tf32` is whether the device declares TF32.
    pub(crate) fn new(
        noise: &'a Noise,
        overrides: &'a [ToleranceOverride],
        precision: Precision,
        tf32: bool,
    ) -> Self {
        Self {
            noise,
            overrides,
            precision,
            compute: DeviceArithmetic::new(precision, tf32),
        }
    }

    /// For comparing with the recorded tensor `name`. An override in the spec replaces the computed
    /// threshold.
    pub(crate) fn golden(&self, name: &str) -> Threshold {
        let limits = self.compute.limits();
        let computed = self.threshold(&limits, NOISE_FACTOR, limits.floor, name);
        let Some(replacement) = self.replacement(name) else {
            return computed;
        };
        let ToleranceOverride {
            rel_l2, max_rel, ..
        } = *replacement;
        match (self.precision, self.compute) {
            // The author of the spec wrote the override for f32 arithmetic, so with TF32 it can
            // only widen the threshold.
            (Precision::F32, DeviceArithmetic::Tf32) => Threshold {
                rel_l2: rel_l2.max(computed.rel_l2),
                max_rel: max_rel.max(computed.max_rel),
            },
            _ => Threshold { rel_l2, max_rel },
        }
    }

    /// For probabilities that a softmax computes from the scores `name`, whose largest recorded one
    /// is `largest`.
    pub(crate) fn probabilities(&self, name: &str, largest: f64) -> DerivedThreshold {
        let Threshold { rel_l2, max_rel } = self.golden(name);
        // A softmax turns an absolute error of scores into a relative one of probabilities, at most
        // twice as large, because its own score and the others can be off in opposite directions.
        let factor = 2.0 * largest.max(1.0);
        let uncapped = Threshold::new(factor * rel_l2, factor * max_rel);
        let ceiling = self.compute.limits().ceiling;
        // The author of the spec has decided how far off the scores may be.
        if self.replacement(name).is_some() {
            return DerivedThreshold {
                capped: uncapped,
                uncapped,
            };
        }
        let capped = Threshold::new(
            uncapped.rel_l2.min(ceiling.rel_l2),
            uncapped.max_rel.min(ceiling.max_rel),
        );
        // Only noise that was recorded explains an error above the ceiling.
        let uncapped = self.noise(name).map_or(capped, |_| uncapped);
        DerivedThreshold { capped, uncapped }
    }

    /// The override of the spec for the recorded tensor `name`.
    fn replacement(&self, name: &str) -> Option<&'a ToleranceOverride> {
        let applies =
            |known: &&ToleranceOverride| known.output == name && known.precision == self.precision;
        self.overrides.iter().find(applies)
    }

    /// For comparing two runs of one device in one precision.
    pub(crate) fn metamorphic(&self, name: &str) -> Threshold {
        // An override describes a deviation from transformers, which two runs of one device have in
        // common.
        let limits = self.compute.limits();
        self.threshold(&limits, NOISE_FACTOR, limits.metamorphic_floor, name)
    }

    /// For comparing two runs of the same calls by one configuration on one device.
    ///
    /// Not even the shapes differ, so only sums in another order do, which stay within the noise.
    pub(crate) fn repeated(&self, name: &str) -> Threshold {
        let limits = self.compute.limits();
        self.threshold(&limits, 1.0, limits.metamorphic_floor, name)
    }

    /// Whether the device computes in f32.
    pub(crate) fn is_f32(&self) -> bool {
        self.compute == DeviceArithmetic::F32
    }

    /// The noise that the thresholds of `name` are derived from.
    pub(crate) fn noise(&self, name: &str) -> Option<NoiseLevel> {
        let ThresholdLimits {
            noise,
            noise_at_most,
            ..
        } = self.compute.limits();
        let level = self.noise.level(noise, name)?;
        let at_most = noise_at_most.and_then(|precision| self.noise.level(precision, name));
        Some(at_most.map_or(level, |at_most| level.min(at_most)))
    }

    /// Whether an error above the threshold may be the reference's own.
    pub(crate) fn leaves_open(&self, name: &str, error: &OutputError) -> bool {
        let ceiling = self.compute.limits().ceiling;
        self.noise(name).is_some_and(|noise| {
            // Where the recorded error of the reference is above the largest threshold, too,
            // neither a failure nor a pass would say anything.
            let is_unstable = noise.rel_l2 > ceiling.rel_l2 || noise.max_rel > ceiling.max_rel;
            is_unstable
                && error.rel_l2 <= NOISE_FACTOR * noise.rel_l2
                && error.max_rel <= NOISE_FACTOR * noise.max_rel
        })
    }

    fn threshold(
        &self,
        limits: &ThresholdLimits,
        factor: f64,
        floor: Threshold,
        name: &str,
    ) -> Threshold {
        let Some(noise) = self.noise(name) else {
            return limits.without_noise;
        };
        // The ceiling holds for recorded noise only: a tensor without any has a fixed threshold.
        Threshold {
            rel_l2: (factor * noise.rel_l2).clamp(floor.rel_l2, limits.ceiling.rel_l2),
            max_rel: (factor * noise.max_rel).clamp(floor.max_rel, limits.ceiling.max_rel),
        }
    }
}

#[cfg(test)]
mod tests;

fn largest(values: &[f32]) -> f64 {
    values
        .iter()
        .fold(0.0_f64, |most, value| most.max(f64::from(value.abs())))
}
