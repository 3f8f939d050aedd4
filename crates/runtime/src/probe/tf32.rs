//! The probe of TF32: products of f32 are right to the accuracy of TF32, they are really computed
//! in TF32, and without the permission they are not.
//!
//! Everything but products is computed in f32, which was tested when the device was opened.

use super::{
    classify::{HalfSupport, PrecisionProbe, classify_tf32},
    measure::{Tf32Measurement, measure_tf32_products, side},
    probed::Probed,
};
use crate::open::{DeviceExecutor, OpenDevice, loses_bits_of_f32};
#[cfg(feature = "native")]
use testgen_nn::device::BackendDevice;
use testgen_types::{DeviceKind, Precision};

/// Probes TF32 on a GPU, once per device and process. Never panics: failures are part of the
/// result.
pub(super) fn probe(device: &OpenDevice) -> PrecisionProbe {
    static PROBED: Probed<PrecisionProbe> = Probed::new();
    PROBED.once(device, |device| {
        if has_units(device) {
            classify_tf32(&measured(device))
        } else {
            let why =
                "the device has no matrix units for TF32; NVIDIA's have them from compute capability 8.0".to_owned();
            PrecisionProbe::without_facts(Precision::Tf32, HalfSupport::Unsupported { why })
        }
    })
}

fn has_units(device: &OpenDevice) -> bool {
    match &device.executor {
        // torch has no query for such units, and the capability of the device implies them.
        DeviceExecutor::Engine { .. } => {
            device.facts.kind == DeviceKind::Cuda && has_capability(device)
        }
        #[cfg(feature = "native")]
        DeviceExecutor::Native(BackendDevice::Cpu(_)) => false,
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        DeviceExecutor::Native(BackendDevice::Gpu(device)) => testgen_gpu::has_tf32(*device),
    }
}

/// Whether the architecture is `sm_80` or later.
fn has_capability(device: &OpenDevice) -> bool {
    let number = device
        .facts
        .architecture
        .as_deref()
        .and_then(|name| name.strip_prefix("sm_"));
    number
        .and_then(|number| number.parse::<u32>().ok())
        // TF32 came with Ampere, whose compute capability is 8.0.
        .is_some_and(|number| number >= 80)
}

fn measured(device: &OpenDevice) -> Tf32Measurement {
    let [cancelling, random, fingerprint] = measure_tf32_products(device);
    Tf32Measurement {
        products: [cancelling, random],
        fingerprint,
        side: side(device.facts.simulated),
        tf32_loses: loses_bits_of_f32(device, Precision::Tf32),
        f32_loses: loses_bits_of_f32(device, Precision::F32),
        f32_is_tf32: device.tf32(),
    }
}
