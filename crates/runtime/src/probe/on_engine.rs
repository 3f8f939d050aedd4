//! Computation of the cases in an engine, one call each.

use super::{
    cases::{self, Format, INNER, Product},
    fingerprint,
    question::Question,
};
use crate::engine::{AttachedEngine, Operand};
use testgen_engine::Operation;
use testgen_types::Precision;

/// The answers of the engine to a group of cases, in order.
pub(super) fn answer(
    engine: &AttachedEngine,
    precision: Precision,
    question: Question,
    side: usize,
) -> Result<Vec<f64>, String> {
    let format = Format::of(precision);
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
        Question::Stored => {
            let stored = cases.sums.iter().map(|(left, _)| *left).collect();
            compute(Operation::Cast, [vector(stored), None], precision)
        }
        Question::Sums => pairs(Operation::Add, cases.sums),
        Question::Products => pairs(Operation::Multiply, cases.products),
        Question::Casts => compute(Operation::Cast, [vector(cases.casts), None], Precision::F32),
        Question::Cancelling => product(cases::cancelling_product(side), compute, precision),
        Question::Random => product(cases::random_product(format, side), compute, precision),
        Question::Fingerprint => product(fingerprint::product(format, side), compute, precision),
    }
}

fn product(
    product: Product,
    compute: impl Fn(Operation, [Option<Operand>; 2], Precision) -> Result<Vec<f64>, String>,
    precision: Precision,
) -> Result<Vec<f64>, String> {
    let Product { side, left, right } = product;
    let operands = [matrix([side, INNER], left), matrix([INNER, side], right)];
    compute(Operation::MatrixProduct, operands, precision)
}

fn vector(values: Vec<f64>) -> Option<Operand> {
    Some(Operand { shape: vec![values.len()], values: rounded(values) })
}

fn matrix(shape: [usize; 2], values: Vec<f64>) -> Option<Operand> {
    Some(Operand { shape: shape.to_vec(), values: rounded(values) })
}

/// The cases are exact in their 16-bit type, and therefore in f32.
fn rounded(values: Vec<f64>) -> Vec<f32> {
    values.into_iter().map(|value| value as f32).collect()
}
