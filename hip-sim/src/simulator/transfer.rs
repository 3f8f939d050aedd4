//! Memory of the devices, and copies.

use super::{Simulator, next};
use crate::Status;
use crate::fault::Fault;
use std::ffi::c_void;

/// A copy of rows.
#[derive(Debug, Clone, Copy)]
pub struct Copy2d {
    /// Where to, and the bytes from row to row there.
    pub to: (*mut c_void, usize),
    /// Where from, and the bytes from row to row there.
    pub from: (*const c_void, usize),
    /// Bytes of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl Simulator {
    /// Memory of the device.
    ///
    /// # Errors
    ///
    /// There is not as much.
    pub fn allocate(&self, ordinal: u32, size: usize) -> Result<*mut c_void, Status> {
        let device = self.device(ordinal)?;
        self.statistics.allocated();
        let count = next(&device.allocations);
        if self.configuration.faults.has(ordinal, |fault| matches!(fault, Fault::Allocate(first) if count >= *first)) {
            return Err(Status::OutOfMemory);
        }
        let address = device.memory().allocate(size)?;
        if self.configuration.faults.has(ordinal, |fault| *fault == Fault::Dirty) {
            // SAFETY: the allocation is `size` bytes long, and nobody else knows it yet.
            unsafe { std::ptr::write_bytes(address as *mut u8, 0xff, size) };
        }
        Ok(address as *mut c_void)
    }

    /// Gives memory back.
    ///
    /// # Errors
    ///
    /// It is not the device's.
    pub fn release(&self, ordinal: u32, pointer: *mut c_void) -> Result<(), Status> {
        if self.configuration.faults.has(ordinal, |fault| *fault == Fault::Leak) {
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
    ) -> Result<(), Status> {
        self.within(ordinal, to, size)?;
        // SAFETY: the target lies within an allocation, the source is as the caller promises; they may overlap.
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
    ) -> Result<(), Status> {
        self.within(ordinal, from, size)?;
        self.count_copy(ordinal)?;
        // SAFETY: the source lies within an allocation, the target is as the caller promises; they may overlap.
        unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), size) };
        Ok(())
    }

    /// Copies rows, in any direction.
    ///
    /// # Errors
    ///
    /// There is no such device, or rows are longer than the way from one to the next.
    ///
    /// # Safety
    ///
    /// All rows of the source can be read, and those of the target written.
    pub unsafe fn copy_rows(&self, ordinal: u32, copy: &Copy2d) -> Result<(), Status> {
        if self.device(ordinal)?.memory().contains(copy.from.0 as usize, copy.width) {
            self.count_copy(ordinal)?;
        }
        if copy.width > copy.to.1 || copy.width > copy.from.1 {
            return Err(Status::InvalidValue);
        }
        for row in 0..copy.height {
            // SAFETY: as the caller promises.
            unsafe {
                let from = copy.from.0.cast::<u8>().add(row * copy.from.1);
                std::ptr::copy(from, copy.to.0.cast::<u8>().add(row * copy.to.1), copy.width);
            }
        }
        Ok(())
    }

    /// A copy from the device, which may be the one that fails.
    fn count_copy(&self, ordinal: u32) -> Result<(), Status> {
        let count = next(&self.device(ordinal)?.copies);
        let fails = |fault: &Fault| matches!(fault, Fault::Copy(first) if count >= *first);
        if self.configuration.faults.has(ordinal, fails) { Err(Status::Unknown) } else { Ok(()) }
    }

    fn within(&self, ordinal: u32, pointer: *const c_void, size: usize) -> Result<(), Status> {
        let inside = self.device(ordinal)?.memory().contains(pointer as usize, size);
        if inside { Ok(()) } else { Err(Status::InvalidValue) }
    }
}
