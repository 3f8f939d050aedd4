//! A device for tests of calls that need no memory.

use super::{Account, DeviceAddress, GpuError, LibraryGpu};

/// A device whose memory cannot be used.
#[derive(Default)]
pub(crate) struct NoGpu(Account);

const REFUSED: GpuError = GpuError::Status {
    function: "fake",
    code: 1,
};

impl LibraryGpu for NoGpu {
    fn make_current(&self) -> Result<(), GpuError> {
        Ok(())
    }

    fn allocate(&self, _: usize) -> Result<DeviceAddress, GpuError> {
        Err(REFUSED)
    }

    fn release(&self, _: DeviceAddress, _: usize) -> Result<(), GpuError> {
        Err(REFUSED)
    }

    fn upload(&self, _: DeviceAddress, _: &[u8]) -> Result<(), GpuError> {
        Err(REFUSED)
    }

    fn download(&self, _: DeviceAddress, _: &mut [u8]) -> Result<(), GpuError> {
        Err(REFUSED)
    }

    fn synchronise(&self) -> Result<(), GpuError> {
        Err(REFUSED)
    }

    fn account(&self) -> &Account {
        &self.0
    }
}
