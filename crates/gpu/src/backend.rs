//! burn's backend for GPUs.
//!
//! Its operations call burn-cubecl, once from here, so that their kernels are compiled in this
//! crate and not again in every crate that uses a tensor. Four things are decided here and not by
//! burn: which kernel computes a product ([`crate::product`]), the order of sums, that a clamp
//! leaves NaN as it is, and that operations no model uses are not compiled.

mod bool;
mod float;
mod int;
mod module;
mod quantized;

use crate::{
    device::GpuDevice,
    runtime::{GpuRuntime, GpuTensor},
};
use burn_backend::{
    Backend, BackendTypes, DType, DTypeUsageSet, ExecutionError, Shape, TensorData, TensorMetadata,
    ops::{ActivationOps, FloatTensorOps, TransactionOps},
};
use burn_cubecl::CubeBackend;

/// burn's backend for CUDA and ROCm; the device value chooses at run time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gpu;

/// burn-cubecl's backend, which has the kernels.
type Cube = CubeBackend<GpuRuntime, f32, i32, u8>;

/// Implements `$ops` for `Gpu` with the methods of burn-cubecl that are listed, and `$own` methods
/// after them.
macro_rules! delegate {
    (
        $ops:ident { $(fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)* }
        $($own:tt)*
    ) => {
        impl $ops<Gpu> for Gpu {
            $(fn $name($($argument: $type),*) -> $result {
                <Cube as $ops<Cube>>::$name($($argument),*)
            })*
            $($own)*
        }
    };
}
use delegate;

/// All elements as one dimension, of whatever type.
pub(crate) fn as_row(tensor: GpuTensor) -> GpuTensor {
    let count = tensor.shape().num_elements();
    Cube::float_reshape(tensor, Shape::new([count]))
}

/// The panic of an operation that burn's trait requires and no model uses. It fails the check that
/// reaches it.
fn unused(operation: &str) -> ! {
    panic!(
        "`{operation}` is not compiled for GPUs because no model uses it; add it to `testgen-gpu`"
    )
}

impl BackendTypes for Gpu {
    type Device = GpuDevice;
    type FloatElem = f32;
    type IntElem = i32;
    type BoolElem = u8;
    type FloatTensorPrimitive = GpuTensor;
    type IntTensorPrimitive = GpuTensor;
    type BoolTensorPrimitive = GpuTensor;
    type QuantizedTensorPrimitive = GpuTensor;
}

impl Backend for Gpu {
    fn name(device: &GpuDevice) -> String {
        Cube::name(device)
    }

    fn seed(device: &GpuDevice, seed: u64) {
        Cube::seed(device, seed);
    }

    fn sync(device: &GpuDevice) -> Result<(), ExecutionError> {
        Cube::sync(device)
    }

    fn memory_cleanup(device: &GpuDevice) {
        Cube::memory_cleanup(device);
    }

    fn staging<'a, Iter>(data: Iter, device: &GpuDevice)
    where
        Iter: Iterator<Item = &'a mut TensorData>,
    {
        Cube::staging(data, device);
    }

    fn supports_dtype(device: &GpuDevice, dtype: DType) -> bool {
        Cube::supports_dtype(device, dtype)
    }

    fn dtype_usage(device: &GpuDevice, dtype: DType) -> DTypeUsageSet {
        Cube::dtype_usage(device, dtype)
    }

    fn device_count(type_id: u16) -> usize {
        Cube::device_count(type_id)
    }
}

// burn's compositions of the operations above, as burn-cubecl has them.
impl ActivationOps<Self> for Gpu {}
impl TransactionOps<Self> for Gpu {}
