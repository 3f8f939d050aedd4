//! One cubecl runtime for CUDA and ROCm.
//!
//! burn's kernels are generic over the runtime, and compiling them takes most of a suite's build.
//! With one runtime they are compiled once; the interface is chosen when a kernel is lowered to its
//! source ([`crate::lowering`]) and in the server ([`crate::server`]).

use crate::{device::GpuDevice, lowering, server::GpuServer, unlowered::Unlowered};
use burn_cubecl::tensor::CubeTensor;
use cubecl::{
    Runtime,
    client::ComputeClient,
    device::DeviceId,
    ir::TargetProperties,
    zspace::{Shape, Strides, striding::has_pitched_row_major_strides},
};

/// CUDA or ROCm, chosen by the device.
#[derive(Debug, Clone)]
pub struct GpuRuntime;

/// A tensor of any element type.
pub type GpuTensor = CubeTensor<GpuRuntime>;

impl Runtime for GpuRuntime {
    type Compiler = Unlowered;
    type Server = GpuServer;
    type Device = GpuDevice;

    fn client(device: &GpuDevice) -> ComputeClient<Self> {
        ComputeClient::load(device)
    }

    fn name(_client: &ComputeClient<Self>) -> &'static str {
        "gpu"
    }

    // The next three are the same for cubecl's CUDA and HIP runtimes.

    fn require_array_lengths() -> bool {
        true
    }

    fn max_cube_count() -> (u32, u32, u32) {
        (i32::MAX as u32, u16::MAX as u32, u16::MAX as u32)
    }

    fn can_read_tensor(shape: &Shape, strides: &Strides) -> bool {
        shape.is_empty() || has_pitched_row_major_strides(shape, strides)
    }

    fn target_properties() -> TargetProperties {
        lowering::target_properties()
    }

    fn enumerate_devices(_type_id: u16, _info: &()) -> Vec<DeviceId> {
        // Devices are detected by `testgen-device`, which must not load a driver that is not there.
        Vec::new()
    }
}
