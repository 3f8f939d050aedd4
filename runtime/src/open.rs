//! Opening a detected device with burn, behind the known-answer half of the preflight.
//!
//! `testgen-device` has proven that burn finds every library and symbol, so that opening cannot abort; here a kernel
//! with a known answer proves that the device computes. Each device is opened once per process; the second call gets the
//! verdict of the first.

#[cfg(test)]
mod alone;
mod courtesy;
mod error;
mod isolated;
mod kernel_cache;
mod known_answer;
mod panics;
mod tf32;

pub use error::{OpenError, OpenStep};
pub(crate) use isolated::{Failure, isolated};
pub use panics::{device_panic_messages, device_panics};
pub use tf32::measure_tf32;

use crate::narration::narrate;
use burn::backend::flex::FlexDevice;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use testgen_contract::DeviceKind;
use testgen_device::{DetectionPath, Device};

/// The variable that sets how many seconds a device may take for its first kernel; 120 without it.
pub(crate) const OPEN_TIMEOUT_VARIABLE: &str = "TESTGEN_OPEN_TIMEOUT";

/// A device that burn computes on, proven by a known answer.
#[derive(Debug, Clone)]
pub struct OpenDevice {
    pub(crate) facts: Device,
    pub(crate) backend: BackendDevice,
    /// Whether f32 products may be computed in TF32.
    pub(crate) tf32: bool,
}

/// The device in the terms of its backend.
#[derive(Debug, Clone)]
pub(crate) enum BackendDevice {
    /// burn's Flex.
    Cpu(FlexDevice),
    /// burn's Dispatch: CUDA or ROCm.
    #[cfg(any(feature = "cuda", feature = "rocm"))]
    Gpu(burn::DispatchDevice),
}

impl OpenDevice {
    /// What detection found out about it.
    pub fn facts(&self) -> &Device {
        &self.facts
    }

    /// Whether f32 products on it may be computed in TF32, with the mantissa of f16: on NVIDIA GPUs of compute capability
    /// 8.0 and up burn offers no switch, and its autotuner chooses. Elsewhere it was measured, or no such unit is used.
    pub fn tf32(&self) -> bool {
        self.tf32
    }
}

/// Opens `device` and lets it compute a known answer, on a thread of its own and within a limit of time.
///
/// After `Ok`, using the device cannot abort the process. A panic on one of cubecl's device threads can still happen in
/// a later run, where it reads back as zeros: compare [`device_panics`] before and after.
///
/// # Errors
///
/// The step that failed, with its message and what to do.
pub fn open(device: Device) -> Result<OpenDevice, OpenError> {
    static OPENED: Mutex<BTreeMap<(DetectionPath, u32), Opened>> = Mutex::new(BTreeMap::new());
    let key = (device.path, device.index);
    let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone();
    let proven = opened.get_or_init(|| prove(&device)).clone();
    // After it, as the device's threads come from the first call and would inherit it.
    courtesy::give_way(&device);
    proven.map(|(backend, tf32)| OpenDevice { facts: device, backend, tf32 })
}

type Opened = Arc<OnceLock<Result<(BackendDevice, bool), OpenError>>>;

fn prove(device: &Device) -> Result<(BackendDevice, bool), OpenError> {
    if let Some(unusable) = &device.unusable {
        return Err(OpenError::new(device, OpenStep::Requirements, unusable, "mend that and start again"));
    }
    let backend = backend(device)?;
    if device.kind != DeviceKind::Cpu {
        narrate(&device.label(), format_args!("opening `{}` with a known-answer kernel", device.name));
        kernel_cache::configure(&device.label());
    }
    let limit = time_limit(std::env::var(OPEN_TIMEOUT_VARIABLE).ok().as_deref());
    known_answer::prove(device, &backend, limit)?;
    let tf32 = tf32::declare(device, &backend)?;
    Ok((backend, tf32))
}

/// burn's name for the device.
fn backend(device: &Device) -> Result<BackendDevice, OpenError> {
    match device.path {
        DetectionPath::HostProcessor => Ok(BackendDevice::Cpu(FlexDevice)),
        #[cfg(feature = "rocm")]
        DetectionPath::HipRuntime => {
            let rocm = burn::backend::rocm::RocmDevice::new(device.index as usize);
            Ok(BackendDevice::Gpu(burn::DispatchDevice::Rocm(rocm)))
        }
        #[cfg(feature = "cuda")]
        DetectionPath::CudaDriver | DetectionPath::CudaCompatibility => {
            let cuda = burn::backend::cuda::CudaDevice::new(device.index as usize);
            Ok(BackendDevice::Gpu(burn::DispatchDevice::Cuda(cuda)))
        }
        #[cfg(not(feature = "rocm"))]
        DetectionPath::HipRuntime => Err(OpenError::not_built(device, "rocm")),
        #[cfg(not(feature = "cuda"))]
        DetectionPath::CudaDriver | DetectionPath::CudaCompatibility => Err(OpenError::not_built(device, "cuda")),
    }
}

fn time_limit(value: Option<&str>) -> Duration {
    let seconds = value.and_then(|value| value.trim().parse().ok()).filter(|seconds| *seconds > 0);
    Duration::from_secs(seconds.unwrap_or(120))
}

#[cfg(test)]
mod tests;
