//! Events, kernels and launches, with the faults that affect them.

use super::{Simulator, next};
use crate::corruption::{BuffersBefore, Corruption};
use crate::fault::Fault;
use crate::launch::{self, Launch};
use crate::module::{Function, Module};
use crate::properties::{SHARED_MEMORY, THREADS_PER_BLOCK};
use crate::status::HipError;
use std::time::{Duration, Instant};

/// How long a kernel takes under [`Fault::Slow`].
// Longer than the time limits in tests.
const SLOW: Duration = Duration::from_secs(30);

impl Simulator {
    /// Records an event; the operations before it are complete already.
    ///
    /// # Errors
    ///
    /// Only under [`Fault::Event`].
    pub fn record_event(&self, ordinal: u32) -> Result<(), HipError> {
        let count = next(&self.device(ordinal)?.events);
        let faults = &self.configuration.faults;
        if faults.has(
            ordinal,
            |fault| matches!(fault, Fault::Event(first) if count >= *first),
        ) {
            Err(HipError::Unknown)
        } else {
            Ok(())
        }
    }

    /// The kernel `name` of a module.
    ///
    /// # Errors
    ///
    /// The module has no such kernel, or [`Fault::Load`] matches it.
    pub fn function(
        &self,
        ordinal: u32,
        module: &Module,
        name: &std::ffi::CStr,
    ) -> Result<Function, HipError> {
        let function = module.function(name)?;
        let faults = &self.configuration.faults;
        if faults.has(ordinal, |fault| fault.is_load_of(&function.name)) {
            Err(HipError::NotFound)
        } else {
            Ok(function)
        }
    }

    /// Runs a kernel to completion.
    ///
    /// # Errors
    ///
    /// The extents are out of range, or [`Fault::Launch`] matches the kernel.
    ///
    /// # Safety
    ///
    /// `launch.arguments` points to as many pointers as the kernel has arguments, each to a value
    /// of its type, and the buffers are as large as the kernel assumes. The kernel's module stays
    /// loaded.
    pub unsafe fn launch(
        &self,
        ordinal: u32,
        function: &Function,
        launch: &Launch,
    ) -> Result<(), HipError> {
        let device = self.device(ordinal)?;
        check_extents(launch)?;
        // An idle kernel reports success, so that only wrong numbers can reveal it.
        if !self.starts(ordinal, &function.name)? {
            return Ok(());
        }
        let corruption = self.corruption(ordinal, &function.name);
        // SAFETY: the arguments are as the caller promises.
        let before = unsafe {
            corruption.map(|corruption| {
                BuffersBefore::copy(corruption, &device.memory(), function, launch.arguments)
            })
        };
        // After the copies for a fault, which are not time of the kernel.
        let started = Instant::now();
        let wave_size = device.model.architecture.wave_size();
        // SAFETY: as the caller promises.
        let stats = unsafe { launch::run(function, launch, wave_size) };
        self.statistics
            .launched(function.fibers, started.elapsed(), stats);
        if let Some(before) = before {
            before.corrupt();
        }
        Ok(())
    }

    /// Applies the faults before a kernel's execution; whether it executes at all.
    fn starts(&self, ordinal: u32, kernel: &str) -> Result<bool, HipError> {
        let faults = &self.configuration.faults;
        if faults.has(
            ordinal,
            |fault| matches!(fault, Fault::Launch(text) if kernel.contains(text.as_str())),
        ) {
            return Err(HipError::LaunchFailure);
        }
        if faults.has(
            ordinal,
            |fault| matches!(fault, Fault::Slow(text) if kernel.contains(text.as_str())),
        ) {
            std::thread::sleep(SLOW);
        }
        Ok(!faults.has(
            ordinal,
            |fault| matches!(fault, Fault::Idle(text) if kernel.contains(text.as_str())),
        ))
    }

    /// The corruption of the kernel's output, if a fault asks for one.
    fn corruption(&self, ordinal: u32, kernel: &str) -> Option<Corruption> {
        self.configuration
            .faults
            .find(ordinal, |fault| match fault {
                Fault::Wrong(text) if kernel.contains(text.as_str()) => Some(Corruption::Wrong),
                Fault::Nan(text) if kernel.contains(text.as_str()) => Some(Corruption::Nan),
                _ => None,
            })
    }
}

fn check_extents(launch: &Launch) -> Result<(), HipError> {
    // A product that overflows is as invalid as one above the limits.
    let threads = launch.block.count().unwrap_or(u64::MAX);
    let blocks = launch.grid.count().unwrap_or(u64::MAX);
    let fits =
        (1..=u64::from(THREADS_PER_BLOCK)).contains(&threads) && (1..u64::MAX).contains(&blocks);
    if fits && launch.shared_memory as usize <= SHARED_MEMORY {
        Ok(())
    } else {
        Err(HipError::InvalidValue)
    }
}
