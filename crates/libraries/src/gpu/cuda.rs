//! `libcuda`: an NVIDIA GPU by its primary context, which the CUDA runtime inside cuBLAS uses, too.

use super::{
    account::Account,
    interface::{DeviceAddress, GpuError, LibraryGpu, check},
};
use crate::symbols::functions;
use std::ffi::{c_int, c_uint, c_void};
use testgen_device::SharedLibrary;

functions! {
    /// The functions of `cuda.h`.
    CudaFunctions {
        initialise: "Init", fn(c_uint) -> c_int;
        device: "DeviceGet", fn(*mut c_int, c_int) -> c_int;
        retain: "DevicePrimaryCtxRetain", fn(*mut *mut c_void, c_int) -> c_int;
        set_context: "CtxSetCurrent", fn(*mut c_void) -> c_int;
        allocate: "MemAlloc_v2", fn(*mut u64, usize) -> c_int;
        release: "MemFree_v2", fn(u64) -> c_int;
        upload: "MemcpyHtoD_v2", fn(u64, *const c_void, usize) -> c_int;
        download: "MemcpyDtoH_v2", fn(*mut c_void, u64, usize) -> c_int;
        synchronise: "CtxSynchronize", fn() -> c_int;
    }
}

/// A GPU of the CUDA driver.
pub(super) struct CudaGpu {
    functions: CudaFunctions,
    context: *mut c_void,
    account: Account,
}

impl CudaGpu {
    pub(super) fn open(library: SharedLibrary, index: u32) -> Result<Self, GpuError> {
        let functions = CudaFunctions::load(&library, "cu").map_err(|_| GpuError::Symbol {
            library: library.path().to_owned(),
            symbol: "a function of CUDA 11",
        })?;
        let (mut device, mut context) = (0, std::ptr::null_mut());
        // SAFETY: `device` and `context` are writable for the whole block. The context is never
        // released: libraries use it until the process ends.
        unsafe {
            check("cuInit", (functions.initialise)(0))?;
            check(
                "cuDeviceGet",
                (functions.device)(&mut device, index.cast_signed()),
            )?;
            check(
                "cuDevicePrimaryCtxRetain",
                (functions.retain)(&mut context, device),
            )?;
        }
        Ok(Self {
            functions,
            context,
            account: Account::default(),
        })
    }
}

impl LibraryGpu for CudaGpu {
    fn make_current(&self) -> Result<(), GpuError> {
        // SAFETY: the context came from the driver and is never released.
        check("cuCtxSetCurrent", unsafe {
            (self.functions.set_context)(self.context)
        })
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceAddress, GpuError> {
        self.make_current()?;
        let mut address = 0;
        // SAFETY: `address` is writable for the whole call.
        check("cuMemAlloc", unsafe {
            (self.functions.allocate)(&mut address, bytes)
        })?;
        self.account.allocated(bytes);
        Ok(DeviceAddress(address))
    }

    fn release(&self, address: DeviceAddress, bytes: usize) -> Result<(), GpuError> {
        self.make_current()?;
        // SAFETY: the driver rejects an address that is not an allocation.
        check("cuMemFree", unsafe { (self.functions.release)(address.0) })?;
        self.account.released(bytes);
        Ok(())
    }

    fn upload(&self, to: DeviceAddress, from: &[u8]) -> Result<(), GpuError> {
        self.make_current()?;
        // SAFETY: the slice is readable for its length; the driver rejects a destination outside of
        // an allocation.
        check("cuMemcpyHtoD", unsafe {
            (self.functions.upload)(to.0, from.as_ptr().cast(), from.len())
        })
    }

    fn download(&self, from: DeviceAddress, to: &mut [u8]) -> Result<(), GpuError> {
        self.make_current()?;
        // SAFETY: the slice is writable for its length; the driver rejects a source outside of an
        // allocation.
        check("cuMemcpyDtoH", unsafe {
            (self.functions.download)(to.as_mut_ptr().cast(), from.0, to.len())
        })
    }

    fn synchronise(&self) -> Result<(), GpuError> {
        self.make_current()?;
        // SAFETY: the call has no arguments.
        check("cuCtxSynchronize", unsafe {
            (self.functions.synchronise)()
        })
    }

    fn account(&self) -> &Account {
        &self.account
    }
}
