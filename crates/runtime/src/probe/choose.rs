//! The selection of the precision that a model computes in.

use super::{HalfProbe, HalfSupport};
use testgen_types::Precision;

/// Why a model cannot compute in a precision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrecisionError {
    /// The spec does not have it.
    #[error(
        "precision `{requested}` is not among those of the spec: {allowed}; add it there, or request another"
    )]
    NotAllowed {
        /// The requested precision.
        requested: Precision,
        /// The precisions of the spec.
        allowed: String,
    },
    /// The probe found that the device does not compute it correctly.
    #[error("this device does not compute `{requested}` correctly: {why}")]
    NotCorrect {
        /// The requested precision.
        requested: Precision,
        /// The result of the probe.
        why: String,
    },
    /// The device computes none of the spec's precisions correctly, and f32 is not among them.
    #[error(
        "this device computes no precision of the spec correctly: {why}; add `f32` to the spec"
    )]
    NoneCorrect {
        /// The result of the probe for each.
        why: String,
    },
}

impl HalfProbe {
    /// The precision to compute in: `requested`, if the spec allows it and the device computes it
    /// correctly; it is never replaced by another one. Without a request, the first 16-bit type of
    /// `allowed` that the device computes correctly, else f32, else the first of the others. f32 is
    /// assumed to be correct: its kernels were tested when the device was opened.
    ///
    /// # Errors
    ///
    /// Not allowed, or not correct on this device.
    pub fn choose(
        &self,
        requested: Option<Precision>,
        allowed: &[Precision],
    ) -> Result<Precision, PrecisionError> {
        let Some(requested) = requested else {
            return self.choose_default(allowed);
        };
        // Before the probe, which says nothing about a precision that the spec does not have.
        if !allowed.contains(&requested) {
            let allowed = allowed
                .iter()
                .map(|precision| format!("`{precision}`"))
                .collect::<Vec<_>>()
                .join(", ");
            return Err(PrecisionError::NotAllowed { requested, allowed });
        }
        match self.fault(requested) {
            None => Ok(requested),
            Some(why) => Err(PrecisionError::NotCorrect { requested, why }),
        }
    }

    fn choose_default(&self, allowed: &[Precision]) -> Result<Precision, PrecisionError> {
        let half = allowed
            .iter()
            .copied()
            .filter(is_half)
            // In the order of the spec, whose author may prefer one.
            .find(|precision| self.fault(*precision).is_none());
        half.or_else(|| allowed.contains(&Precision::F32).then_some(Precision::F32))
            .or_else(|| {
                // Last, because the probe of TF32 compiles kernels that most models do not need.
                allowed
                    .iter()
                    .copied()
                    .find(|precision| !is_half(precision) && self.fault(*precision).is_none())
            })
            .ok_or_else(|| {
                let faults = allowed.iter().filter_map(|precision| {
                    Some(format!("{precision} {}", self.fault(*precision)?))
                });
                PrecisionError::NoneCorrect {
                    why: faults.collect::<Vec<_>>().join("; "),
                }
            })
    }

    /// Why a precision is not correct; `None` for one that is not probed and for a correct one.
    fn fault(&self, precision: Precision) -> Option<String> {
        match self.for_precision(precision)?.support {
            HalfSupport::Correct => None,
            other => Some(other.to_string()),
        }
    }
}

fn is_half(precision: &Precision) -> bool {
    matches!(precision, Precision::F16 | Precision::Bf16)
}
