//! `libamdhip64`: an AMD GPU, real or simulated. burn's ROCm backend calls each of these functions,
//! too.

use super::{
    account::Account,
    interface::{DeviceAddress, GpuError, LibraryGpu, check},
};
use crate::symbols::functions;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;
use testgen_device::SharedLibrary;

functions! {
    /// The functions of `hip_runtime_api.h`.
    HipFunctions {
        initialise: "Init", fn(c_uint) -> c_int;
        set_device: "SetDevice", fn(c_int) -> c_int;
        allocate: "MallocAsync", fn(*mut *mut c_void, usize, *mut c_void) -> c_int;
        release: "FreeAsync", fn(*mut c_void, *mut c_void) -> c_int;
        upload: "MemcpyHtoDAsync", fn(*mut c_void, *const c_void, usize, *mut c_void) -> c_int;
        download: "MemcpyDtoHAsync", fn(*mut c_void, *mut c_void, usize, *mut c_void) -> c_int;
        synchronise: "StreamSynchronize", fn(*mut c_void) -> c_int;
    }
}

/// A GPU of the HIP runtime.
pub(super) struct HipGpu {
    functions: HipFunctions,
    index: c_int,
    account: Account,
}

impl HipGpu {
    pub(super) fn open(library: SharedLibrary, index: u32) -> Result<Self, GpuError> {
        let functions = HipFunctions::load(&library, "hip").map_err(|_| GpuError::Symbol {
            library: library.path().to_owned(),
            symbol: "a function of HIP 6",
        })?;
        // SAFETY: flags must be zero, and are.
        check("hipInit", unsafe { (functions.initialise)(0) })?;
        let gpu = Self {
            functions,
            index: index.cast_signed(),
            account: Account::default(),
        };
        gpu.make_current()?;
        Ok(gpu)
    }
}

impl LibraryGpu for HipGpu {
    fn make_current(&self) -> Result<(), GpuError> {
        // SAFETY: the runtime rejects an invalid index.
        check("hipSetDevice", unsafe {
            (self.functions.set_device)(self.index)
        })
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceAddress, GpuError> {
        self.make_current()?;
        let mut pointer = null_mut();
        // SAFETY: `pointer` is writable for the whole call; the null stream exists on every device.
        check("hipMallocAsync", unsafe {
            (self.functions.allocate)(&mut pointer, bytes, null_mut())
        })?;
        self.account.allocated(bytes);
        Ok(DeviceAddress(pointer as u64))
    }

    fn release(&self, address: DeviceAddress, bytes: usize) -> Result<(), GpuError> {
        self.make_current()?;
        // SAFETY: the runtime rejects an address that is not an allocation.
        check("hipFreeAsync", unsafe {
            (self.functions.release)(address.pointer(), null_mut())
        })?;
        self.account.released(bytes);
        Ok(())
    }

    fn upload(&self, to: DeviceAddress, from: &[u8]) -> Result<(), GpuError> {
        self.make_current()?;
        // SAFETY: the slice is readable for its length until the stream has been waited for.
        let code = unsafe {
            (self.functions.upload)(to.pointer(), from.as_ptr().cast(), from.len(), null_mut())
        };
        check("hipMemcpyHtoDAsync", code)?;
        self.synchronise()
    }

    fn download(&self, from: DeviceAddress, to: &mut [u8]) -> Result<(), GpuError> {
        self.make_current()?;
        // SAFETY: the slice is writable for its length until the stream has been waited for.
        let code = unsafe {
            (self.functions.download)(to.as_mut_ptr().cast(), from.pointer(), to.len(), null_mut())
        };
        check("hipMemcpyDtoHAsync", code)?;
        self.synchronise()
    }

    fn synchronise(&self) -> Result<(), GpuError> {
        self.make_current()?;
        // SAFETY: the null stream exists on every device.
        check("hipStreamSynchronize", unsafe {
            (self.functions.synchronise)(null_mut())
        })
    }

    fn account(&self) -> &Account {
        &self.account
    }
}
