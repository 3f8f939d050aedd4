//! The half-precision probe: measures what the 16-bit types of a device, and its TF32, compute, and
//! compares it with f64.
//!
//! `cases` has the inputs and the exact answers, `measure` asks the device, `native` and
//! `on_engine` compute them, `classify` evaluates the answers without a device, `fingerprint` the
//! answers that identify the matrix unit, `tf32` measures products in TF32, `choose` selects a
//! precision for a model.

mod cases;
mod choose;
mod classify;
mod fingerprint;
mod measure;
#[cfg(feature = "native")]
mod native;
mod on_engine;
mod probed;
mod question;
mod tf32;

pub use choose::PrecisionError;
pub use classify::{Accumulator, Denormals, HalfSupport, PrecisionProbe, Rounding};

use crate::{label::Label, log::log_verbose, open::OpenDevice};
use classify::classify;
use measure::measure;
use probed::Probed;
use serde::Serialize;
use std::fmt;
use testgen_types::{DeviceKind, Precision};

/// The result for both 16-bit types of one device. TF32 is probed when it is asked for: few models
/// compute in it.
#[derive(Debug, Clone, Serialize)]
pub struct HalfProbe {
    /// IEEE 754 binary16.
    pub f16: PrecisionProbe,
    /// bfloat16.
    pub bf16: PrecisionProbe,
    /// The GPU whose TF32 [`HalfProbe::of`] probes, or `None` for the CPU, which computes f32 in
    /// its place.
    #[serde(skip)]
    gpu: Option<OpenDevice>,
}

impl HalfProbe {
    /// The result for a precision; `None` for f32, which is the reference and is not probed, and
    /// for tf32 on the CPU. The first call for tf32 on a GPU compiles the kernels that it uses.
    pub fn for_precision(&self, precision: Precision) -> Option<PrecisionProbe> {
        match precision {
            Precision::F32 => None,
            Precision::Tf32 => self.gpu.as_ref().map(tf32::probe),
            Precision::F16 => Some(self.f16.clone()),
            Precision::Bf16 => Some(self.bf16.clone()),
        }
    }
}

/// Probes both 16-bit types, once per device and process.
///
/// Never panics: failures are part of the result. The first call on a GPU compiles the kernels that
/// it uses.
pub fn probe_half_precision(device: &OpenDevice) -> HalfProbe {
    static PROBED: Probed<HalfProbe> = Probed::new();
    let probe = PROBED.once(device, probe);
    // The device of this call: the process of an engine that was probed first may have ended.
    let gpu = probe.gpu.is_some().then(|| device.clone());
    HalfProbe { gpu, ..probe }
}

fn probe(device: &OpenDevice) -> HalfProbe {
    if device.facts.kind != DeviceKind::Cpu {
        log_verbose(device.facts.label(), "probing f16 and bf16");
    }
    // TF32 exists on matrix units only; the CPU computes f32 in its place.
    let gpu = (device.facts.kind != DeviceKind::Cpu).then(|| device.clone());
    HalfProbe {
        f16: classify(Precision::F16, &measure(device, Precision::F16)),
        bf16: classify(Precision::Bf16, &measure(device, Precision::Bf16)),
        gpu,
    }
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
