//! Tensors that are put on a device, by way of pinned memory.
//!
//! cubecl-runtime 0.10 copies what a tensor is created from into pageable memory (`do_create` in
//! `client.rs`), from which the driver copies slowly, and waits. Here the bytes are written where
//! the device copies them from.

use crate::{
    copy_stream,
    device::GpuDevice,
    parts::parts,
    runtime::{GpuRuntime, GpuTensor},
    server::GpuServer,
};
use burn_backend::{DType, Shape};
use cubecl::{
    Runtime as _,
    bytes::Bytes,
    device::Device as _,
    device_handle::DeviceHandle,
    server::{ComputeServer as _, CopyDescriptor, MemoryLayoutDescriptor, MemoryLayoutStrategy},
    stream_id::StreamId,
    zspace::metadata::Metadata,
};
use rayon::prelude::*;

/// The parts that are written at the same time.
// With one part of 4 MiB, threads wait for each other.
const AT_ONCE: usize = 8;

/// A tensor whose bytes `write` writes: in each call rows of the last dimension, from the one with
/// the given index on. Several threads call it at the same time.
///
/// # Panics
///
/// The device does not have the memory, or has failed before.
pub fn put<E: Send>(
    shape: Shape,
    dtype: DType,
    device: GpuDevice,
    write: impl Fn(usize, &mut [u8]) -> Result<(), E> + Sync,
) -> Result<GpuTensor, E> {
    let (client, stream) = (GpuRuntime::client(&device), StreamId::current());
    let server = DeviceHandle::<GpuServer>::new(device.to_id());
    let descriptor = MemoryLayoutDescriptor::new(strategy(&shape), shape.clone(), dtype.size());
    let layout = client.empty_tensors(vec![descriptor]).remove(0);
    let copy = CopyDescriptor::new(
        layout.memory.clone().binding(),
        shape.clone(),
        layout.strides.clone(),
        dtype.size(),
    );
    let mut parts = parts(copy).into_iter().peekable();
    while parts.peek().is_some() {
        let (rows, copies): (Vec<usize>, Vec<CopyDescriptor>) = parts
            .by_ref()
            .take(AT_ONCE)
            .map(|part| (part.first, part.copy))
            .unzip();
        // Pinned memory comes from the server's thread; only writing it is parallel.
        let mut staged = staged(&server, &copies, stream);
        staged
            .par_iter_mut()
            .zip(rows)
            .try_for_each(|(bytes, first)| write(first, bytes))?;
        let copies = copies.into_iter().zip(staged).collect();
        // Not waited for: the next parts are written while the device gets these.
        server.submit(move |server| server.write(copies, stream));
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

/// Rows of a matrix begin where a kernel reads fast. Rows of a tensor with more dimensions follow
/// each other.
fn strategy(shape: &Shape) -> MemoryLayoutStrategy {
    // Rows of a convolution's kernel have so few elements that in 16 bits they would take three
    // times as much memory.
    if shape.num_dims() > 2 {
        MemoryLayoutStrategy::Contiguous
    } else {
        MemoryLayoutStrategy::Optimized
    }
}

/// Pinned memory for what each of `copies` describes.
fn staged(
    server: &DeviceHandle<GpuServer>,
    copies: &[CopyDescriptor],
    stream: StreamId,
) -> Vec<Bytes> {
    let sizes: Vec<usize> = copies
        .iter()
        .map(|copy| copy.shape.iter().product::<usize>() * copy.elem_size)
        .collect();
    server
        .submit_blocking(move |server| server.staging(&sizes, stream))
        .unwrap_or_else(|_| panic!("the device has failed before"))
        .unwrap_or_else(|error| panic!("no memory to copy from: {error:?}"))
}

/// Runs `load`, whose tensors are put on `device` while it computes what the calling thread has
/// started.
pub fn put_beside<T>(device: GpuDevice, load: impl FnOnce() -> T) -> T {
    // On the second stream, because copies on the first would wait for the kernels that it has
    // queued.
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

#[cfg(test)]
mod tests {
    use super::strategy;
    use burn_backend::Shape;
    use cubecl::server::MemoryLayoutStrategy;

    /// The test in `weights.rs` of `testgen-estimate` has the same cases.
    #[test]
    fn only_the_rows_of_matrices_are_aligned() {
        let is_aligned = |shape: &[usize]| {
            matches!(
                strategy(&Shape::from(shape.to_vec())),
                MemoryLayoutStrategy::Optimized
            )
        };
        assert!(is_aligned(&[768, 768]) && is_aligned(&[768, 1001]) && is_aligned(&[64, 3]));
        assert!(!is_aligned(&[64, 32, 3, 3]) && !is_aligned(&[384, 3, 14, 14]));
        assert!(!is_aligned(&[1, 197, 192]));
        assert!(is_aligned(&[192]) && is_aligned(&[]));
    }
}
