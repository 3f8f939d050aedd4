//! Whether a product of f32 matrices loses bits that TF32 lacks.

use super::super::{
    error::{OpenError, OpenStep},
    isolated::{IsolatedFailure, isolated},
    low_bits::{LOW_BIT, SIDE, loses_bits},
};
use super::first_kernel::read_values;
use crate::gpu_memory;
use burn_tensor::{DType, Tensor, TensorData};
use std::time::Duration;
use testgen_device::{DetectionPath, Device};
use testgen_nn::{
    backend::{Cpu, Ops, compute_in},
    device::BackendDevice,
};
use testgen_types::Precision;

/// Compiling one kernel takes seconds.
const LIMIT: Duration = Duration::from_secs(120);

/// Whether f32 products use TF32.
pub(super) fn declare_tf32(device: &Device, backend: &BackendDevice) -> Result<bool, OpenError> {
    // On CUDA and HIP they do not, by the rule that chooses their kernels (`testgen-gpu`).
    // Translation layers are measured, because they may run a kernel in another way than it is
    // written.
    match device.path {
        DetectionPath::HostProcessor
        | DetectionPath::HipRuntime
        | DetectionPath::Engine
        | DetectionPath::CudaDriver => Ok(false),
        DetectionPath::CudaCompatibility => {
            let measured = measure(device, backend, Precision::F32);
            let measured = measured
                .map_err(|failure| OpenError::no_answer(device, OpenStep::Precision, failure))?;
            measured.map_err(|message| OpenError::failed(device, OpenStep::Precision, &message))
        }
    }
}

/// Whether a product in `precision` does.
pub(in crate::open) fn measure(
    device: &Device,
    backend: &BackendDevice,
    precision: Precision,
) -> Result<Result<bool, String>, IsolatedFailure> {
    let inner = backend.clone();
    isolated(device, LIMIT, move || {
        let values = match &inner {
            BackendDevice::Cpu(device) => product::<Cpu>(device, precision),
            #[cfg(any(feature = "cuda", feature = "rocm"))]
            BackendDevice::Gpu(device) => product::<testgen_nn::backend::Gpu>(device, precision),
        };
        // On this thread, whose stream holds the memory.
        gpu_memory::cleanup(&inner);
        values.and_then(|values| loses_bits(&values))
    })
}

/// Rows of 1 + 2^-12 times columns of 1: every partial sum is exact in f32.
fn product<B: Ops>(device: &B::Device, precision: Precision) -> Result<Vec<f32>, String> {
    let matrix = |value: f32| {
        let data = TensorData::new(vec![value; SIDE * SIDE], [SIDE, SIDE]);
        Tensor::<B, 2>::from_data(data, (device, DType::F32))
    };
    read_values(compute_in::<B, _>(precision, || {
        matrix(1.0 + LOW_BIT).matmul(matrix(1.0))
    }))
}

#[cfg(test)]
mod tests {
    use super::{Precision, loses_bits, product};
    use testgen_nn::backend::Cpu;

    #[test]
    fn the_host_keeps_every_bit() {
        for precision in [Precision::F32, Precision::Tf32] {
            let values = product::<Cpu>(&Default::default(), precision);
            assert_eq!(values.and_then(|values| loses_bits(&values)), Ok(false));
        }
    }
}
