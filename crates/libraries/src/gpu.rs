//! The driver of a GPU: memory, copies and waiting, the same for CUDA and HIP.

mod account;
mod cuda;
mod hip;
mod interface;
#[cfg(test)]
mod no_gpu;

pub use account::Account;
pub use interface::{DeviceAddress, GpuError, LibraryGpu};
#[cfg(test)]
pub(crate) use no_gpu::NoGpu;

use crate::library::open_driver;
use testgen_device::{DeviceKind, System};

/// Opens the driver of a device by its number among the devices of its kind.
///
/// # Errors
///
/// The driver is not found or too old, or the device cannot be used.
pub(crate) fn open(
    system: &System,
    kind: DeviceKind,
    index: u32,
) -> Result<Box<dyn LibraryGpu>, GpuError> {
    let library = open_driver(system, kind)?;
    Ok(match kind {
        DeviceKind::Rocm => Box::new(hip::HipGpu::open(library, index)?),
        // `open_driver` has refused a CPU.
        DeviceKind::Cuda | DeviceKind::Cpu => Box::new(cuda::CudaGpu::open(library, index)?),
    })
}
