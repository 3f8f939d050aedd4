//! The foreign call into NVML that reads the energy that a GPU has used.

use super::management_session::ManagementSession;
use crate::system::System;
use std::ffi::{c_int, c_void};

type TotalEnergy = unsafe extern "C" fn(*mut c_void, *mut u64) -> c_int;

/// The energy counter of a GPU, with NVML initialised.
// Initialising NVML for each reading would take milliseconds that are then measured, too.
pub(crate) struct TotalEnergyCounter {
    /// Kept because the handle is valid only in it.
    _session: ManagementSession,
    read: TotalEnergy,
    handle: *mut c_void,
}

impl TotalEnergyCounter {
    /// The counter of the GPU at a PCI address; `None` when NVML is not installed, or does not have
    /// the GPU.
    pub(crate) fn open(system: &System, address: &str) -> Option<Self> {
        let session = ManagementSession::start(system)?;
        // SAFETY: the type is the C signature of `nvml.h`.
        let read = unsafe {
            session
                .library()
                .function::<TotalEnergy>("nvmlDeviceGetTotalEnergyConsumption")
        }?;
        let handle = session.handle(address)?;
        Some(Self {
            _session: session,
            read,
            handle,
        })
    }

    /// Microjoules since the driver was loaded.
    pub(crate) fn microjoules(&self) -> Option<u64> {
        let mut millijoules = 0;
        // GPUs before Volta do not count them.
        // SAFETY: NVML is initialised as long as the session, and has returned the handle;
        // `millijoules` is writable.
        let status = unsafe { (self.read)(self.handle, &mut millijoules) };
        (status == 0).then(|| millijoules.saturating_mul(1000))
    }
}
