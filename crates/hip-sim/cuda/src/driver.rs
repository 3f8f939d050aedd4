//! `libcuda`, opened at run time: the functions that HIP's calls are forwarded to.

use hip_sim::HipError;
use libloading::Library;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;

/// `CUDA_SUCCESS`, `hipSuccess`.
pub(crate) const SUCCESS: c_int = 0;

/// A handle of the driver: stream, event, module, function, context.
pub(crate) type Handle = *mut c_void;
type Status32 = c_int;

macro_rules! driver {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*);)+) => {
        /// The functions, by the names of the driver without `cu`.
        pub(crate) struct Driver {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> Status32,)+
        }

        impl Driver {
            fn load(library: &Library) -> Result<Self, String> {
                // SAFETY: the types are the C signatures of cuda.h for these versions of the
                // symbols.
                unsafe {
                    Ok(Self { $($field: *library.get($symbol).map_err(|error| error.to_string())?,)+ })
                }
            }
        }
    };
}

driver! {
    init = "cuInit": fn(c_uint);
    driver_version = "cuDriverGetVersion": fn(*mut c_int);
    device_count = "cuDeviceGetCount": fn(*mut c_int);
    device_name = "cuDeviceGetName": fn(*mut c_char, c_int, c_int);
    total_memory = "cuDeviceTotalMem_v2": fn(*mut usize, c_int);
    attribute = "cuDeviceGetAttribute": fn(*mut c_int, c_int, c_int);
    retain_context = "cuDevicePrimaryCtxRetain": fn(*mut Handle, c_int);
    set_context = "cuCtxSetCurrent": fn(Handle);
    memory_info = "cuMemGetInfo_v2": fn(*mut usize, *mut usize);
    allocate = "cuMemAllocAsync": fn(*mut Handle, usize, Handle);
    release = "cuMemFreeAsync": fn(Handle, Handle);
    allocate_host = "cuMemHostAlloc": fn(*mut Handle, usize, c_uint);
    release_host = "cuMemFreeHost": fn(Handle);
    copy_to_device = "cuMemcpyHtoDAsync_v2": fn(Handle, *const c_void, usize, Handle);
    copy_to_host = "cuMemcpyDtoHAsync_v2": fn(*mut c_void, Handle, usize, Handle);
    copy = "cuMemcpyAsync": fn(Handle, Handle, usize, Handle);
    create_stream = "cuStreamCreate": fn(*mut Handle, c_uint);
    synchronize_stream = "cuStreamSynchronize": fn(Handle);
    wait_event = "cuStreamWaitEvent": fn(Handle, Handle, c_uint);
    create_event = "cuEventCreate": fn(*mut Handle, c_uint);
    record_event = "cuEventRecord": fn(Handle, Handle);
    synchronize_event = "cuEventSynchronize": fn(Handle);
    destroy_event = "cuEventDestroy_v2": fn(Handle);
    load_module = "cuModuleLoadData": fn(*mut Handle, *const c_void);
    function = "cuModuleGetFunction": fn(*mut Handle, Handle, *const c_char);
    function_attribute = "cuFuncSetAttribute": fn(Handle, c_int, c_int);
    launch = "cuLaunchKernel": fn(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut Handle, *mut Handle);
}

impl Driver {
    /// Opens and initialises the driver, which then stays loaded.
    pub(crate) fn open() -> Result<Self, String> {
        // SAFETY: loading runs the initialisers of NVIDIA's driver, which CUDA programs do at their
        // start.
        let library = unsafe { Library::new("libcuda.so.1") }.map_err(|error| error.to_string())?;
        let library = ManuallyDrop::new(library);
        let driver = Self::load(&library)?;
        // SAFETY: zero is the only value that the function accepts.
        match unsafe { (driver.init)(0) } {
            SUCCESS => Ok(driver),
            status => Err(format!("cuInit failed with error {status}")),
        }
    }

    /// Makes the primary context of `device` current on this thread.
    pub(crate) fn enter(&self, device: c_int) -> Result<(), HipError> {
        let mut context = std::ptr::null_mut();
        // SAFETY: `context` can be written; the driver returns an error for an invalid ordinal.
        let status = unsafe {
            match (self.retain_context)(&mut context, device) {
                SUCCESS => (self.set_context)(context),
                status => status,
            }
        };
        if status == SUCCESS {
            Ok(())
        } else {
            Err(HipError::InvalidDevice)
        }
    }
}
