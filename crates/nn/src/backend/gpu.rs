//! `Ops` for GPUs: burn's operators.

use super::{Gpu, Ops};
use testgen_gpu::GpuDevice;
use testgen_types::DeviceKind;

impl Ops for Gpu {
    fn kind(device: &GpuDevice) -> DeviceKind {
        match device {
            GpuDevice::Cuda(_) => DeviceKind::Cuda,
            GpuDevice::Rocm(_) => DeviceKind::Rocm,
        }
    }

    fn with_tf32<T>(run: impl FnOnce() -> T) -> T {
        testgen_gpu::with_tf32(run)
    }
}
