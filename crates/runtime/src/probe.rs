//! The half-precision probe: measures what the 16-bit types of a device compute, and compares it with f64.
//!
//! `cases` has the inputs and the exact answers, `measure` computes them on the device, `classify` evaluates the
//! answers without a device, `choose` selects a precision for a model.

mod cases;
mod choose;
mod classify;
mod measure;

pub use choose::PrecisionError;
pub use classify::{Accumulator, Denormals, HalfSupport, PrecisionProbe, Rounding};

use crate::{label::Label, log::log_verbose, open::OpenDevice};
use classify::classify;
use measure::measure;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use testgen_device::DetectionPath;
use testgen_types::{DeviceKind, Precision};

/// The result for both 16-bit types of one device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HalfProbe {
    /// IEEE 754 binary16.
    pub f16: PrecisionProbe,
    /// bfloat16.
    pub bf16: PrecisionProbe,
}

impl HalfProbe {
    /// The result for a precision; `None` for f32, which is the reference and is not probed.
    pub fn of(&self, precision: Precision) -> Option<&PrecisionProbe> {
        match precision {
            Precision::F32 => None,
            Precision::F16 => Some(&self.f16),
            Precision::Bf16 => Some(&self.bf16),
        }
    }
}

/// Probes both 16-bit types, once per device and process.
///
/// Never panics: failures are part of the result. The first call on a GPU compiles the kernels that it uses.
pub fn probe_half_precision(device: &OpenDevice) -> HalfProbe {
    static PROBED: Mutex<BTreeMap<(DetectionPath, u32), Probed>> = Mutex::new(BTreeMap::new());
    let key = (device.facts.path, device.facts.index);
    // Only the entry is taken under the lock: a probe takes seconds and must not block other devices.
    let probed = PROBED.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone();
    probed.get_or_init(|| probe(device)).clone()
}

type Probed = Arc<OnceLock<HalfProbe>>;

fn probe(device: &OpenDevice) -> HalfProbe {
    if device.facts.kind != DeviceKind::Cpu {
        log_verbose(device.facts.label(), "probing f16 and bf16");
    }
    let result = |precision| classify(precision, &measure(device, precision));
    HalfProbe { f16: result(Precision::F16), bf16: result(Precision::Bf16) }
}

/// Logs the result of the probe.
pub fn report_probe(label: &Label, probe: &HalfProbe) {
    log_verbose(label, format_args!("half precision: {probe}"));
}

impl fmt::Display for HalfProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.f16, self.bf16)
    }
}

#[cfg(test)]
mod tests;
