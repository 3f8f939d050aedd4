//! The foreign calls into `libcuda`.

use crate::fresh_thread::on_fresh_thread;
use crate::library::SharedLibrary;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::fmt;

type Initialise = unsafe extern "C" fn(c_uint) -> c_int;
type GetInt = unsafe extern "C" fn(*mut c_int) -> c_int;
type GetDevice = unsafe extern "C" fn(*mut c_int, c_int) -> c_int;
type GetText = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
type GetAttribute = unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_int;
type GetSize = unsafe extern "C" fn(*mut usize, c_int) -> c_int;
type GetUuid = unsafe extern "C" fn(*mut [u8; 16], c_int) -> c_int;
type Retain = unsafe extern "C" fn(*mut *mut c_void, c_int) -> c_int;
type Release = unsafe extern "C" fn(c_int) -> c_int;
type SetContext = unsafe extern "C" fn(*mut c_void) -> c_int;
type CudaMemoryInfo = unsafe extern "C" fn(*mut usize, *mut usize) -> c_int;

// Values of `CUdevice_attribute` in `cuda.h`.
const ATTRIBUTE_MULTIPROCESSORS: c_int = 16;
const ATTRIBUTE_INTEGRATED: c_int = 18;
const ATTRIBUTE_CAPABILITY_MAJOR: c_int = 75;
const ATTRIBUTE_CAPABILITY_MINOR: c_int = 76;
// No machine has more; a larger count comes from a broken library.
const MAX_DEVICES: c_int = 1024;

/// A `CUresult` other than success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CudaStatus(c_int);

impl CudaStatus {
    fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            1 => "CUDA_ERROR_INVALID_VALUE",
            2 => "CUDA_ERROR_OUT_OF_MEMORY",
            3 => "CUDA_ERROR_NOT_INITIALIZED",
            34 => "CUDA_ERROR_STUB_LIBRARY",
            46 => "CUDA_ERROR_DEVICE_UNAVAILABLE",
            100 => "CUDA_ERROR_NO_DEVICE",
            101 => "CUDA_ERROR_INVALID_DEVICE",
            304 => "CUDA_ERROR_OPERATING_SYSTEM",
            802 => "CUDA_ERROR_SYSTEM_NOT_READY",
            803 => "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            804 => "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
            999 => "CUDA_ERROR_UNKNOWN",
            _ => return None,
        })
    }

    /// The meaning of a failed `cuInit`, with a hint if the status is specific.
    pub(super) fn describe_start(self) -> String {
        let advice = match self.0 {
            100 => return format!("is installed and lists no device (cuInit: {self})"),
            34 => "; this is the toolkit's stub: remove its folder from LD_LIBRARY_PATH",
            802 => "; start nvidia-fabricmanager",
            803 | 804 => {
                "; the library and the kernel module differ: install the same version of both"
            }
            _ => "; check the output of nvidia-smi",
        };
        format!("is installed and does not start (cuInit: {self}){advice}")
    }
}

impl fmt::Display for CudaStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error {}", self.0)?;
        self.name()
            .iter()
            .try_for_each(|name| write!(f, ", {name}"))
    }
}

fn check(status: c_int) -> Result<(), CudaStatus> {
    if status == 0 {
        Ok(())
    } else {
        Err(CudaStatus(status))
    }
}

/// The properties of a device as the driver reports them.
pub(super) struct DriverDevice {
    pub(super) index: u32,
    pub(super) name: String,
    pub(super) capability: Option<(i32, i32)>,
    pub(super) total_memory: Option<u64>,
    pub(super) pci_address: Option<String>,
    pub(super) uuid: Option<String>,
    pub(super) integrated: bool,
}

impl DriverDevice {
    /// `sm_90`.
    pub(super) fn architecture(&self) -> Option<String> {
        self.capability
            .map(|(major, minor)| format!("sm_{major}{minor}"))
    }
}

/// The functions that detection needs.
pub(super) struct CudaDriver<'library> {
    library: &'library SharedLibrary,
    initialise: Initialise,
    device_count: GetInt,
    device: GetDevice,
    name: GetText,
}

impl<'library> CudaDriver<'library> {
    /// `Err` when a function that detection depends on is missing.
    pub(super) fn load(library: &'library SharedLibrary) -> Result<Self, ()> {
        // Only the functions without which no device can be listed: others are optional.
        // SAFETY: the types are the C signatures of `cuda.h`, which have been the same since CUDA
        // 2.
        let loaded = unsafe {
            let count = (
                library.function("cuInit"),
                library.function("cuDeviceGetCount"),
            );
            (
                count,
                library.function("cuDeviceGet"),
                library.function("cuDeviceGetName"),
            )
        };
        match loaded {
            ((Some(initialise), Some(device_count)), Some(device), Some(name)) => Ok(Self {
                library,
                initialise,
                device_count,
                device,
                name,
            }),
            _ => Err(()),
        }
    }

    pub(super) fn path(&self) -> &str {
        self.library.path()
    }

    pub(super) fn library(&self) -> &SharedLibrary {
        self.library
    }

    pub(super) fn initialise(&self) -> Result<(), CudaStatus> {
        // SAFETY: flags must be zero, and are; calling it again does nothing.
        check(unsafe { (self.initialise)(0) })
    }

    pub(super) fn device_count(&self) -> Result<u32, CudaStatus> {
        let mut count = 0;
        // SAFETY: `count` is writable for the whole call.
        check(unsafe { (self.device_count)(&mut count) })?;
        Ok(count.clamp(0, MAX_DEVICES).unsigned_abs())
    }

    /// The CUDA version that the driver implements, (13, 0).
    pub(super) fn version(&self) -> Option<(i32, i32)> {
        let mut version = 0;
        // SAFETY: the type is the C signature of `cuda.h`; `version` is writable for the whole
        // call.
        check(unsafe { self.library.function::<GetInt>("cuDriverGetVersion")?(&mut version) })
            .ok()?;
        // CUDA encodes 13.1 as 13010.
        (version > 0).then_some((version / 1000, version % 1000 / 10))
    }

    pub(super) fn device(&self, index: u32) -> Result<DriverDevice, CudaStatus> {
        let handle = self.handle(index)?;
        // One byte more than is passed, so that the name ends in zero whatever the driver writes.
        let mut name = [0_u8; 256];
        // SAFETY: `name` is writable for the whole call; its length, less the final zero, is passed
        // with it.
        check(unsafe { (self.name)(name.as_mut_ptr().cast(), 255, handle) })?;
        let name = text(&name);
        let major = self.attribute(handle, ATTRIBUTE_CAPABILITY_MAJOR);
        Ok(DriverDevice {
            index,
            capability: major.zip(self.attribute(handle, ATTRIBUTE_CAPABILITY_MINOR)),
            total_memory: self.total_memory(handle),
            pci_address: self.pci_address(handle),
            // CUDA_VISIBLE_DEVICES takes the UUID of a MIG instance with another prefix than the
            // UUID of a whole GPU.
            uuid: self.uuid(handle, if name.contains(" MIG ") { "MIG" } else { "GPU" }),
            integrated: self
                .attribute(handle, ATTRIBUTE_INTEGRATED)
                .is_some_and(|value| value != 0),
            name,
        })
    }

    /// The number of streaming multiprocessors.
    pub(super) fn multiprocessors(&self, index: u32) -> Option<u32> {
        let count = self.attribute(self.handle(index).ok()?, ATTRIBUTE_MULTIPROCESSORS)?;
        u32::try_from(count).ok().filter(|count| *count > 0)
    }

    /// Free and total bytes, queried in the primary context, on a separate thread.
    pub(super) fn memory(&self, index: u32) -> Option<(u64, u64)> {
        let handle = self.handle(index).ok()?;
        // SAFETY: the types are the C signatures of `cuda.h`.
        let (retain, release, set_context, memory_info) = unsafe {
            (
                self.library
                    .function::<Retain>("cuDevicePrimaryCtxRetain")?,
                self.library
                    .function::<Release>("cuDevicePrimaryCtxRelease_v2")?,
                self.library.function::<SetContext>("cuCtxSetCurrent")?,
                self.library.function::<CudaMemoryInfo>("cuMemGetInfo_v2")?,
            )
        };
        on_fresh_thread(|| {
            let mut context = std::ptr::null_mut();
            let (mut free, mut total) = (0, 0);
            // SAFETY: `context`, `free` and `total` are writable for the whole block; the context
            // is current on this thread only, is unset afterwards, and is released exactly once for
            // the one time it was retained.
            let status = unsafe {
                check(retain(&mut context, handle)).ok()?;
                let status = check(set_context(context))
                    .and_then(|()| check(memory_info(&mut free, &mut total)));
                set_context(std::ptr::null_mut());
                release(handle);
                status
            };
            status.ok().map(|()| (free as u64, total as u64))
        })
    }

    fn handle(&self, index: u32) -> Result<c_int, CudaStatus> {
        let mut handle = 0;
        // SAFETY: `handle` is writable for the whole call; the driver returns an error for an
        // invalid index.
        check(unsafe { (self.device)(&mut handle, c_int::try_from(index).unwrap_or(c_int::MAX)) })?;
        Ok(handle)
    }

    fn attribute(&self, handle: c_int, attribute: c_int) -> Option<i32> {
        let mut value = 0;
        // SAFETY: the type is the C signature of `cuda.h`; `value` is writable, and `handle` came
        // from the driver.
        check(unsafe {
            self.library
                .function::<GetAttribute>("cuDeviceGetAttribute")?(
                &mut value, attribute, handle
            )
        })
        .ok()?;
        Some(value)
    }

    fn total_memory(&self, handle: c_int) -> Option<u64> {
        let mut total = 0;
        // SAFETY: the type is the C signature of `cuda.h`; `total` is writable, and `handle` came
        // from the driver.
        check(unsafe {
            self.library.function::<GetSize>("cuDeviceTotalMem_v2")?(&mut total, handle)
        })
        .ok()?;
        Some(total as u64)
    }

    fn pci_address(&self, handle: c_int) -> Option<String> {
        let mut address = [0_u8; 64];
        // SAFETY: the type is the C signature of `cuda.h`; `address` is writable, its length less
        // one is passed with it.
        check(unsafe {
            self.library.function::<GetText>("cuDeviceGetPCIBusId")?(
                address.as_mut_ptr().cast(),
                63,
                handle,
            )
        })
        .ok()?;
        // The kernel's addresses are in lower case, and both are compared.
        Some(text(&address).to_lowercase()).filter(|address| !address.is_empty())
    }

    /// Version 2 of the function is preferred.
    fn uuid(&self, handle: c_int, prefix: &str) -> Option<String> {
        let mut uuid = [0_u8; 16];
        // Version 2 also identifies the instances of a partitioned GPU (MIG).
        // SAFETY: both versions have this C signature.
        let function = unsafe {
            self.library
                .function::<GetUuid>("cuDeviceGetUuid_v2")
                .or_else(|| self.library.function("cuDeviceGetUuid"))
        }?;
        // SAFETY: `uuid` has the 16 bytes of `CUuuid`, and `handle` came from the driver.
        check(unsafe { function(&mut uuid, handle) }).ok()?;
        let digits: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let parts = [
            &digits[..8],
            &digits[8..12],
            &digits[12..16],
            &digits[16..20],
            &digits[20..],
        ];
        Some(format!("{prefix}-{}", parts.join("-")))
    }
}

/// The bytes before the first zero.
fn text(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}
