//! burn's operators on the simulated device against burn's CPU backend, each in a precision.
//!
//! The child computes them all on device 0 and prints a line for each; the parent reads the lines. What burn is known to
//! compute wrongly on GPUs is here as well, in its smallest form, and must still be wrong: code goes around it.

mod cases;

use crate::child::{self, Kept};
use burn::tensor::{DType, backend::Backend};
use hip_sim_proof::Installation;
use std::process::ExitCode;
use testgen_runtime::{DeviceIndex, hip_runtime, open};

/// Where the operators run: every architecture of the simulator.
pub(crate) const ARCHITECTURES: &[&str] = &["gfx1030", "gfx1100", "gfx90a", "gfx942"];

/// An operator's values on one backend.
type Values = Vec<f32>;

/// Starts the child and demands that every operator agrees.
pub(crate) fn check(architecture: &str) {
    let installation = Installation::new().unwrap();
    let output = child::run(child::OPERATORS, &installation, Kept::Nothing, &[("HIP_SIM_DEVICES", architecture)], &[]);
    let told = child::text(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let agreed = told.lines().filter(|line| line.starts_with("agrees ")).count();
    assert_eq!(agreed, cases::count(), "{told}");
}

/// The child: computes everything, and says what agrees.
pub(crate) fn main() -> ExitCode {
    let facts = match hip_runtime(DeviceIndex::Index(0)) {
        Ok(facts) if facts.simulated => facts,
        Ok(facts) => return refuse(&format!("`{}` is no simulation", facts.name)),
        Err(absence) => return refuse(&absence.to_string()),
    };
    if let Err(error) = open(facts) {
        return refuse(&error.to_string());
    }
    let gpu = burn::DispatchDevice::Rocm(burn::backend::rocm::RocmDevice::new(0));
    let host = burn::backend::flex::FlexDevice;
    let mut wrong = false;
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let expected = cases::all::<burn::backend::Flex>(&host, dtype);
        let got = cases::all::<burn::Dispatch>(&gpu, dtype);
        for ((name, expected), (_, got)) in expected.iter().zip(&got) {
            let error = difference(expected, got);
            let agrees = error <= tolerance(dtype);
            wrong |= !agrees;
            println!("{} {name} {dtype:?}: {error:.2e}", if agrees { "agrees" } else { "DIFFERS" });
        }
    }
    let known = cases::known_wrong::<burn::backend::Flex>(&host);
    for ((name, expected), (_, got)) in known.iter().zip(&cases::known_wrong::<burn::Dispatch>(&gpu)) {
        let agrees = difference(expected, got) <= tolerance(DType::F32);
        wrong |= agrees;
        println!("{} {name}", if agrees { "MENDED, so what goes around it may go:" } else { "wrong as known:" });
    }
    if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("{why}");
    ExitCode::FAILURE
}

/// The largest difference, in units of the largest value.
fn difference(expected: &Values, got: &Values) -> f32 {
    if expected.len() != got.len() || got.iter().any(|value| value.is_nan()) {
        return f32::INFINITY;
    }
    let scale = expected.iter().fold(1e-30_f32, |scale, value| scale.max(value.abs()));
    expected.iter().zip(got).fold(0.0_f32, |worst, (expected, got)| worst.max((expected - got).abs())) / scale
}

/// A few units in the last place; sums of halves may be kept in either precision.
fn tolerance(dtype: DType) -> f32 {
    match dtype {
        DType::F16 => 4e-3,
        DType::BF16 => 3e-2,
        _ => 5e-6,
    }
}

/// Names an operator's result.
fn named<B: Backend>(name: impl Into<String>, tensor: burn::tensor::Tensor<B, 1>) -> (String, Values) {
    (name.into(), tensor.into_data().iter::<f32>().collect())
}
