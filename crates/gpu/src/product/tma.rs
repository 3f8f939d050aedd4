//! The matrices that the Tensor Memory Accelerator (TMA) of a device can load for a product.

use crate::runtime::GpuRuntime;
use burn_backend::DType;
use burn_cubecl::tensor::CubeTensor;
use cubecl::client::ComputeClient;

/// Whether the device has a Tensor Memory Accelerator and it can load the factor.
pub(super) fn can_load(factor: &CubeTensor<GpuRuntime>) -> bool {
    let (shape, strides) = (factor.meta.shape().as_slice(), factor.meta.strides());
    is_present(&factor.client)
        // The first address must be a multiple of 16 bytes, which an offset need not be.
        && factor.handle.offset_start.is_none()
        && can_load_rows(shape, strides, factor.dtype)
}

pub(super) fn is_present(client: &ComputeClient<GpuRuntime>) -> bool {
    !client.properties().features.tma.is_empty()
}

/// The Tensor Memory Accelerator requires rows that begin at multiples of 16 bytes. Batches are
/// left to the other kernel: cubek-matmul 0.2 (`launch/args.rs`) takes the last batch dimension's
/// stride for the stride of all batches together.
pub(super) fn can_load_rows(shape: &[usize], strides: &[usize], dtype: DType) -> bool {
    // A pattern of two dimensions: a tensor with a batch does not match it.
    let [_, columns] = shape else { return false };
    strides == [*columns, 1] && (columns * dtype.size()).is_multiple_of(16)
}

#[cfg(test)]
mod tests {
    use super::{DType, can_load_rows};

    #[test]
    fn the_copy_engine_loads_contiguous_matrices_with_aligned_rows() {
        assert!(can_load_rows(&[128, 768], &[768, 1], DType::F16));
        assert!(!can_load_rows(&[128, 770], &[770, 1], DType::F16));
        assert!(!can_load_rows(&[128, 768], &[1, 128], DType::F16));
        assert!(!can_load_rows(
            &[2, 128, 768],
            &[98_304, 768, 1],
            DType::F16
        ));
    }
}
