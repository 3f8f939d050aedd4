//! Evaluation of a device's answers. Pure: the result depends on the answers only.

mod facts;
mod faults;

pub use facts::{Accumulator, Denormals, Rounding};

use super::cases::FloatFormat;
use super::fingerprint::matrix_unit;
use super::{
    measure::{Measurement, Tf32Measurement},
    question::ProbedValues,
};
use faults::ProductError;
use serde::Serialize;
use std::fmt;
use testgen_types::{MatrixUnit, Precision};

/// A device's support of a 16-bit type, or of TF32.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HalfSupport {
    /// It cannot store values of the type, and the backend does not claim support.
    Unsupported {
        /// The backend's message.
        why: String,
    },
    /// It stores values and cannot compute with them, and the backend does not claim support.
    StorageOnly {
        /// The backend's message.
        why: String,
    },
    /// Every answer is one that the arithmetic and the accumulator allow.
    Correct,
    /// It computes, or the backend claims support, and some answers are wrong or missing.
    Wrong {
        /// The wrong answers, each with the expected one.
        what: String,
    },
}

impl HalfSupport {
    /// Whether the device cannot compute in the type at all.
    pub(crate) fn is_absent(&self) -> bool {
        // Wrong results are not an absence: they must be seen.
        matches!(self, Self::Unsupported { .. } | Self::StorageOnly { .. })
    }
}

/// The result for one 16-bit type, or for TF32, with the measured facts. A fact is `None` where its
/// cases have no answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrecisionProbe {
    /// The type.
    pub precision: Precision,
    /// The conclusion.
    pub support: HalfSupport,
    /// The type of the accumulator of a matrix product.
    pub accumulator: Option<Accumulator>,
    /// The treatment of subnormal numbers. Flushing them is not a fault: the tolerances allow for
    /// it.
    pub denormals: Option<Denormals>,
    /// The rounding of a sum of two numbers.
    pub rounding: Option<Rounding>,
    /// The rounding of a cast from f32.
    pub cast_rounding: Option<Rounding>,
    /// The largest error of a matrix product of inner length 512.
    pub product_error: Option<f64>,
    /// The largest error that is allowed there: inner length x epsilon of the accumulator x max|a|
    /// x max|b|, and one rounding of the largest result.
    pub product_tolerance: Option<f64>,
    /// |d| / |ref| over that product.
    pub product_rel_l2: Option<f64>,
    /// The features of the unit that computes products. No value of it is a fault.
    pub matrix_unit: Option<MatrixUnit>,
}

/// Evaluates the answers to the cases of `precision`.
pub(super) fn classify(precision: Precision, measured: &Measurement) -> PrecisionProbe {
    let format = FloatFormat::for_precision(precision);
    let accumulator = accumulator(&measured.cancelling, measured.side);
    // The allowed error of this product depends on the accumulator.
    let random = accumulator.zip(measured.random.as_ref().ok());
    let error = random.map(|(accumulator, answers)| {
        ProductError::new(format, accumulator, answers, measured.side)
    });
    PrecisionProbe {
        precision,
        support: support(precision, measured, error),
        accumulator,
        denormals: measured
            .products
            .as_ref()
            .ok()
            .and_then(|answers| facts::denormals(format, answers)),
        rounding: measured
            .sums
            .as_ref()
            .ok()
            .map(|answers| facts::rounding(format, answers)),
        cast_rounding: measured
            .casts
            .as_ref()
            .ok()
            .map(|answers| facts::rounding(format, answers)),
        product_error: error.map(|error| error.largest),
        product_tolerance: error.map(|error| error.tolerance),
        product_rel_l2: error.map(|error| error.rel_l2),
        matrix_unit: unit(precision, &measured.fingerprint, measured.side),
    }
}

/// Evaluates the answers to the products of TF32.
pub(super) fn classify_tf32(measured: &Tf32Measurement) -> PrecisionProbe {
    let Tf32Measurement {
        products: [cancelling, random],
        fingerprint,
        side,
        tf32_loses,
        f32_loses,
        ..
    } = measured;
    let accumulator = accumulator(cancelling, *side);
    let random_error = accumulator.zip(random.as_ref().ok());
    let format = FloatFormat::for_precision(Precision::Tf32);
    let error = random_error
        .map(|(accumulator, answers)| ProductError::new(format, accumulator, answers, *side));
    let failed = [cancelling, random]
        .into_iter()
        .find_map(|answers| answers.as_ref().err());
    let failed = failed
        .or(tf32_loses.as_ref().err())
        .or(f32_loses.as_ref().err());
    let support = match failed {
        Some(why) => fails("matrix products", why),
        None => correct_unless(faults::of_tf32(measured, accumulator, error)),
    };
    PrecisionProbe {
        accumulator,
        product_error: error.map(|error| error.largest),
        product_tolerance: error.map(|error| error.tolerance),
        product_rel_l2: error.map(|error| error.rel_l2),
        matrix_unit: unit(Precision::Tf32, fingerprint, *side),
        ..PrecisionProbe::without_facts(Precision::Tf32, support)
    }
}

/// The accumulator, if the device returned every element of the product.
fn accumulator(cancelling: &ProbedValues, side: usize) -> Option<Accumulator> {
    cancelling
        .as_ref()
        .ok()
        .filter(|answers| answers.len() == side * side)
        .and_then(|answers| facts::accumulator(answers))
}

/// The features of the matrix unit, if the device has an answer to its product.
fn unit(precision: Precision, answers: &ProbedValues, side: usize) -> Option<MatrixUnit> {
    answers
        .as_ref()
        .ok()
        .and_then(|answers| matrix_unit(precision, answers, side))
}

fn correct_unless(faults: Vec<String>) -> HalfSupport {
    if faults.is_empty() {
        HalfSupport::Correct
    } else {
        HalfSupport::Wrong {
            what: faults.join(", "),
        }
    }
}

impl PrecisionProbe {
    /// A conclusion from which nothing was measured.
    pub(crate) fn without_facts(precision: Precision, support: HalfSupport) -> Self {
        Self {
            precision,
            support,
            accumulator: None,
            denormals: None,
            rounding: None,
            cast_rounding: None,
            product_error: None,
            product_tolerance: None,
            product_rel_l2: None,
            matrix_unit: None,
        }
    }
}

fn support(
    precision: Precision,
    measured: &Measurement,
    error: Option<ProductError>,
) -> HalfSupport {
    // First, because without stored values no other answer means anything.
    if let Err(why) = &measured.stored {
        return match measured.claimed {
            true => fails("transfers", why),
            false => HalfSupport::Unsupported {
                why: first_line(why),
            },
        };
    }
    let elements = [
        ("sums", &measured.sums),
        ("products", &measured.products),
        ("casts from f32", &measured.casts),
    ];
    let failed = elements
        .iter()
        .find_map(|(name, answers)| Some((name, answers.as_ref().err()?)));
    if let Some((name, why)) = failed {
        // A backend that claims the type and fails has a fault; one that does not claim it lacks
        // the type.
        return match measured.claimed {
            true => fails(name, why),
            false => HalfSupport::StorageOnly {
                why: format!("{name}: {}", first_line(why)),
            },
        };
    }
    // Not storage only: a backend with elementwise operations also has matrix products.
    if let Some(why) = [&measured.cancelling, &measured.random]
        .into_iter()
        .find_map(|answers| answers.as_ref().err())
    {
        return fails("matrix products", why);
    }
    correct_unless(faults::all(precision, measured, error))
}

/// A fault of the device, not missing support of the type.
fn fails(name: &str, message: &str) -> HalfSupport {
    let message: String = message
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        // More than the first line: a backend's message ends with the cause.
        .take(600)
        .collect();
    HalfSupport::Wrong {
        what: format!("{name} fail: {message}"),
    }
}

fn first_line(message: &str) -> String {
    let line = message
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("no message");
    line.chars().take(300).collect()
}

impl fmt::Display for HalfSupport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { why } => write!(f, "unsupported ({why})"),
            Self::StorageOnly { why } => write!(f, "storage only ({why})"),
            Self::Correct => f.write_str("correct"),
            Self::Wrong { what } => write!(f, "wrong ({what})"),
        }
    }
}

impl fmt::Display for PrecisionProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.precision, self.support)?;
        self.accumulator
            .iter()
            .try_for_each(|accumulator| write!(f, ", accumulates in {accumulator}"))?;
        self.denormals
            .iter()
            .try_for_each(|denormals| write!(f, ", denormals {denormals}"))?;
        self.rounding
            .iter()
            .try_for_each(|rounding| write!(f, ", rounds {rounding}"))?;
        if let (Some(error), Some(tolerance)) = (self.product_error, self.product_tolerance) {
            write!(f, ", product error {error:.2e} of {tolerance:.2e}")?;
        }
        self.matrix_unit
            .iter()
            .try_for_each(|unit| write!(f, "; matrix unit: {unit}"))
    }
}

#[cfg(test)]
mod tests;
