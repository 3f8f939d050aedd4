//! Computation of the cases on the device. Each group runs on a thread of its own, so that one failure does not affect
//! the others.

use super::{
    cases::{self, Format, INNER, Product},
    fingerprint, on_engine,
    question::Question,
};
use crate::{
    gpu_memory,
    open::{Executor, Failure, OpenDevice, isolated},
};
use burn_tensor::backend::Backend as _;
use burn_tensor::{DType, FloatDType, Tensor, TensorData};
use std::time::Duration;
use testgen_nn::{
    backend::{Cpu, Ops, compute_in},
    device::BackendDevice,
};
use testgen_types::Precision;

/// Tuning a product compiles dozens of kernels.
const LIMIT: Duration = Duration::from_secs(600);

/// The answers to a group of cases, in order, or the error.
pub(super) type Answers = Result<Vec<f64>, String>;

/// The device's answers to every case of one precision.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measurement {
    /// The left operands of the sums, copied to the device and back.
    pub(super) stored: Answers,
    /// [`cases::Elementwise::sums`].
    pub(super) sums: Answers,
    /// [`cases::Elementwise::products`].
    pub(super) products: Answers,
    /// [`cases::Elementwise::casts`].
    pub(super) casts: Answers,
    /// The product that determines the accumulator.
    pub(super) cancelling: Answers,
    /// The product that determines the error.
    pub(super) random: Answers,
    /// The product that shows the features of the matrix unit.
    pub(super) fingerprint: Answers,
    /// The number of rows and columns of both matrices.
    pub(super) side: usize,
    /// Whether the backend claims to support the type on this device. Then a missing answer is a fault.
    pub(super) claimed: bool,
}

/// The device's answers about TF32.
pub(super) struct Tf32Measurement {
    /// The products that determine the accumulator and the error.
    pub(super) products: [Answers; 2],
    /// The product that shows the features of the matrix unit.
    pub(super) fingerprint: Answers,
    /// The number of rows and columns of both matrices.
    pub(super) side: usize,
    /// Whether products in TF32 lose bits that f32 has, as they must.
    pub(super) tf32_loses: Result<bool, String>,
    /// Whether products in f32 do.
    pub(super) f32_loses: Result<bool, String>,
    /// Whether they must: in the columns of an engine whose f32 is TF32 by request. In all others they must not.
    pub(super) f32_is_tf32: bool,
}

/// Computes all cases of a precision on the device.
pub(super) fn measure(device: &OpenDevice, precision: Precision) -> Measurement {
    let side = side(device.facts.simulated);
    let ask = |question| answer(device, precision, question, side);
    Measurement {
        stored: ask(Question::Stored),
        sums: ask(Question::Sums),
        products: ask(Question::Products),
        casts: ask(Question::Casts),
        cancelling: ask(Question::Cancelling),
        random: ask(Question::Random),
        fingerprint: ask(Question::Fingerprint),
        side,
        claimed: claims(device, precision),
    }
}

/// The answers to the three products in TF32, which are all that distinguishes TF32 from f32: those that determine the accumulator
/// and the error, and the one that shows the features of the matrix unit.
pub(super) fn measure_tf32_products(device: &OpenDevice) -> [Answers; 3] {
    let side = side(device.facts.simulated);
    [Question::Cancelling, Question::Random, Question::Fingerprint]
        .map(|question| answer(device, Precision::Tf32, question, side))
}

/// Whether the backend claims to support the type; false when the query fails.
fn claims(device: &OpenDevice, precision: Precision) -> bool {
    let (backend, dtype) = match &device.executor {
        Executor::Native(backend) => (backend.clone(), types(precision).0),
        // An engine that lacks a type answers with an error, which shows that it does not claim it.
        Executor::Engine { process, .. } => return on_engine::answer(process, precision, Question::Stored, 0).is_ok(),
    };
    let claim = isolated(&device.facts, LIMIT, move || match &backend {
        BackendDevice::Cpu(device) => Cpu::supports_dtype(device, dtype),
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        BackendDevice::Gpu(device) => testgen_nn::backend::Gpu::supports_dtype(device, dtype),
    });
    claim.unwrap_or(false)
}

/// Several tiles of a tensor core. Smaller on a simulator, which multiplies one number at a time.
pub(super) fn side(simulated: bool) -> usize {
    if simulated { 16 } else { 64 }
}

fn answer(device: &OpenDevice, precision: Precision, question: Question, side: usize) -> Answers {
    let backend = match &device.executor {
        Executor::Native(backend) => backend.clone(),
        Executor::Engine { process, .. } => return on_engine::answer(process, precision, question, side),
    };
    let answer = isolated(&device.facts, LIMIT, move || {
        let answer = match &backend {
            BackendDevice::Cpu(device) => compute::<Cpu>(device, precision, question, side),
            #[cfg(any(feature = "cuda", feature = "rocm"))]
            BackendDevice::Gpu(device) => compute::<testgen_nn::backend::Gpu>(device, precision, question, side),
        };
        gpu_memory::cleanup(&backend);
        answer
    });
    answer.unwrap_or_else(|failure| {
        Err(match failure {
            Failure::Panicked { message } => message,
            Failure::TimedOut { limit } => format!("no answer within {} s", limit.as_secs()),
            Failure::Blocked { by } => format!("not started, because {by} does not answer"),
        })
    })
}

fn compute<B: Ops>(device: &B::Device, precision: Precision, question: Question, side: usize) -> Answers {
    let types = types(precision);
    let format = Format::of(precision);
    let cases = cases::elementwise(format);
    let put = |values: Vec<f64>| put::<B>(values, types.0, device);
    match question {
        Question::Stored => read(put(cases.sums.iter().map(|(left, _)| *left).collect())),
        Question::Sums => {
            let (left, right) = cases.sums.into_iter().unzip();
            read(put(left).add(put(right)))
        }
        Question::Products => {
            let (left, right) = cases.products.into_iter().unzip();
            read(put(left).mul(put(right)))
        }
        Question::Casts => read(self::put::<B>(cases.casts, DType::F32, device).cast(types.1)),
        Question::Cancelling => multiply::<B>(cases::cancelling_product(side), precision, device),
        Question::Random => multiply::<B>(cases::random_product(format, side), precision, device),
        Question::Fingerprint => multiply::<B>(fingerprint::product(format, side), precision, device),
    }
}

fn multiply<B: Ops>(product: Product, precision: Precision, device: &B::Device) -> Answers {
    let dtype = types(precision).0;
    let left = put::<B>(product.left, dtype, device).reshape([product.side, INNER]);
    let right = put::<B>(product.right, dtype, device).reshape([INNER, product.side]);
    read(compute_in::<B, _>(precision, || left.matmul(right)))
}

fn put<B: Ops>(values: Vec<f64>, dtype: DType, device: &B::Device) -> Tensor<B, 1> {
    let shape = [values.len()];
    // Converted on the host, so that a wrong cast of the device is not taken for a wrong sum or product.
    Tensor::from_data(TensorData::new(values, shape).convert_dtype(dtype), (device, dtype))
}

fn read<B: Ops, const D: usize>(tensor: Tensor<B, D>) -> Answers {
    let data = tensor.try_into_data().map_err(|error| format!("{error:?}"))?;
    data.convert::<f64>().into_vec::<f64>().map_err(|error| format!("{error:?}"))
}

fn types(precision: Precision) -> (DType, FloatDType) {
    match precision {
        Precision::F32 | Precision::Tf32 => (DType::F32, FloatDType::F32),
        Precision::F16 => (DType::F16, FloatDType::F16),
        Precision::Bf16 => (DType::BF16, FloatDType::BF16),
    }
}
