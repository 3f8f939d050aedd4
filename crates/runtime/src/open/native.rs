//! Opening a device with burn.
//!
//! `testgen-device` has checked that burn finds every library and symbol, so that opening cannot
//! abort. Here a kernel with a known answer proves that the device computes. Each device is opened
//! once per process; later calls return the result of the first.

mod backend;
mod first_kernel;
mod library;
mod product;

use super::{
    error::{OpenError, OpenStep},
    idle_priority, kernel_cache,
    open_device::{DeviceExecutor, OpenDevice},
    time_limit::time_limit,
};
use crate::{
    gpu_memory::{self, is_out_of_memory},
    log::{log_verbose, log_warning},
};
use backend::Products;
pub(super) use product::measure as loses_bits;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};
use testgen_device::{DetectionPath, Device, EngineKind};
use testgen_nn::{device::BackendDevice, weights::Residency};
use testgen_types::DeviceKind;

/// Opens `device` with burn and runs a kernel with a known answer, on a separate thread and within
/// a time limit.
///
/// After `Ok`, using the device cannot abort the process. A panic on one of cubecl's device threads
/// can still happen later, and its results read back as zeros: compare
/// [`device_panics`](super::device_panics) before and after a computation.
///
/// # Errors
///
/// The step that failed, with its message and a remedy.
pub fn open(device: Device) -> Result<OpenDevice, OpenError> {
    open_for(device, Products::Kernels)
}

/// The same, where the library of the device's vendor multiplies matrices. Returns its name and
/// version, too.
pub(super) fn open_with_library(device: Device) -> Result<(OpenDevice, String), OpenError> {
    let library = library::find(&device)?;
    open_for(device, Products::Library).map(|opened| (opened, library))
}

fn open_for(device: Device, products: Products) -> Result<OpenDevice, OpenError> {
    let key = (device.path, device.index, products);
    // Only the entry is taken under the lock: opening takes up to the time limit and must not block
    // other devices.
    let opened = OPENED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .entry(key)
        .or_default()
        .clone();
    let proven = opened.get_or_init(|| prove(&device, products)).clone();
    if proven
        .as_ref()
        .is_err_and(|error| is_out_of_memory(&error.message))
    {
        // Unlike other faults, this one may be over when the next check opens the device.
        OPENED
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&key);
    }
    // After the first call: it starts the device's threads, which would inherit the priority.
    idle_priority::lower_for_simulation(&device);
    proven
        .map(|Proven { backend, tf32 }| (DeviceExecutor::Native(backend), tf32))
        .map(|(executor, tf32)| OpenDevice {
            facts: device,
            executor,
            tf32,
            residency: Residency::Resident,
            fallback: None,
        })
}

type OpenedOnce = Arc<OnceLock<Result<Proven, OpenError>>>;

static OPENED: Mutex<BTreeMap<(DetectionPath, u32, Products), OpenedOnce>> =
    Mutex::new(BTreeMap::new());

/// Prepares the calling thread's streams of all opened devices for the next check after one that
/// ran out of memory.
pub(crate) fn recover() {
    let opened: Vec<OpenedOnce> = OPENED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .values()
        .cloned()
        .collect();
    opened
        .iter()
        // A device that is being opened by another thread has no stream of this thread.
        .filter_map(|opened| opened.get()?.as_ref().ok())
        .for_each(|proven| gpu_memory::recover(&proven.backend));
}

/// A device that computed the known answer.
#[derive(Clone)]
struct Proven {
    backend: BackendDevice,
    /// Whether its matrix products round f32 to TF32.
    tf32: bool,
}

fn prove(device: &Device, products: Products) -> Result<Proven, OpenError> {
    device
        .warnings
        .iter()
        .for_each(|warning| log_warning(device.label(), warning));
    // Before burn sees the device: for a missing library or symbol it ends the process instead of
    // returning an error.
    if let Some(unusable) = device.unusable_by(EngineKind::Native) {
        return Err(OpenError::new(
            device,
            OpenStep::Requirements,
            unusable,
            "fix this and start again",
        ));
    }
    let backend = backend::of_device(device, products)?;
    // Before the first kernel, which may already lack memory.
    memory_messages(device, &backend)?;
    if device.kind != DeviceKind::Cpu {
        log_verbose(
            device.label(),
            format_args!("opening `{}` with a known-answer kernel", device.name),
        );
        // Before the first kernel, because cubecl reads its configuration once.
        kernel_cache::configure(&device.label());
    }
    first_kernel::prove(device, &backend, time_limit())?;
    // After the known answer: a device that computes wrongly has no precision to measure.
    let tf32 = product::declare_tf32(device, &backend)?;
    Ok(Proven { backend, tf32 })
}

/// Checks the limit for its memory, and sets how messages about memory learn what is free.
#[cfg(any(feature = "cuda", feature = "rocm"))]
fn memory_messages(device: &Device, backend: &BackendDevice) -> Result<(), OpenError> {
    let BackendDevice::Gpu(gpu) = backend else {
        return Ok(());
    };
    testgen_gpu::memory_limit().map_err(|message| {
        OpenError::new(
            device,
            OpenStep::Requirements,
            message,
            "unset it, or write for instance 512",
        )
    })?;
    let facts = device.clone();
    gpu.report_memory_with(move || testgen_device::memory(&facts));
    Ok(())
}

#[cfg(not(any(feature = "cuda", feature = "rocm")))]
#[expect(clippy::unnecessary_wraps, reason = "as with GPUs")]
fn memory_messages(_: &Device, _: &BackendDevice) -> Result<(), OpenError> {
    Ok(())
}
