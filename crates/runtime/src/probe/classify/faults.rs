//! Answers that IEEE arithmetic with an accumulator of the measured width cannot produce.

use super::super::cases::{
    FloatFormat, INNER, ProbeProduct, ROUNDINGS, elementwise, random_product,
};
use super::super::measure::{Measurement, Tf32Measurement};
use super::facts::{self, Accumulator, Rounding};
use testgen_types::Precision;

/// A description of every fault; empty for a device that computes correctly. All groups must have
/// answers.
pub(super) fn all(
    precision: Precision,
    measured: &Measurement,
    error: Option<ProductError>,
) -> Vec<String> {
    let format = FloatFormat::for_precision(precision);
    let none = Vec::new();
    let [stored, sums, products, casts] = [
        &measured.stored,
        &measured.sums,
        &measured.products,
        &measured.casts,
    ]
    .map(|answers| answers.as_ref().unwrap_or(&none).as_slice());
    let cases = elementwise(format);
    let mut faults = Vec::new();
    faults.extend(stored_fault(&cases.sums, stored));
    faults.extend(rounding_fault("sums round", facts::rounding(format, sums)));
    faults.extend(rounding_fault(
        "casts from f32 round",
        facts::rounding(format, casts),
    ));
    faults.extend(wrong_sums(&cases.sums, sums));
    faults.extend(wrong_products(format, &cases.products, products));
    if facts::denormals(format, products).is_none() {
        let got = products.get(2..4).unwrap_or_default();
        faults.push(format!(
            "denormals are neither kept nor zero: {got:?} for {:e}",
            format.smallest()
        ));
    }
    faults.extend(product_fault(precision, error));
    faults
}

/// The plain sums that are wrong.
fn wrong_sums(cases: &[(f64, f64)], got: &[f64]) -> Vec<String> {
    let plain = cases
        .iter()
        .map(|&(left, right)| ExactOperation {
            left,
            sign: '+',
            right,
            exact: left + right,
        })
        .enumerate()
        .skip(ROUNDINGS);
    plain
        .filter_map(|(index, case)| wrong_value(case, got.get(index)))
        .collect()
}

/// The products that are wrong, without the ones of denormals.
fn wrong_products(format: FloatFormat, cases: &[(f64, f64)], got: &[f64]) -> Vec<String> {
    let products = cases.iter().map(|&(left, right)| {
        let exact = bounded(format, left * right);
        ExactOperation {
            left,
            sign: '*',
            right,
            exact,
        }
    });
    // Products 2 and 3 have subnormal operands or results, which may be flushed.
    let no_denormals = products
        .enumerate()
        .filter(|(index, _)| !(2..4).contains(index));
    no_denormals
        .filter_map(|(index, case)| wrong_value(case, got.get(index)))
        .collect()
}

/// The same for TF32, all of whose answers must be there.
pub(super) fn of_tf32(
    measured: &Tf32Measurement,
    accumulator: Option<Accumulator>,
    error: Option<ProductError>,
) -> Vec<String> {
    let mut faults = Vec::new();
    faults.extend(product_fault(Precision::Tf32, error));
    if accumulator == Some(Accumulator::SixteenBits) {
        faults.push("sums inside a matrix product are not those of f32".to_owned());
    }
    if measured.tf32_loses == Ok(false) {
        faults.push(
            "products keep bits that TF32 lacks, so matrix units did not compute them".to_owned(),
        );
    }
    match (&measured.f32_loses, measured.f32_is_tf32) {
        (Ok(true), false) => {
            faults.push("products in f32 lose bits as well, so f32 is not f32".to_owned())
        }
        (Ok(false), true) => faults
            .push("products in f32 keep all bits, although the column requests TF32".to_owned()),
        _ => {}
    }
    faults
}

/// The exact result, or infinity if it overflows the format.
fn bounded(format: FloatFormat, exact: f64) -> f64 {
    // IEEE rounds an overflow to infinity and not to the largest number.
    if exact.abs() > format.largest {
        exact.signum() * f64::INFINITY
    } else {
        exact
    }
}

fn stored_fault(cases: &[(f64, f64)], stored: &[f64]) -> Option<String> {
    let same = stored.len() == cases.len()
        && cases
            .iter()
            .zip(stored)
            .all(|((left, _), stored)| left == stored);
    (!same).then(|| "values change when they are stored".to_owned())
}

fn rounding_fault(what: &str, rounding: Rounding) -> Option<String> {
    (rounding != Rounding::NearestEven)
        .then(|| format!("{what} {rounding}, expected to nearest even"))
}

/// An operation on two elements, with its exact result.
struct ExactOperation {
    left: f64,
    sign: char,
    right: f64,
    exact: f64,
}

fn wrong_value(operation: ExactOperation, got: Option<&f64>) -> Option<String> {
    let ExactOperation {
        left,
        sign,
        right,
        exact,
    } = operation;
    // An answer that is missing differs from every number.
    let got = *got.unwrap_or(&f64::NAN);
    (got != exact).then(|| format!("{left} {sign} {right} is {got}, expected {exact}"))
}

pub(super) fn product_fault(precision: Precision, error: Option<ProductError>) -> Option<String> {
    let Some(ProductError {
        largest,
        tolerance,
        rel_l2,
    }) = error
    else {
        return Some(
            "sums inside a matrix product are neither those of f32 nor of 16 bits".to_owned(),
        );
    };
    let ceiling = rel_l2_ceiling(precision);
    let within = largest <= tolerance && rel_l2 <= ceiling;
    (!within).then(|| {
        format!(
            "a matrix product of inner length {INNER} is off by {largest:.3e} (allowed {tolerance:.3e}), rel-L2 {rel_l2:.3e} (allowed {ceiling:.0e})"
        )
    })
}

/// The ceiling of the tolerance table: for a 16-bit accumulator the formula alone allows any error.
fn rel_l2_ceiling(precision: Precision) -> f64 {
    match precision {
        // Factors are exact in TF32, and results are stored in f32.
        Precision::F32 | Precision::Tf32 => 3e-5,
        Precision::F16 => 5e-2,
        Precision::Bf16 => 2e-1,
    }
}

/// The error of a matrix product, and the allowed error.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProductError {
    /// The largest error; infinite where an answer is missing or not finite.
    pub(super) largest: f64,
    /// K x epsilon of the accumulator x max|a| x max|b|, and one rounding of the largest result.
    pub(super) tolerance: f64,
    /// |d| / |ref|.
    pub(super) rel_l2: f64,
}

impl ProductError {
    /// Compares the answers to [`random_product`].
    pub(super) fn new(
        format: FloatFormat,
        accumulator: Accumulator,
        answers: &[f64],
        side: usize,
    ) -> Self {
        let product = random_product(format, side);
        let exact = product.exact();
        let tolerance = tolerance(format, accumulator, &product, &exact);
        // Infinite and not a separate error, so that every comparison with a tolerance fails.
        if answers.len() != exact.len() || !answers.iter().all(|answer| answer.is_finite()) {
            return Self {
                largest: f64::INFINITY,
                tolerance,
                rel_l2: f64::INFINITY,
            };
        }
        let differences: Vec<f64> = answers
            .iter()
            .zip(&exact)
            .map(|(answer, exact)| answer - exact)
            .collect();
        Self {
            largest: largest(&differences),
            tolerance,
            rel_l2: norm(&differences) / norm(&exact),
        }
    }
}

fn tolerance(
    format: FloatFormat,
    accumulator: Accumulator,
    product: &ProbeProduct,
    exact: &[f64],
) -> f64 {
    let epsilon = match accumulator {
        // Matrix units truncate where f32 rounds, which doubles the error. In 16 bits the stored
        // result hides the difference.
        Accumulator::F32 if format.stored_epsilon < format.epsilon => 2.0 * f64::from(f32::EPSILON),
        Accumulator::F32 => f64::from(f32::EPSILON),
        Accumulator::SixteenBits => format.epsilon,
    };
    let sums = INNER as f64 * epsilon * largest(&product.left) * largest(&product.right);
    sums + format.stored_epsilon / 2.0 * largest(exact)
}

fn largest(values: &[f64]) -> f64 {
    values
        .iter()
        .fold(0.0, |largest: f64, value| largest.max(value.abs()))
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}
