//! Opening a detected device, with burn or with the engine of a check.

mod error;
#[cfg(feature = "native")]
mod idle_priority;
mod isolated;
mod kernel_cache;
mod known_answer;
mod low_bits;
#[cfg(feature = "native")]
mod native;
mod open_device;
mod panics;
mod split;
#[cfg(test)]
mod subprocess_test;
mod tf32;
mod time_limit;
#[cfg(not(feature = "native"))]
mod without_native;

pub use error::{OpenError, OpenStep};
#[cfg(feature = "native")]
pub(crate) use isolated::{IsolatedFailure, isolated};
pub(crate) use kernel_cache::{
    folder as kernel_cache_folder, remove_abandoned as remove_abandoned_locks,
};
#[cfg(feature = "native")]
pub use native::open;
#[cfg(feature = "native")]
use native::open_with_library;
#[cfg(feature = "native")]
pub(crate) use native::recover;
pub(crate) use open_device::DeviceExecutor;
pub use open_device::OpenDevice;
pub(crate) use panics::out_of_memory;
pub use panics::{device_panic_messages, device_panics};
pub(crate) use tf32::loses_bits_of_f32;
pub use tf32::measure_tf32;
#[cfg(not(feature = "native"))]
pub use without_native::open;
#[cfg(not(feature = "native"))]
use without_native::open_with_library;
#[cfg(not(feature = "native"))]
pub(crate) use without_native::recover;

use crate::{engine::CheckEngine, machine::host_processor};
use split::devices_of_split;
use testgen_device::Device;
use testgen_engine::{EngineName, LayerPlaces};
use testgen_nn::weights::Residency;

/// Opens `device` with a native engine, outside of checks.
///
/// # Errors
///
/// As [`open`]; the library of the engine is not found, or fails.
pub fn open_on(engine: &EngineName, device: Device) -> Result<OpenDevice, OpenError> {
    open_with(&CheckEngine::new(engine.clone()), device)
}

/// Opens `device` with the engine of a check: the CPU in the place of `device` is a fallback.
pub(crate) fn open_with(engine: &CheckEngine, device: Device) -> Result<OpenDevice, OpenError> {
    if engine.name().is_native() {
        return open_native(engine, device);
    }
    let process = engine
        .attach(&device)
        .map_err(|error| OpenError::of_engine(&device, error))?;
    known_answer::prove_engine(&device, &process)?;
    let (tf32, fallback) = (
        process.tf32(),
        process.fallback().map(|why| (device.kind, why)),
    );
    // A report must name the device that computes.
    let facts = if fallback.is_some() {
        host_processor()
    } else {
        device
    };
    Ok(OpenDevice {
        facts,
        executor: DeviceExecutor::Engine {
            process,
            engine: engine.clone(),
        },
        tf32,
        residency: Residency::Resident,
        fallback,
    })
}

fn open_native(engine: &CheckEngine, device: Device) -> Result<OpenDevice, OpenError> {
    let residency = match engine.name().layers() {
        LayerPlaces::OneDevice => Residency::Resident,
        LayerPlaces::File => Residency::Streamed,
        LayerPlaces::AllDevices => {
            let devices = devices_of_split(&device)?;
            let count = devices.len() as u16;
            // Each computes its known answer before a layer is put on it.
            for other in devices {
                open_one(engine, other)?;
            }
            Residency::Split(count)
        }
    };
    Ok(OpenDevice {
        residency,
        ..open_one(engine, device)?
    })
}

fn open_one(engine: &CheckEngine, device: Device) -> Result<OpenDevice, OpenError> {
    if !engine.name().has_vendor_products() {
        return open(device);
    }
    let (opened, library) = open_with_library(device)?;
    engine.note_versions(&library);
    Ok(opened)
}

#[cfg(test)]
mod tests;
