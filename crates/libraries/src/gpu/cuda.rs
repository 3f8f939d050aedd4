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

functions! {
    /// Functions of `cuda.h` since CUDA 12.5: an event can be recorded for all work of a context.
    ContextEventFunctions {
        create: "EventCreate", fn(*mut *mut c_void, c_uint) -> c_int;
        record: "EventRecord", fn(*mut c_void, *mut c_void) -> c_int;
        wait: "StreamWaitEvent", fn(*mut c_void, *mut c_void, c_uint) -> c_int;
        record_context: "CtxRecordEvent", fn(*mut c_void, *mut c_void) -> c_int;
        wait_context: "CtxWaitEvent", fn(*mut c_void, *mut c_void) -> c_int;
    }
}

/// `CU_EVENT_DISABLE_TIMING`.
// The event only orders streams, and without a time waiting for it is fastest.
const WITHOUT_TIME: c_uint = 2;

/// Orders the default stream with the other streams of a context, whose handles their owner keeps
/// to itself.
struct ContextOrder {
    functions: ContextEventFunctions,
    event: *mut c_void,
}

impl ContextOrder {
    /// `None` for a driver that is older than its functions.
    fn new(library: &SharedLibrary) -> Option<Self> {
        let functions = ContextEventFunctions::load(library, "cu").ok()?;
        let mut event = std::ptr::null_mut();
        // SAFETY: `event` is writable for the whole call, and a context is current. The event is
        // never destroyed: it is used until the process ends.
        let code = unsafe { (functions.create)(&mut event, WITHOUT_TIME) };
        (code == 0).then_some(Self { functions, event })
    }
}

/// A GPU of the CUDA driver.
pub(super) struct CudaGpu {
    functions: CudaFunctions,
    context: *mut c_void,
    order: Option<ContextOrder>,
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
        // SAFETY: the context came from the driver and is never released.
        check("cuCtxSetCurrent", unsafe {
            (functions.set_context)(context)
        })?;
        Ok(Self {
            functions,
            context,
            order: ContextOrder::new(&library),
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

    fn wait_for_device(&self) -> Result<bool, GpuError> {
        let Some(ContextOrder { functions, event }) = &self.order else {
            return Ok(false);
        };
        // SAFETY: the context and the event exist until the process ends; null is the default
        // stream.
        unsafe {
            check(
                "cuCtxRecordEvent",
                (functions.record_context)(self.context, *event),
            )?;
            check(
                "cuStreamWaitEvent",
                (functions.wait)(std::ptr::null_mut(), *event, 0),
            )?;
        }
        Ok(true)
    }

    fn let_device_wait(&self) -> Result<(), GpuError> {
        let Some(ContextOrder { functions, event }) = &self.order else {
            // Later work of other streams cannot wait on the device, so the host waits before it
            // starts any.
            return self.synchronise();
        };
        // SAFETY: as above.
        unsafe {
            check(
                "cuEventRecord",
                (functions.record)(*event, std::ptr::null_mut()),
            )?;
            check(
                "cuCtxWaitEvent",
                (functions.wait_context)(self.context, *event),
            )
        }
    }

    fn account(&self) -> &Account {
        &self.account
    }
}
