//! What the 16-bit types of a device really compute, found by computing and compared with f64.
//!
//! `cases` holds the inputs and the exact answers, `measure` lets the device answer, `classify` judges the answers and
//! touches no device, `choose` picks a precision for a model.

mod cases;
mod choose;
mod classify;
mod measure;

pub use choose::PrecisionError;
pub use classify::{Accumulator, Denormals, HalfSupport, PrecisionProbe, Rounding};

use crate::narration::narrate;
use crate::open::OpenDevice;
use classify::classify;
use measure::measure;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use testgen_contract::{DeviceKind, Precision};
use testgen_device::DetectionPath;

/// The verdict on both 16-bit types of one device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HalfProbe {
    /// IEEE 754 binary16.
    pub f16: PrecisionProbe,
    /// bfloat16.
    pub bf16: PrecisionProbe,
}

impl HalfProbe {
    /// The verdict on a precision; f32 is the reference and is not probed.
    pub fn of(&self, precision: Precision) -> Option<&PrecisionProbe> {
        match precision {
            Precision::F32 => None,
            Precision::F16 => Some(&self.f16),
            Precision::Bf16 => Some(&self.bf16),
        }
    }
}

/// Probes both 16-bit types by computing, once per device and process.
///
/// Never panics: what goes wrong is part of the verdict. The first call on a GPU takes up to a minute, because every
/// product is tuned.
pub fn probe_half_precision(device: &OpenDevice) -> HalfProbe {
    static PROBED: Mutex<BTreeMap<(DetectionPath, u32), Probed>> = Mutex::new(BTreeMap::new());
    let key = (device.facts.path, device.facts.index);
    let probed = PROBED.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone();
    probed.get_or_init(|| probe(device)).clone()
}

type Probed = Arc<OnceLock<HalfProbe>>;

fn probe(device: &OpenDevice) -> HalfProbe {
    if device.facts.kind != DeviceKind::Cpu {
        narrate(&device.facts.label(), "probing f16 and bf16; the first time, every product is tuned");
    }
    let verdict = |precision| classify(precision, &measure(device, precision));
    HalfProbe { f16: verdict(Precision::F16), bf16: verdict(Precision::Bf16) }
}

/// Tells what the probe found.
pub fn report_probe(label: &str, probe: &HalfProbe) {
    narrate(label, format_args!("half precision: {probe}"));
}

impl fmt::Display for HalfProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.f16, self.bf16)
    }
}

#[cfg(test)]
mod tests;
