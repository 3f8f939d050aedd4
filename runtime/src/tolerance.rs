//! How far a tensor may be from its reference: the table of conformance, applied to recorded noise.
//!
//! The table has ceilings for rel-L2 alone; the ceiling of the other measure is twice that, as with the floors.

use crate::{ToleranceOverride, golden::Noise};
use testgen_contract::Precision;

/// The largest errors that pass, by both measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Threshold {
    /// For |d| / |ref| over the tensor.
    pub(crate) rel_l2: f64,
    /// For max |d| / max |ref|.
    pub(crate) max_rel: f64,
}

/// A row of the table: what a device computes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compute {
    /// f32 throughout.
    F32,
    /// f32 whose products may have the mantissa of f16; the device says so.
    Tf32,
    /// f16.
    F16,
    /// bf16.
    Bf16,
}

/// Below so many elements the L2 norm is no mean, and one number may be near zero by chance.
const FEW: usize = 64;

impl Threshold {
    /// For a tensor of the same kind as `recorded`, on other inputs. Noise was measured in units of the recorded tensor, so
    /// few elements are allowed as much, in absolute terms, as the single worst element of the recorded tensor.
    pub(crate) fn in_units_of(self, recorded: &[f32], expected: &[f32]) -> Self {
        if expected.len() >= FEW {
            return self;
        }
        let largest = |values: &[f32]| values.iter().fold(0.0_f64, |most, value| most.max(f64::from(value.abs())));
        let norm = expected.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        let allowed = self.max_rel * largest(recorded).max(largest(expected));
        let per = |unit: f64, otherwise: f64| if unit > 0.0 { allowed / unit } else { otherwise };
        let root = (expected.len() as f64).sqrt();
        Self { rel_l2: per(norm / root, self.rel_l2), max_rel: per(largest(expected), self.max_rel) }
    }
}

/// How many times its own noise a reference may be missed by.
const NOISE_FACTOR: f64 = 4.0;

/// The numbers of one row, each `[rel-L2, max]`.
struct Row {
    noise: Precision,
    floor: [f64; 2],
    ceiling: [f64; 2],
    without_noise: [f64; 2],
    /// The floor where two results of one device in one type are compared.
    metamorphic_floor: [f64; 2],
}

impl Compute {
    /// The row for a precision on a device that declares TF32 or not.
    pub(crate) fn of(precision: Precision, tf32: bool) -> Self {
        match precision {
            Precision::F32 if tf32 => Self::Tf32,
            Precision::F32 => Self::F32,
            Precision::F16 => Self::F16,
            Precision::Bf16 => Self::Bf16,
        }
    }

    fn row(self) -> Row {
        match self {
            Self::F32 => Row {
                noise: Precision::F32,
                floor: [3e-6, 6e-6],
                ceiling: [3e-5, 6e-5],
                without_noise: [1e-5, 3e-5],
                metamorphic_floor: [1e-6, 2e-6],
            },
            Self::Tf32 => Row {
                noise: Precision::F16,
                floor: [1e-3, 2e-3],
                ceiling: [5e-2, 1e-1],
                without_noise: [5e-3, 1e-2],
                metamorphic_floor: [1e-3, 2e-3],
            },
            Self::F16 => Row {
                noise: Precision::F16,
                floor: [1e-3, 2e-3],
                ceiling: [5e-2, 1e-1],
                without_noise: [1e-2, 2e-2],
                metamorphic_floor: [1e-3, 2e-3],
            },
            Self::Bf16 => Row {
                noise: Precision::Bf16,
                floor: [8e-3, 1.6e-2],
                ceiling: [2e-1, 4e-1],
                without_noise: [5e-2, 1e-1],
                metamorphic_floor: [1e-3, 2e-3],
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
    compute: Compute,
}

impl<'a> Tolerance<'a> {
    /// For results in `precision` on a device that declares TF32 or not.
    pub(crate) fn new(noise: &'a Noise, overrides: &'a [ToleranceOverride], precision: Precision, tf32: bool) -> Self {
        Self { noise, overrides, precision, compute: Compute::of(precision, tf32) }
    }

    /// Against the recorded tensor `name`. An override of the spec replaces the table; where the device declares TF32, an
    /// override for f32 can only widen it, because the spec's author wrote of f32.
    pub(crate) fn golden(&self, name: &str) -> Threshold {
        let row = self.compute.row();
        let table = self.clamped(&row, row.floor, name);
        let of_name = |known: &&ToleranceOverride| known.output == name && known.precision == self.precision;
        let Some(wanted) = self.overrides.iter().find(of_name) else { return table };
        match self.compute {
            Compute::Tf32 => {
                Threshold { rel_l2: wanted.rel_l2.max(table.rel_l2), max_rel: wanted.max_rel.max(table.max_rel) }
            }
            Compute::F32 | Compute::F16 | Compute::Bf16 => Threshold { rel_l2: wanted.rel_l2, max_rel: wanted.max_rel },
        }
    }

    /// Between two results of the same device in the same type.
    pub(crate) fn metamorphic(&self, name: &str) -> Threshold {
        let row = self.compute.row();
        self.clamped(&row, row.metamorphic_floor, name)
    }

    /// The reference's own error in the type that this row is about.
    pub(crate) fn noise(&self, name: &str) -> Option<[f64; 2]> {
        self.noise.of(self.compute.row().noise, name)
    }

    fn clamped(&self, row: &Row, floor: [f64; 2], name: &str) -> Threshold {
        let [rel_l2, max_rel] = match self.noise.of(row.noise, name) {
            Some(noise) => {
                [0, 1].map(|measure| (NOISE_FACTOR * noise[measure]).clamp(floor[measure], row.ceiling[measure]))
            }
            None => row.without_noise,
        };
        Threshold { rel_l2, max_rel }
    }
}

#[cfg(test)]
mod tests;
