//! Tensors that are put on a device, by way of pinned memory.
//!
//! cubecl-runtime 0.10 copies what a tensor is created from into pageable memory (`do_create` in
//! `client.rs`), from which the driver copies slowly, and waits. Here the bytes are written where
//! the device copies them from.

use crate::{
    copy_stream,
    device::GpuDevice,
    parts::{Part, parts},
    runtime::{GpuRuntime, GpuTensor},
    server::GpuServer,
};
use burn_backend::{DType, Shape};
use cubecl::{
    Runtime as _,
    bytes::Bytes,
    device::Device as _,
    device_handle::DeviceHandle,
    server::{ComputeServer as _, CopyDescriptor},
    stream_id::StreamId,
    zspace::metadata::Metadata,
};

/// A tensor whose bytes `write` writes: in each call rows of the last dimension, from the one with
/// the given index on.
///
/// # Panics
///
/// The device does not have the memory, or has failed before.
pub fn put<E>(
    shape: Shape,
    dtype: DType,
    device: GpuDevice,
    mut write: impl FnMut(usize, &mut [u8]) -> Result<(), E>,
) -> Result<GpuTensor, E> {
    let (client, stream) = (GpuRuntime::client(&device), StreamId::current());
    let server = DeviceHandle::<GpuServer>::new(device.to_id());
    let layout = client.empty_tensor(shape.clone(), dtype.size());
    let copy = CopyDescriptor::new(
        layout.memory.clone().binding(),
        shape.clone(),
        layout.strides.clone(),
        dtype.size(),
    );
    for Part { first, copy } in parts(copy) {
        let mut bytes = staged(&server, &copy, stream);
        write(first, &mut bytes)?;
        server.submit(move |server| server.write(vec![(copy, bytes)], stream));
    }
    let metadata = Metadata::new(shape, layout.strides);
    Ok(GpuTensor::new(
        client,
        layout.memory,
        metadata,
        device,
        dtype,
    ))
}

/// Pinned memory for what `copy` describes.
fn staged(server: &DeviceHandle<GpuServer>, copy: &CopyDescriptor, stream: StreamId) -> Bytes {
    let size = copy.shape.iter().product::<usize>() * copy.elem_size;
    let staged = server
        .submit_blocking(move |server| server.staging(&[size], stream))
        .unwrap_or_else(|_| panic!("the device has failed before"))
        .unwrap_or_else(|error| panic!("no memory to copy from: {error:?}"));
    staged.into_iter().next().expect("one was asked for")
}

/// Runs `load`, whose tensors are put on `device` while it computes what the calling thread has
/// started.
pub fn put_beside<T>(device: GpuDevice, load: impl FnOnce() -> T) -> T {
    copy_stream::second().executes(|| {
        let loaded = load();
        // cubecl keeps what was copied until the next flush.
        GpuRuntime::client(&device)
            .flush()
            .unwrap_or_else(|error| panic!("a copy to the device failed: {error:?}"));
        loaded
    })
}

/// The transpose of a matrix, with adjacent elements in its rows.
pub fn transposed(mut matrix: GpuTensor) -> GpuTensor {
    matrix.meta.swap(0, 1);
    burn_cubecl::kernel::into_contiguous(matrix)
}
