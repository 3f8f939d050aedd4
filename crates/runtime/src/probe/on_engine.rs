//! Computation of the cases in an engine, one call each.

use super::{
    cases::{self, FloatFormat, INNER, ProbeProduct},
    fingerprint,
    question::ProbeQuestion,
};
use crate::engine::{AttachedEngine, FloatTensor};
use testgen_engine::ComputeOperation;
use testgen_types::Precision;

/// The answers of the engine to a group of cases, in order.
pub(super) fn answer(
    engine: &AttachedEngine,
    precision: Precision,
    question: ProbeQuestion,
    side: usize,
) -> Result<Vec<f64>, String> {
    let format = FloatFormat::for_precision(precision);
    let cases = cases::elementwise(format);
    let compute = |operation, operands, from| {
        let answers = engine.compute(operation, operands, from, precision)?;
        Ok(answers.into_iter().map(f64::from).collect())
    };
    let pairs = |operation, pairs: Vec<(f64, f64)>| {
        let (left, right) = pairs.into_iter().unzip();
        compute(operation, [vector(left), vector(right)], precision)
    };
    match question {
        ProbeQuestion::Stored => {
            // A cast to the type that the numbers already have only stores and reads them.
            let stored = cases.sums.iter().map(|(left, _)| *left).collect();
            compute(ComputeOperation::Cast, [vector(stored), None], precision)
        }
        ProbeQuestion::Sums => pairs(ComputeOperation::Add, cases.sums),
        ProbeQuestion::Products => pairs(ComputeOperation::Multiply, cases.products),
        // From f32, so that the engine itself rounds to the type.
        ProbeQuestion::Casts => compute(
            ComputeOperation::Cast,
            [vector(cases.casts), None],
            Precision::F32,
        ),
        ProbeQuestion::Cancelling => product(cases::cancelling_product(side), compute, precision),
        ProbeQuestion::Random => product(cases::random_product(format, side), compute, precision),
        ProbeQuestion::Fingerprint => {
            product(fingerprint::product(format, side), compute, precision)
        }
    }
}

fn product(
    product: ProbeProduct,
    compute: impl Fn(ComputeOperation, [Option<FloatTensor>; 2], Precision) -> Result<Vec<f64>, String>,
    precision: Precision,
) -> Result<Vec<f64>, String> {
    let ProbeProduct { side, left, right } = product;
    let operands = [matrix([side, INNER], left), matrix([INNER, side], right)];
    compute(ComputeOperation::MatrixProduct, operands, precision)
}

fn vector(values: Vec<f64>) -> Option<FloatTensor> {
    Some(FloatTensor {
        shape: vec![values.len()],
        values: rounded(values),
    })
}

fn matrix(shape: [usize; 2], values: Vec<f64>) -> Option<FloatTensor> {
    Some(FloatTensor {
        shape: shape.to_vec(),
        values: rounded(values),
    })
}

/// The cases are exact in their 16-bit type, and therefore in f32.
fn rounded(values: Vec<f64>) -> Vec<f32> {
    values.into_iter().map(|value| value as f32).collect()
}
