//! The foreign calls into `libamdhip64`.

use super::properties::{self, HipProperties};
use crate::fresh_thread::on_fresh_thread;
use crate::library::SharedLibrary;
use std::ffi::{c_char, c_int, c_void};
use std::fmt;

type HipDeviceCount = unsafe extern "C" fn(*mut c_int) -> c_int;
type HipDeviceProperties = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
type HipSetDevice = unsafe extern "C" fn(c_int) -> c_int;
type HipMemoryInfo = unsafe extern "C" fn(*mut usize, *mut usize) -> c_int;
type HipVersion = unsafe extern "C" fn(*mut c_int) -> c_int;
type PciBusId = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;

// No machine has more; a larger count comes from a broken library.
const MAX_DEVICES: c_int = 1024;

/// A `hipError_t` other than success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HipStatus(c_int);

impl fmt::Display for HipStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            1 => "hipErrorInvalidValue",
            2 => "hipErrorOutOfMemory",
            3 => "hipErrorNotInitialized",
            35 => "hipErrorInsufficientDriver",
            100 => "hipErrorNoDevice",
            101 => "hipErrorInvalidDevice",
            209 => "hipErrorNoBinaryForGpu",
            303 => "hipErrorSharedObjectInitFailed",
            304 => "hipErrorOperatingSystem",
            801 => "hipErrorNotSupported",
            999 => "hipErrorUnknown",
            code => return write!(f, "error {code}"),
        };
        write!(f, "error {}, {name}", self.0)
    }
}

fn check(status: c_int) -> Result<(), HipStatus> {
    if status == 0 {
        Ok(())
    } else {
        Err(HipStatus(status))
    }
}

/// The functions that detection needs.
pub(crate) struct HipFunctions<'library> {
    library: &'library SharedLibrary,
    device_count: HipDeviceCount,
    properties: HipDeviceProperties,
}

impl<'library> HipFunctions<'library> {
    /// `Err` when one of the two functions that detection depends on is missing.
    pub(crate) fn load(library: &'library SharedLibrary) -> Result<Self, ()> {
        // SAFETY: the types are the C signatures of `hip_runtime_api.h`, which are the same in
        // every version since 6.0.
        let loaded = unsafe {
            (
                library.function("hipGetDeviceCount"),
                library.function("hipGetDevicePropertiesR0600"),
            )
        };
        match loaded {
            (Some(device_count), Some(properties)) => Ok(Self {
                library,
                device_count,
                properties,
            }),
            _ => Err(()),
        }
    }

    pub(crate) fn device_count(&self) -> Result<u32, HipStatus> {
        let mut count = 0;
        // SAFETY: `count` is writable for the whole call.
        check(unsafe { (self.device_count)(&mut count) })?;
        Ok(count.clamp(0, MAX_DEVICES).unsigned_abs())
    }

    pub(crate) fn properties(&self, index: u32) -> Result<HipProperties, HipStatus> {
        let mut buffer = properties::Buffer::zeroed();
        // SAFETY: the buffer is several times as large as the 1472 bytes of `hipDeviceProp_tR0600`,
        // aligned for it, and writable for the whole call; the function returns an error for an
        // invalid index.
        check(unsafe { (self.properties)(buffer.as_mut_ptr(), ordinal(index)) })?;
        Ok(HipProperties::read(&buffer, self.is_simulator()))
    }

    /// Whether the library is hip-sim.
    fn is_simulator(&self) -> bool {
        // Only hip-sim exports this symbol; a device name could be changed, a symbol cannot.
        self.library.missing(&["hipSimVersion"]).is_empty()
    }

    /// Free and total bytes, queried on a separate thread.
    pub(crate) fn memory(&self, index: u32) -> Option<(u64, u64)> {
        // The current device of HIP belongs to a thread, and the caller's must not change.
        // SAFETY: the types are the C signatures of `hip_runtime_api.h`.
        let functions = unsafe {
            (
                self.library.function::<HipSetDevice>("hipSetDevice"),
                self.library.function::<HipMemoryInfo>("hipMemGetInfo"),
            )
        };
        let (Some(set_device), Some(memory_info)) = functions else {
            return None;
        };
        on_fresh_thread(|| {
            let (mut free, mut total) = (0, 0);
            // SAFETY: an invalid index results in an error; `free` and `total` are writable for the
            // whole call.
            let status = unsafe {
                check(set_device(ordinal(index)))
                    .and_then(|()| check(memory_info(&mut free, &mut total)))
            };
            status.ok().map(|()| (free as u64, total as u64))
        })
    }

    /// `0000:03:00.0`, by `hipDeviceGetPCIBusId`.
    pub(crate) fn pci_address(&self, index: u32) -> Option<String> {
        // Unlike the properties, this function includes the PCI function.
        // SAFETY: the type is the C signature of `hip_runtime_api.h`.
        let function = unsafe { self.library.function::<PciBusId>("hipDeviceGetPCIBusId") }?;
        let mut text = [0_u8; 64];
        // SAFETY: `text` is writable for the whole call, and its length, less the final zero, is
        // passed with it.
        check(unsafe { function(text.as_mut_ptr().cast(), 63, ordinal(index)) }).ok()?;
        super::properties::address(&properties::text(&text))
    }

    pub(crate) fn runtime_version(&self) -> Option<String> {
        self.version("hipRuntimeGetVersion")
    }

    pub(crate) fn driver_version(&self) -> Option<String> {
        self.version("hipDriverGetVersion")
    }

    /// HIP encodes versions as major * 10^7 + minor * 10^5 + patch.
    fn version(&self, symbol: &str) -> Option<String> {
        // SAFETY: both version functions have this C signature.
        let function = unsafe { self.library.function::<HipVersion>(symbol) }?;
        let mut version = 0;
        // SAFETY: `version` is writable for the whole call.
        check(unsafe { function(&mut version) }).ok()?;
        (version > 0).then(|| {
            format!(
                // HIP counts 10,000,000 for a major and 100,000 for a minor version.
                "{}.{}.{}",
                version / 10_000_000,
                version / 100_000 % 100,
                version % 100_000
            )
        })
    }
}

fn ordinal(index: u32) -> c_int {
    // Larger than the index of any device, so that the runtime refuses it.
    c_int::try_from(index).unwrap_or(c_int::MAX)
}
