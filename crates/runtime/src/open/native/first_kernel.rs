//! The first kernel of a device computes the known answer.

use super::super::{
    error::{OpenError, OpenStep},
    isolated::isolated,
    known_answer::{LENGTH, first_difference, inputs},
};
use crate::gpu_memory;
use burn_tensor::{DType, Tensor, TensorData};
use std::time::Duration;
use testgen_device::Device;
use testgen_nn::{
    backend::{Cpu, Ops},
    device::BackendDevice,
};

/// Computes the known answer on `device` and compares it.
pub(super) fn prove(
    device: &Device,
    backend: &BackendDevice,
    limit: Duration,
) -> Result<(), OpenError> {
    let inner = backend.clone();
    let answer = isolated(device, limit, move || {
        let answer = match &inner {
            BackendDevice::Cpu(device) => compute::<Cpu>(device),
            #[cfg(any(feature = "cuda", feature = "rocm"))]
            BackendDevice::Gpu(device) => compute::<testgen_nn::backend::Gpu>(device),
        };
        // On this thread, because cubecl's allocator holds memory per stream, and each thread has
        // its own.
        gpu_memory::cleanup(&inner);
        answer
    });
    let answer =
        answer.map_err(|failure| OpenError::no_answer(device, OpenStep::FirstKernel, failure))?;
    let answer =
        answer.map_err(|message| OpenError::failed(device, OpenStep::FirstKernel, &message))?;
    first_difference(&answer).map_or(Ok(()), |difference| {
        Err(OpenError::wrong_answer(device, &difference))
    })
}

/// x² + x for x = 0, 1, 2, ...: two kernels, one copy in each direction.
fn compute<B: Ops>(device: &B::Device) -> Result<Vec<f32>, String> {
    let input =
        Tensor::<B, 1>::from_data(TensorData::new(inputs(), [LENGTH]), (device, DType::F32));
    let output = input.clone().mul(input.clone()).add(input);
    read_values(output)
}

/// The values of a tensor in f32, or the error of the kernels that computed it.
pub(super) fn read_values<B: Ops, const D: usize>(x: Tensor<B, D>) -> Result<Vec<f32>, String> {
    let data = x.try_into_data().map_err(|error| format!("{error:?}"))?;
    data.into_vec::<f32>().map_err(|error| format!("{error:?}"))
}

#[cfg(test)]
mod tests {
    use super::{compute, first_difference};
    use testgen_nn::backend::Cpu;

    #[test]
    fn the_host_computes_the_answer() {
        let answer = compute::<Cpu>(&Default::default()).expect("the CPU computes");
        assert_eq!(first_difference(&answer), None);
    }
}
