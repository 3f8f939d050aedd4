//! The simulator: its devices and their properties. Memory and kernels are in the submodules.

mod execution;
mod transfer;

pub use transfer::Copy2d;

use crate::configuration::Configuration;
use crate::device_model::DeviceModel;
use crate::fault::Fault;
use crate::memory::SimulatedMemory;
use crate::properties::DeviceProperties;
use crate::statistics::Statistics;
use crate::status::HipError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All simulated devices of a process.
#[derive(Debug)]
pub struct Simulator {
    configuration: Configuration,
    devices: Vec<SimulatedDevice>,
    statistics: Statistics,
}

#[derive(Debug)]
struct SimulatedDevice {
    model: DeviceModel,
    memory: Mutex<SimulatedMemory>,
    allocations: AtomicU64,
    events: AtomicU64,
    copies: AtomicU64,
}

/// A stream. Every operation completes before its call returns, so a stream only identifies its
/// device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    /// The ordinal of its device.
    pub device: u32,
}

impl Simulator {
    /// The devices of `configuration`.
    pub fn new(configuration: Configuration) -> Self {
        let devices = configuration
            .devices
            .iter()
            .cloned()
            .map(SimulatedDevice::new)
            .collect();
        Self {
            configuration,
            devices,
            statistics: Statistics::default(),
        }
    }

    /// The configuration it was created with.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The counters of its work.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The number of devices.
    ///
    /// # Errors
    ///
    /// There is no device.
    pub fn device_count(&self) -> Result<u32, HipError> {
        let hidden = self
            .configuration
            .faults
            .any(|fault| *fault == Fault::NoDevice);
        match u32::try_from(self.devices.len()).unwrap_or(u32::MAX) {
            0 => Err(HipError::NoDevice),
            _ if hidden => Err(HipError::NoDevice),
            count => Ok(count),
        }
    }

    /// The properties of the device `ordinal`.
    ///
    /// # Errors
    ///
    /// There is no such device.
    pub fn properties(&self, ordinal: u32) -> Result<DeviceProperties, HipError> {
        let device = self.device(ordinal)?;
        Ok(DeviceProperties::new(
            &device.model,
            ordinal,
            &self.configuration.faults,
        ))
    }

    /// The model of the device `ordinal`.
    ///
    /// # Errors
    ///
    /// There is no such device.
    pub fn model(&self, ordinal: u32) -> Result<&DeviceModel, HipError> {
        self.device(ordinal).map(|device| &device.model)
    }

    /// Free and total bytes.
    ///
    /// # Errors
    ///
    /// There is no such device, or the fault [`Fault::MemoryInfo`] is set.
    pub fn memory_info(&self, ordinal: u32) -> Result<(usize, usize), HipError> {
        if self
            .configuration
            .faults
            .has(ordinal, |fault| *fault == Fault::MemoryInfo)
        {
            return Err(HipError::InvalidValue);
        }
        let memory = self.device(ordinal)?.memory();
        Ok((memory.free_bytes(), memory.total_bytes()))
    }

    fn device(&self, ordinal: u32) -> Result<&SimulatedDevice, HipError> {
        // Under the fault `no-device` no ordinal is valid either.
        self.device_count()?;
        self.devices
            .get(ordinal as usize)
            .ok_or(HipError::InvalidDevice)
    }
}

impl SimulatedDevice {
    fn new(model: DeviceModel) -> Self {
        let memory = Mutex::new(SimulatedMemory::new(model.memory));
        let [allocations, events, copies] = [const { AtomicU64::new(0) }; 3];
        Self {
            model,
            memory,
            allocations,
            events,
            copies,
        }
    }

    fn memory(&self) -> MutexGuard<'_, SimulatedMemory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The next number of a counter that starts at 1.
fn next(counter: &AtomicU64) -> u64 {
    // Relaxed: the number alone matters, and no other memory depends on it.
    counter.fetch_add(1, Ordering::Relaxed) + 1
}
