//! Which precision a model computes in.

use super::{HalfProbe, HalfSupport};
use testgen_contract::Precision;

/// Why a model cannot compute in a precision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrecisionError {
    /// The spec does not have it.
    #[error("precision `{wanted}` is not among those of the spec: {allowed}; add it there, or ask for another")]
    NotAllowed {
        /// What was asked for.
        wanted: Precision,
        /// What the spec has.
        allowed: String,
    },
    /// The probe found that the device does not compute it correctly.
    #[error("this device does not compute `{wanted}` correctly: {why}")]
    NotCorrect {
        /// What was asked for.
        wanted: Precision,
        /// What the probe found.
        why: String,
    },
    /// The spec has 16-bit types alone, and the device computes none of them correctly.
    #[error("this device computes no precision of the spec correctly: {why}; add `f32` to the spec")]
    NoneCorrect {
        /// What the probe found about each.
        why: String,
    },
}

impl HalfProbe {
    /// The precision to compute in: `wanted`, if the spec allows it and the device computes it correctly. Without a wish
    /// f32, the reference, where it is allowed, else the first of `allowed` that the device computes correctly. f32 is
    /// taken to be correct: its kernels were proven when the device was opened.
    ///
    /// # Errors
    ///
    /// Not allowed, or not correct on this device.
    pub fn choose(&self, wanted: Option<Precision>, allowed: &[Precision]) -> Result<Precision, PrecisionError> {
        let Some(wanted) = wanted else { return self.choose_freely(allowed) };
        if !allowed.contains(&wanted) {
            let allowed = allowed.iter().map(|precision| format!("`{precision}`")).collect::<Vec<_>>().join(", ");
            return Err(PrecisionError::NotAllowed { wanted, allowed });
        }
        match self.fault(wanted) {
            None => Ok(wanted),
            Some(why) => Err(PrecisionError::NotCorrect { wanted, why }),
        }
    }

    fn choose_freely(&self, allowed: &[Precision]) -> Result<Precision, PrecisionError> {
        if allowed.contains(&Precision::F32) {
            return Ok(Precision::F32);
        }
        let correct = allowed.iter().copied().find(|precision| self.fault(*precision).is_none());
        correct.ok_or_else(|| {
            let faults =
                allowed.iter().filter_map(|precision| Some(format!("{precision} {}", self.fault(*precision)?)));
            PrecisionError::NoneCorrect { why: faults.collect::<Vec<_>>().join("; ") }
        })
    }

    /// What is wrong with a precision; `None` for f32 and for what is correct.
    fn fault(&self, precision: Precision) -> Option<String> {
        match &self.of(precision)?.support {
            HalfSupport::Correct => None,
            other => Some(other.to_string()),
        }
    }
}
