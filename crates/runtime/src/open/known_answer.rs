//! The first kernel: small integers, all of them exact in f32.

use super::{
    error::{OpenError, OpenStep},
    isolated::isolated,
};
use crate::{
    engine::{AttachError, AttachedEngine, Operand},
    gpu_memory,
};
use burn_tensor::{DType, Tensor, TensorData};
use std::time::Duration;
use testgen_device::Device;
use testgen_engine::Operation;
use testgen_nn::{
    backend::{Cpu, Ops},
    device::BackendDevice,
};
use testgen_types::Precision;

/// Not a multiple of a tile, so that the tail of a kernel is tested; the largest answer, n² + n, is below 2^24.
const LENGTH: usize = 1003;

/// Computes the known answer on `device` and compares it.
pub(super) fn prove(device: &Device, backend: &BackendDevice, limit: Duration) -> Result<(), OpenError> {
    let inner = backend.clone();
    let answer = isolated(device, limit, move || {
        let answer = match &inner {
            BackendDevice::Cpu(device) => compute::<Cpu>(device),
            #[cfg(any(feature = "cuda", feature = "rocm"))]
            BackendDevice::Gpu(device) => compute::<testgen_nn::backend::Gpu>(device),
        };
        // On this thread, because cubecl's allocator holds memory per stream, and each thread has its own.
        gpu_memory::cleanup(&inner);
        answer
    });
    let answer = answer.map_err(|failure| OpenError::no_answer(device, OpenStep::FirstKernel, failure))?;
    let answer = answer.map_err(|message| OpenError::failed(device, OpenStep::FirstKernel, &message))?;
    first_difference(&answer).map_or(Ok(()), |difference| Err(OpenError::wrong_answer(device, &difference)))
}

/// Computes the known answer in an engine, and compares it.
pub(super) fn prove_engine(device: &Device, engine: &AttachedEngine) -> Result<(), OpenError> {
    let operand = |values: Vec<f32>| Some(Operand { shape: vec![values.len()], values });
    let compute = |operation, left, right| {
        engine.compute(operation, [operand(left), operand(right)], Precision::F32, Precision::F32)
    };
    let values = inputs();
    let answer = compute(Operation::Multiply, values.clone(), values.clone())
        .and_then(|squares| compute(Operation::Add, squares, values))
        .map_err(|message| OpenError::of_engine(device, AttachError::Failed(message)))?;
    first_difference(&answer).map_or(Ok(()), |difference| Err(OpenError::wrong_answer(device, &difference)))
}

/// x² + x for x = 0, 1, 2, ...: two kernels, one copy in each direction.
fn compute<B: Ops>(device: &B::Device) -> Result<Vec<f32>, String> {
    let input = Tensor::<B, 1>::from_data(TensorData::new(inputs(), [LENGTH]), (device, DType::F32));
    let output = input.clone().mul(input.clone()).add(input);
    let data = output.try_into_data().map_err(|error| format!("{error:?}"))?;
    data.into_vec::<f32>().map_err(|error| format!("{error:?}"))
}

fn inputs() -> Vec<f32> {
    (0..LENGTH).map(|value| value as f32).collect()
}

fn first_difference(answer: &[f32]) -> Option<String> {
    if answer.len() != LENGTH {
        return Some(format!("{} values came back, expected {LENGTH}", answer.len()));
    }
    let expected = |index: usize| (index * index + index) as f32;
    let index = (0..LENGTH).find(|&index| answer[index] != expected(index))?;
    let wrong = (0..LENGTH).filter(|&index| answer[index] != expected(index)).count();
    Some(format!("element {index} is {}, expected {}; {wrong} of {LENGTH} are wrong", answer[index], expected(index)))
}

#[cfg(test)]
mod tests {
    use super::{LENGTH, compute, first_difference};
    use testgen_nn::backend::Cpu;

    #[test]
    fn the_host_computes_the_answer() {
        let answer = compute::<Cpu>(&Default::default()).expect("the CPU computes");
        assert_eq!(first_difference(&answer), None);
    }

    #[test]
    fn zeros_and_single_wrong_elements_are_detected() {
        let zeros = first_difference(&vec![0.0; LENGTH]).expect("zeros are wrong");
        assert!(zeros.starts_with("element 1 is 0, expected 2; 1002 of 1003"), "{zeros}");
        let mut answer = compute::<Cpu>(&Default::default()).expect("the CPU computes");
        answer[LENGTH - 1] += 1.0;
        assert!(first_difference(&answer).is_some_and(|difference| difference.contains("1 of 1003 are wrong")));
        answer[LENGTH - 1] = f32::NAN;
        assert!(first_difference(&answer).is_some());
        answer.pop();
        assert!(first_difference(&answer).is_some_and(|difference| difference.starts_with("1002 values")));
    }
}
