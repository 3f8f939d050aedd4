//! Copies of tensors from one GPU to another of the same interface.
//!
//! burn's own way needs NVIDIA's collectives (`ServerCommunication` of cubecl-runtime 0.10). Here the
//! driver copies between two addresses: directly if the GPUs can reach each other's memory, else
//! through the host. Both GPUs finish what the calling thread has started first, because the driver's
//! copy is in no stream of cubecl.

use crate::{
    device::GpuDevice,
    driver_memory::DriverMemory,
    runtime::{GpuRuntime, GpuTensor},
    server::GpuServer,
};
use burn_backend::TensorMetadata;
use burn_cubecl::kernel::into_contiguous;
use cubecl::{
    Runtime as _, device::Device as _, device_handle::DeviceHandle, server::Binding,
    stream_id::StreamId, zspace::metadata::Metadata,
};

/// The tensor on `device`.
///
/// # Panics
///
/// The device does not have the memory, the driver refuses the copy, or one of them has failed before.
pub(crate) fn to_device(tensor: GpuTensor, device: GpuDevice) -> GpuTensor {
    // Otherwise the copy would wait for all work of the device without need.
    if tensor.device == device {
        return tensor;
    }
    // The driver copies bytes, whatever the strides are.
    let tensor = into_contiguous(tensor);
    let (shape, strides) = (tensor.shape(), tensor.meta.strides().clone());
    let size = shape.num_elements() * tensor.dtype.size();
    let client = GpuRuntime::client(&device);
    let memory = client.empty(size);
    if size > 0 {
        let from = in_driver(tensor.device, tensor.handle.clone().binding());
        let to = in_driver(device, memory.clone().binding());
        DeviceHandle::<GpuServer>::new(device.to_id())
            .submit_blocking(move |server| server.copy_from_peer([from, to], size))
            .unwrap_or_else(|_| panic!("the device has failed before"))
            .unwrap_or_else(|error| {
                panic!(
                    "a copy from {:?} to {device:?} failed: {error}",
                    tensor.device
                )
            });
    }
    GpuTensor::new(
        client,
        memory,
        Metadata::new(shape, strides),
        device,
        tensor.dtype,
    )
}

/// The memory of a binding, when the calling thread's work on the device is done.
fn in_driver(device: GpuDevice, binding: Binding) -> DriverMemory {
    let stream = StreamId::current();
    DeviceHandle::<GpuServer>::new(device.to_id())
        .submit_blocking(move |server| server.in_driver(binding, stream))
        .unwrap_or_else(|_| panic!("the device has failed before"))
        .unwrap_or_else(|error| panic!("{device:?} has failed: {error}"))
}
