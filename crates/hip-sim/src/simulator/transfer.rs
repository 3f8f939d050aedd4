//! Memory of the devices, and copies.

use super::{Simulator, next};
use crate::fault::Fault;
use crate::status::HipError;
use std::ffi::c_void;

/// A copy of rows, with the parameters of `hipMemcpy2D`.
#[derive(Debug, Clone, Copy)]
pub struct Copy2d {
    /// The destination.
    pub to: *mut c_void,
    /// The distance between two rows of the destination, in bytes.
    pub to_pitch: usize,
    /// The source.
    pub from: *const c_void,
    /// The distance between two rows of the source, in bytes.
    pub from_pitch: usize,
    /// Bytes of a row.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
}

impl Simulator {
    /// Allocates memory of the device.
    ///
    /// # Errors
    ///
    /// Not enough memory is free, or [`Fault::Allocate`] applies.
    pub fn allocate(&self, ordinal: u32, size: usize) -> Result<*mut c_void, HipError> {
        let device = self.device(ordinal)?;
        self.statistics.allocated();
        // Failures are counted as well, so that the number in a fault is the number of the call.
        let count = next(&device.allocations);
        if self.configuration.faults.has(
            ordinal,
            |fault| matches!(fault, Fault::Allocate(first) if count >= *first),
        ) {
            return Err(HipError::OutOfMemory);
        }
        let address = device.memory().allocate(size)?;
        if self
            .configuration
            .faults
            .has(ordinal, |fault| *fault == Fault::Dirty)
        {
            // SAFETY: the allocation is `size` bytes long, and nothing else uses it yet.
            unsafe { std::ptr::write_bytes(address as *mut u8, 0xff, size) };
        }
        Ok(address as *mut c_void)
    }

    /// Releases memory.
    ///
    /// # Errors
    ///
    /// It is not an allocation of the device.
    pub fn release(&self, ordinal: u32, pointer: *mut c_void) -> Result<(), HipError> {
        if self
            .configuration
            .faults
            .has(ordinal, |fault| *fault == Fault::Leak)
        {
            return Ok(());
        }
        self.device(ordinal)?.memory().release(pointer as usize)
    }

    /// Copies from the host.
    ///
    /// # Errors
    ///
    /// The bytes are not within one allocation of the device.
    ///
    /// # Safety
    ///
    /// `from` can be read for `size` bytes.
    pub unsafe fn copy_to_device(
        &self,
        ordinal: u32,
        to: *mut c_void,
        from: *const c_void,
        size: usize,
    ) -> Result<(), HipError> {
        self.within(ordinal, to, size)?;
        // SAFETY: the destination is within an allocation, the source is as the caller promises;
        // they may overlap.
        unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), size) };
        Ok(())
    }

    /// Copies to the host.
    ///
    /// # Errors
    ///
    /// The bytes are not within one allocation of the device.
    ///
    /// # Safety
    ///
    /// `to` can be written for `size` bytes.
    pub unsafe fn copy_to_host(
        &self,
        ordinal: u32,
        to: *mut c_void,
        from: *const c_void,
        size: usize,
    ) -> Result<(), HipError> {
        self.within(ordinal, from, size)?;
        self.count_copy(ordinal)?;
        // SAFETY: the source is within an allocation, the destination is as the caller promises;
        // they may overlap.
        unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), size) };
        Ok(())
    }

    /// Copies from an allocation of one device to one of another; each is a device and an address
    /// on it.
    ///
    /// # Errors
    ///
    /// The bytes are not within one allocation of their device.
    pub fn copy_between(
        &self,
        (to_device, to): (u32, *mut c_void),
        (from_device, from): (u32, *const c_void),
        size: usize,
    ) -> Result<(), HipError> {
        self.within(to_device, to, size)?;
        self.within(from_device, from, size)?;
        let is_lost = |byte: usize| {
            self.configuration.faults.has(
                to_device,
                |fault| matches!(fault, Fault::Peer(first) if byte >= *first),
            )
        };
        let written = (0..size).find(|byte| is_lost(*byte)).unwrap_or(size);
        // SAFETY: both are within allocations; they may overlap on one device.
        unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), written) };
        Ok(())
    }

    /// Copies rows, in any direction.
    ///
    /// # Errors
    ///
    /// There is no such device, or a row is longer than a pitch.
    ///
    /// # Safety
    ///
    /// All rows of the source can be read, and all rows of the destination written.
    pub unsafe fn copy_rows(&self, ordinal: u32, copy: &Copy2d) -> Result<(), HipError> {
        // Copies from the device count for the fault `copy`; copies to it do not.
        if self
            .device(ordinal)?
            .memory()
            .contains(copy.from as usize, copy.width)
        {
            self.count_copy(ordinal)?;
        }
        if copy.width > copy.to_pitch || copy.width > copy.from_pitch {
            return Err(HipError::InvalidValue);
        }
        for row in 0..copy.height {
            // SAFETY: as the caller promises.
            unsafe {
                let from = copy.from.cast::<u8>().add(row * copy.from_pitch);
                std::ptr::copy(
                    from,
                    copy.to.cast::<u8>().add(row * copy.to_pitch),
                    copy.width,
                );
            }
        }
        Ok(())
    }

    /// Counts a copy from the device, and fails if [`Fault::Copy`] applies to it.
    fn count_copy(&self, ordinal: u32) -> Result<(), HipError> {
        let count = next(&self.device(ordinal)?.copies);
        if self.configuration.faults.has(
            ordinal,
            |fault| matches!(fault, Fault::Copy(first) if count >= *first),
        ) {
            Err(HipError::Unknown)
        } else {
            Ok(())
        }
    }

    fn within(&self, ordinal: u32, pointer: *const c_void, size: usize) -> Result<(), HipError> {
        let inside = self
            .device(ordinal)?
            .memory()
            .contains(pointer as usize, size);
        if inside {
            Ok(())
        } else {
            Err(HipError::InvalidValue)
        }
    }
}
