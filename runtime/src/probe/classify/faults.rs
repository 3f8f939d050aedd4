//! Answers that no IEEE arithmetic, and no accumulator of the measured width, can give.

use super::super::cases::{Format, INNER, Product, ROUNDINGS, elementwise, random_product};
use super::super::measure::Measurement;
use super::facts::{self, Accumulator, Rounding};
use testgen_contract::Precision;

/// Every fault, in words; empty for a device that computes correctly. All groups must have answered.
pub(super) fn all(precision: Precision, measured: &Measurement) -> Vec<String> {
    let format = Format::of(precision);
    let none = Vec::new();
    let [stored, sums, products, casts, cancelling, random] =
        [&measured.stored, &measured.sums, &measured.products, &measured.casts, &measured.cancelling, &measured.random]
            .map(|answers| answers.as_ref().unwrap_or(&none).as_slice());
    let cases = elementwise(format);
    let mut faults = Vec::new();
    faults.extend(stored_fault(&cases.sums, stored));
    faults.extend(rounding_fault("sums round", facts::rounding(format, sums)));
    faults.extend(rounding_fault("casts from f32 round", facts::rounding(format, casts)));
    let plain_sums =
        cases.sums.iter().map(|(left, right)| (left, '+', right, left + right)).enumerate().skip(ROUNDINGS);
    faults.extend(plain_sums.filter_map(|(index, case)| wrong_value(case, sums.get(index))));
    let exact_products = cases.products.iter().map(|(left, right)| (left, '*', right, bounded(format, left * right)));
    let no_denormals = exact_products.enumerate().filter(|(index, _)| !(2..4).contains(index));
    faults.extend(no_denormals.filter_map(|(index, case)| wrong_value(case, products.get(index))));
    if facts::denormals(format, products).is_none() {
        let got = products.get(2..4).unwrap_or_default();
        faults.push(format!("denormals are neither kept nor zero: {got:?} for {:e}", format.smallest()));
    }
    faults.extend(product_fault(precision, format, cancelling, random, measured.side));
    faults
}

/// Overflow goes to infinity.
fn bounded(format: Format, exact: f64) -> f64 {
    if exact.abs() > format.largest { exact.signum() * f64::INFINITY } else { exact }
}

fn stored_fault(cases: &[(f64, f64)], stored: &[f64]) -> Option<String> {
    let same = stored.len() == cases.len() && cases.iter().zip(stored).all(|((left, _), stored)| left == stored);
    (!same).then(|| "values change when they are stored".to_owned())
}

fn rounding_fault(what: &str, rounding: Rounding) -> Option<String> {
    (rounding != Rounding::NearestEven).then(|| format!("{what} {rounding}, expected to nearest even"))
}

fn wrong_value((left, sign, right, exact): (&f64, char, &f64, f64), got: Option<&f64>) -> Option<String> {
    let got = *got.unwrap_or(&f64::NAN);
    (got != exact).then(|| format!("{left} {sign} {right} gives {got}, expected {exact}"))
}

fn product_fault(
    precision: Precision,
    format: Format,
    cancelling: &[f64],
    random: &[f64],
    side: usize,
) -> Option<String> {
    let Some(accumulator) = (cancelling.len() == side * side).then(|| facts::accumulator(cancelling)).flatten() else {
        return Some("sums inside a matrix product are neither those of f32 nor of 16 bits".to_owned());
    };
    let product = random_product(format, side);
    let (largest, rel_l2) = product_errors(random, &product);
    let (tolerance, ceiling) = (product_tolerance(format, accumulator, &product), rel_l2_ceiling(precision));
    let within = largest <= tolerance && rel_l2 <= ceiling;
    (!within).then(|| {
        format!(
            "a matrix product of inner length {INNER} is off by {largest:.3e} (allowed {tolerance:.3e}), rel-L2 {rel_l2:.3e} (allowed {ceiling:.0e})"
        )
    })
}

/// The ceiling of the tolerance table: the formula alone allows anything to a 16-bit accumulator.
fn rel_l2_ceiling(precision: Precision) -> f64 {
    match precision {
        Precision::F32 => 3e-5,
        Precision::F16 => 5e-2,
        Precision::Bf16 => 2e-1,
    }
}

/// The largest error and |d| / |ref|; infinite for answers that are missing or not finite.
pub(super) fn product_errors(answers: &[f64], product: &Product) -> (f64, f64) {
    if answers.len() != product.exact.len() || !answers.iter().all(|answer| answer.is_finite()) {
        return (f64::INFINITY, f64::INFINITY);
    }
    let differences = || answers.iter().zip(&product.exact).map(|(answer, exact)| answer - exact);
    let largest = differences().fold(0.0, |largest: f64, difference| largest.max(difference.abs()));
    let norm = |squares: f64| squares.sqrt();
    let reference: f64 = product.exact.iter().map(|exact| exact * exact).sum();
    (largest, norm(differences().map(|difference| difference * difference).sum()) / norm(reference))
}

/// K x epsilon of the accumulator x max|a| x max|b|, and one rounding of the largest result.
pub(super) fn product_tolerance(format: Format, accumulator: Accumulator, product: &Product) -> f64 {
    let epsilon = match accumulator {
        Accumulator::F32 => f64::from(f32::EPSILON),
        Accumulator::SixteenBits => format.epsilon,
    };
    let largest = |values: &[f64]| values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let sums = INNER as f64 * epsilon * largest(&product.left) * largest(&product.right);
    sums + format.epsilon / 2.0 * largest(&product.exact)
}
