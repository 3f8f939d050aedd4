//! Computation of the cases with burn. Each group runs on a separate thread, so that one failure
//! does not affect the others.

use super::{
    cases::{self, FloatFormat, INNER, ProbeProduct},
    fingerprint,
    question::{ProbeQuestion, ProbedValues},
};
use crate::{
    gpu_memory,
    open::{IsolatedFailure, isolated},
};
use burn_tensor::backend::Backend as _;
use burn_tensor::{DType, FloatDType, Tensor, TensorData};
use std::time::Duration;
use testgen_device::Device;
use testgen_nn::{
    backend::{Cpu, Ops, compute_in},
    device::BackendDevice,
};
use testgen_types::Precision;

/// Tuning a product compiles dozens of kernels.
const LIMIT: Duration = Duration::from_secs(600);

/// Whether the backend claims to support the type; true when the query fails, so that a device that
/// does not answer is not taken for one that lacks the type.
pub(super) fn claims(device: &Device, backend: &BackendDevice, precision: Precision) -> bool {
    let (backend, dtype) = (backend.clone(), types(precision).0);
    let claim = isolated(device, LIMIT, move || match &backend {
        BackendDevice::Cpu(device) => Cpu::supports_dtype(device, dtype),
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        BackendDevice::Gpu(device) => testgen_nn::backend::Gpu::supports_dtype(device, dtype),
    });
    // A query that fails counts as a claim: its missing answers are then faults.
    claim.unwrap_or(true)
}

/// The answers to one group.
pub(super) fn answer(
    device: &Device,
    backend: &BackendDevice,
    precision: Precision,
    question: ProbeQuestion,
    side: usize,
) -> ProbedValues {
    let backend = backend.clone();
    let answer = isolated(device, LIMIT, move || {
        let answer = match &backend {
            BackendDevice::Cpu(device) => compute::<Cpu>(device, precision, question, side),
            #[cfg(any(feature = "cuda", feature = "rocm"))]
            BackendDevice::Gpu(device) => {
                compute::<testgen_nn::backend::Gpu>(device, precision, question, side)
            }
        };
        gpu_memory::cleanup(&backend);
        answer
    });
    answer.unwrap_or_else(|failure| {
        Err(match failure {
            IsolatedFailure::Panicked { message } => message,
            IsolatedFailure::TimedOut { limit } => {
                format!("no answer within {} s", limit.as_secs())
            }
            IsolatedFailure::Blocked { by } => format!("not started, because {by} does not answer"),
        })
    })
}

fn compute<B: Ops>(
    device: &B::Device,
    precision: Precision,
    question: ProbeQuestion,
    side: usize,
) -> ProbedValues {
    let types = types(precision);
    let format = FloatFormat::for_precision(precision);
    let cases = cases::elementwise(format);
    let put = |values: Vec<f64>| put::<B>(values, types.0, device);
    match question {
        ProbeQuestion::Stored => read(put(cases.sums.iter().map(|(left, _)| *left).collect())),
        ProbeQuestion::Sums => {
            let (left, right) = cases.sums.into_iter().unzip();
            read(put(left).add(put(right)))
        }
        ProbeQuestion::Products => {
            let (left, right) = cases.products.into_iter().unzip();
            read(put(left).mul(put(right)))
        }
        ProbeQuestion::Casts => read(self::put::<B>(cases.casts, DType::F32, device).cast(types.1)),
        ProbeQuestion::Cancelling => {
            multiply::<B>(cases::cancelling_product(side), precision, device)
        }
        ProbeQuestion::Random => {
            multiply::<B>(cases::random_product(format, side), precision, device)
        }
        ProbeQuestion::Fingerprint => {
            multiply::<B>(fingerprint::product(format, side), precision, device)
        }
    }
}

fn multiply<B: Ops>(
    product: ProbeProduct,
    precision: Precision,
    device: &B::Device,
) -> ProbedValues {
    let dtype = types(precision).0;
    let left = put::<B>(product.left, dtype, device).reshape([product.side, INNER]);
    let right = put::<B>(product.right, dtype, device).reshape([INNER, product.side]);
    // In the scope of the precision, which alone permits TF32.
    read(compute_in::<B, _>(precision, || left.matmul(right)))
}

fn put<B: Ops>(values: Vec<f64>, dtype: DType, device: &B::Device) -> Tensor<B, 1> {
    let shape = [values.len()];
    // Converted on the host, so that a wrong cast of the device is not taken for a wrong sum or
    // product.
    Tensor::from_data(
        TensorData::new(values, shape).convert_dtype(dtype),
        (device, dtype),
    )
}

fn read<B: Ops, const D: usize>(tensor: Tensor<B, D>) -> ProbedValues {
    let data = tensor
        .try_into_data()
        .map_err(|error| format!("{error:?}"))?;
    data.convert::<f64>()
        .into_vec::<f64>()
        .map_err(|error| format!("{error:?}"))
}

fn types(precision: Precision) -> (DType, FloatDType) {
    match precision {
        Precision::F32 | Precision::Tf32 => (DType::F32, FloatDType::F32),
        Precision::F16 => (DType::F16, FloatDType::F16),
        Precision::Bf16 => (DType::BF16, FloatDType::BF16),
    }
}
