//! The operators of the generated suite on each simulated architecture, and what no spec can name:
//! every kernel of the rule for products, fused kernels against their composition, and copies.
//!
//! The subprocess computes all cases on device 0 and prints a line for each, which the test reads.
//! Known bugs of burn on GPUs have a minimal case as well, which must still be wrong: once it is
//! fixed, the workaround can be removed.

mod fused;
mod kernels;
mod known_wrong;
mod transfers;

use crate::subprocess::{self, CacheState};
use burn_tensor::{DType, Tensor, TensorData, TensorPrimitive, backend::Backend, ops::FloatTensor};
use hip_sim_fault_tests::Installation;
use std::process::ExitCode;
use testgen_gpu::Gpu;
use testgen_runtime::{DeviceIndex, DeviceKind, EngineName, detect, open};

/// The architectures that the operators run on: all of the simulator's.
pub(crate) const ARCHITECTURES: &[&str] = &["gfx1030", "gfx1100", "gfx90a", "gfx942"];

/// Those that `.ci/run` does not simulate.
pub(crate) const SUITE_ARCHITECTURES: &[&str] = &["gfx1030", "gfx90a"];

/// An operator's values on one backend.
type Values = Vec<f32>;

/// Runs the subprocess and asserts that every operator agrees.
pub(crate) fn check(architecture: &str) {
    let installation = Installation::new().unwrap();
    let variables = [("HIP_SIM_DEVICES", architecture)];
    let finished = subprocess::run(
        subprocess::OPERATORS,
        &installation,
        CacheState::Empty,
        &variables,
        &[],
    );
    let output = subprocess::text(&finished);
    assert_eq!(finished.status.code(), Some(0), "{output}");
    let agreed = output
        .lines()
        .filter(|line| line.starts_with("agrees "))
        .count();
    assert_eq!(
        agreed,
        kernels::count(architecture) + fused::count() + transfers::count(),
        "{output}"
    );
}

/// Runs every operator of the suite in every precision once. `testgen run --simulate` runs all
/// checks of them on the other architectures.
pub(crate) fn check_suite(architecture: &str) {
    let installation = Installation::new().unwrap();
    let variables = [
        ("HIP_SIM_DEVICES", architecture),
        ("TESTGEN_REQUIRE", "rocm-sim"),
    ];
    let arguments = ["::rocm::forward_"];
    let finished = subprocess::run(
        subprocess::SUITE,
        &installation,
        CacheState::Empty,
        &variables,
        &arguments,
    );
    let output = subprocess::text(&finished);
    assert_eq!(finished.status.code(), Some(0), "{output}");
    assert!(output.contains(" 0 failed"), "{output}");
}

/// The subprocess: computes every case and prints whether it agrees.
pub(crate) fn main() -> ExitCode {
    let facts = match detect(
        DeviceKind::Rocm,
        DeviceIndex::Index(0),
        &EngineName::native(),
    ) {
        Ok(facts) if facts.simulated => facts,
        Ok(facts) => return fail(&format!("`{}` is not a simulation", facts.name)),
        Err(unavailable) => return fail(&unavailable.to_string()),
    };
    if let Err(error) = open(facts) {
        return fail(&error.to_string());
    }
    let gpu = testgen_gpu::GpuDevice::rocm(0);
    let host = burn_flex::FlexDevice;
    let mut wrong = false;
    let known = known_wrong::all::<burn_flex::Flex>(&host);
    for ((name, expected), (_, got)) in known.iter().zip(&known_wrong::all::<Gpu>(&gpu)) {
        let agrees = difference(expected, got) <= tolerance(DType::F32);
        wrong |= agrees;
        println!(
            "{} {name}",
            if agrees {
                "FIXED in burn, remove the workaround:"
            } else {
                "wrong as known:"
            }
        );
    }
    wrong |= !kernels::agree(&gpu, &host);
    wrong |= !fused::agree(&gpu);
    wrong |= !transfers::agree(&gpu);
    if wrong {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn fail(reason: &str) -> ExitCode {
    eprintln!("{reason}");
    ExitCode::FAILURE
}

/// The largest difference, relative to the largest expected value.
fn difference(expected: &Values, got: &Values) -> f32 {
    if expected.len() != got.len() || got.iter().any(|value| value.is_nan()) {
        return f32::INFINITY;
    }
    let scale = expected
        .iter()
        .fold(1e-30_f32, |scale, value| scale.max(value.abs()));
    expected
        .iter()
        .zip(got)
        .fold(0.0_f32, |worst, (expected, got)| {
            worst.max((expected - got).abs())
        })
        / scale
}

/// A few units in the last place. The 16-bit tolerances allow accumulators in f32 and in 16 bits.
fn tolerance(dtype: DType) -> f32 {
    match dtype {
        DType::F16 => 4e-3,
        DType::BF16 => 3e-2,
        _ => 5e-6,
    }
}

/// Values between -1 and 1 that repeat only after 101 elements; another `step` orders them in
/// another way.
fn filled<B: Backend, const D: usize>(
    device: &B::Device,
    shape: [usize; D],
    step: usize,
    dtype: DType,
) -> Tensor<B, D> {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count)
        .map(|index| (index * step % 101) as f32 / 50.0 - 1.0)
        .collect();
    Tensor::from_data(TensorData::new(values, shape), (device, dtype))
}

fn values<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Values {
    tensor.into_data().iter::<f32>().collect()
}

fn primitive<const D: usize>(tensor: Tensor<Gpu, D>) -> FloatTensor<Gpu> {
    tensor.into_primitive().tensor()
}

fn typed<const D: usize>(tensor: FloatTensor<Gpu>) -> Tensor<Gpu, D> {
    Tensor::from_primitive(TensorPrimitive::Float(tensor))
}
