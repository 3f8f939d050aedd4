//! Whether f32 products are computed in f32 or in TF32.

use super::{
    error::{OpenError, OpenStep},
    isolated::{Failure, isolated},
    open_device::{Executor, OpenDevice},
};
use crate::{engine::Operand, gpu_memory};
use burn_tensor::{DType, Tensor, TensorData};
use std::time::Duration;
use testgen_device::{DetectionPath, Device};
use testgen_engine::Operation;
use testgen_nn::{
    backend::{Cpu, Ops, compute_in},
    device::BackendDevice,
};
use testgen_types::Precision;

/// Large enough that the rule chooses the kernel of large products.
const SIDE: usize = 512;
/// Compiling one kernel takes seconds.
const LIMIT: Duration = Duration::from_secs(120);

/// Whether f32 products use TF32. On CUDA and HIP they do not, by the rule that chooses their kernels (`testgen-gpu`).
/// Translation layers are measured, because they may run a kernel in another way than it is written.
pub(super) fn declare(device: &Device, backend: &BackendDevice) -> Result<bool, OpenError> {
    match device.path {
        DetectionPath::HostProcessor | DetectionPath::HipRuntime | DetectionPath::CudaDriver => Ok(false),
        DetectionPath::CudaCompatibility => {
            let measured = measure(device, backend, Precision::F32);
            let measured = measured.map_err(|failure| OpenError::no_answer(device, OpenStep::Precision, failure))?;
            measured.map_err(|message| OpenError::failed(device, OpenStep::Precision, &message))
        }
    }
}

/// Whether one f32 product on `device` loses bits that f32 has and TF32 lacks. `false` proves nothing about products of
/// other shapes: see [`OpenDevice::tf32`].
///
/// # Errors
///
/// The product could not be computed; the backend's message.
pub fn measure_tf32(device: &OpenDevice) -> Result<bool, String> {
    loses_bits_of_f32(device, Precision::F32)
}

/// The same of a product in f32 or in tf32.
pub(crate) fn loses_bits_of_f32(device: &OpenDevice, precision: Precision) -> Result<bool, String> {
    match &device.executor {
        Executor::Native(backend) => {
            measure(&device.facts, backend, precision).map_err(|failure| format!("{failure:?}"))?
        }
        Executor::Engine { process, .. } => {
            let matrix = |value: f32| Some(Operand { shape: vec![SIDE, SIDE], values: vec![value; SIDE * SIDE] });
            let operands = [matrix(1.0 + LOW_BIT), matrix(1.0)];
            process.compute(Operation::MatrixProduct, operands, precision, precision).map(|values| loses_bits(&values))
        }
    }
}

fn measure(device: &Device, backend: &BackendDevice, precision: Precision) -> Result<Result<bool, String>, Failure> {
    let inner = backend.clone();
    isolated(device, LIMIT, move || {
        let values = match &inner {
            BackendDevice::Cpu(device) => product::<Cpu>(device, precision),
            #[cfg(any(feature = "cuda", feature = "rocm"))]
            BackendDevice::Gpu(device) => product::<testgen_nn::backend::Gpu>(device, precision),
        };
        gpu_memory::cleanup(&inner);
        values.map(|values| loses_bits(&values))
    })
}

/// A bit that f32 (23 bits of mantissa) has and TF32 (10 bits) lacks.
const LOW_BIT: f32 = 1.0 / 4096.0;

/// Rows of 1 + 2^-12 times columns of 1: every partial sum is exact in f32.
fn product<B: Ops>(device: &B::Device, precision: Precision) -> Result<Vec<f32>, String> {
    let matrix = |value: f32| {
        let data = TensorData::new(vec![value; SIDE * SIDE], [SIDE, SIDE]);
        Tensor::<B, 2>::from_data(data, (device, DType::F32))
    };
    let product = compute_in::<B, _>(precision, || matrix(1.0 + LOW_BIT).matmul(matrix(1.0)));
    let data = product.try_into_data().map_err(|error| format!("{error:?}"))?;
    data.into_vec::<f32>().map_err(|error| format!("{error:?}"))
}

fn loses_bits(values: &[f32]) -> bool {
    let exact = SIDE as f32 * (1.0 + LOW_BIT);
    // The limit is 2^-16 of the value: f32 computes this product exactly, and TF32 is off by 2^-12.
    !values.iter().all(|value| (value - exact).abs() <= exact * f32::EPSILON * SIDE as f32 / 4.0)
}

#[cfg(test)]
mod tests {
    use super::{Precision, SIDE, loses_bits, product};
    use testgen_nn::backend::Cpu;

    #[test]
    fn the_host_keeps_every_bit_and_tf32_does_not() {
        for precision in [Precision::F32, Precision::Tf32] {
            assert!(!loses_bits(&product::<Cpu>(&Default::default(), precision).expect("the CPU computes")));
        }
        assert!(loses_bits(&vec![SIDE as f32; SIDE * SIDE]));
    }
}
