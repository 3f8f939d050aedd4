//! `dtype_ladder`: error(f32) < error(f16) < error(bf16), each within its tolerance and within
//! twice the error of the reference, in 16 bits three times. The error of tf32, whose products have
//! the mantissa of f16, is between the errors of f32 and bf16, or equal to the error of f32 where no
//! product was computed in it.
//!
//! The errors are measured on whole outputs against the recorded f32 ones, the largest over all
//! cases. The error of the reference is measured against float64, and the recorded f32 outputs
//! contain it as well: a result within twice that error of the exact values is within three times
//! of the recorded ones. In f16 and bf16 the difference is negligible.
//!
//! Both errors are single samples of rounding. Over a few elements their ratio says nothing
//! (measured: 2.1 on 6 and on 10 logits of models whose hidden states agree to 1.1), so outputs
//! below [`FEW`] elements are only held to their tolerance.

use super::run::{Abort, CheckResult, CheckRun, Failures, SubjectUnderTest};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::{compare::measure, golden::Golden};
use std::{cmp::Ordering, collections::BTreeMap};
use testgen_nn::forward::ForwardError;
use testgen_types::Precision;

/// How many times the error of the reference is allowed in f32 and tf32.
// Measured (docs/measurements/noise.md): of 3,575 correct models none has an error in f32 above 1.9
// times the largest sample, and f32 shows all faults that only this limit does.
const FACTOR: f64 = 2.0;
/// How many times the error of the reference is allowed in 16 bits.
// An implementation that rounds between more operations has up to 1.7 times the error of the
// reference, and another sample may be as much above the recorded ones. At most one of the 3,575
// models has an error above three times, with any implementation; up to 36 are above twice.
const FACTOR_IN_16_BITS: f64 = 3.0;
/// Elements below which an output is too small to compare two samples of its error.
const FEW: usize = 64;

/// The error of one output in one precision.
#[derive(Debug, Clone, PartialEq)]
struct PrecisionStep {
    precision: Precision,
    rel_l2: f64,
    /// The error of the reference in this precision.
    noise: Option<f64>,
    /// The error of the recorded outputs, which are f32.
    recorded: f64,
    /// The elements of the largest case.
    elements: usize,
    /// Whether products are computed with the mantissa of f16.
    tf32: bool,
}

/// The steps of each output.
type Ladders = BTreeMap<String, Vec<PrecisionStep>>;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::HalfPrecisionAsSingle,
    "f32 has the mantissa of f16",
    "in f32`",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let mut failures = Failures::default();
    let mut ladders = Ladders::new();
    let mut summary = Vec::new();
    let device = run.registration.device;
    for &precision in run
        .spec()
        .precisions
        .iter()
        .filter(|precision| precision.applies_on(device))
    {
        let tested = match run.subject_under_test_in(precision) {
            Ok(tested) => tested,
            // The device may lack one of the half precisions; the ladder of the others is still
            // worth checking.
            Err(Abort::Skip(reason))
                if precision != run.registration.precision && !ladders.is_empty() =>
            {
                summary.push(format!("without {precision}: {reason}"));
                continue;
            }
            Err(abort) => return Err(abort),
        };
        measure_step(run, &tested, &golden, &mut ladders, &mut failures)?;
    }
    let mut compared = 0;
    for (name, mut steps) in ladders {
        // A spec may list its precisions in any order; `out_of_order` needs the finest first.
        steps.sort_by_key(|step| step.precision);
        // A single step has no order; its error was compared with its tolerance.
        if steps.len() < 2 {
            continue;
        }
        compared += 1;
        failures.extend(evaluate(&name, &steps));
        let errors: Vec<String> = steps
            .iter()
            .map(|step| format!("{} {:.2e}", step.precision, step.rel_l2))
            .collect();
        summary.push(format!("{name}: {}", errors.join(", ")));
    }
    failures.conclude()?;
    if compared == 0 {
        return Err(Abort::Skip(format!(
            "there is only one precision to compare; {}",
            summary.join("; ")
        )));
    }
    Ok(Some(summary.join("; ")))
}

/// Measures the errors in one precision, and compares each output with its tolerance.
fn measure_step(
    run: &mut CheckRun<'_>,
    tested: &SubjectUnderTest,
    golden: &Golden,
    ladders: &mut Ladders,
    failures: &mut Failures,
) -> Result<(), ForwardError> {
    let tolerance = run.tolerance(golden, tested);
    let precision = tested.precision();
    let largest = largest_errors(run, tested, golden, failures)?;
    let decided = largest
        .into_iter()
        // An output whose reference overflows has no error that could be ordered.
        .filter(|(name, _)| !run.undecided.contains(*name));
    for (name, Largest { rel_l2, elements }) in decided {
        let step = PrecisionStep {
            precision,
            rel_l2,
            noise: tolerance.noise(name).map(|noise| noise.rel_l2),
            recorded: golden
                .noise
                .level(Precision::F32, name)
                .map_or(0.0, |noise| noise.rel_l2),
            elements,
            tf32: precision == Precision::Tf32
                || (tested.endpoint().tf32() && precision == Precision::F32),
        };
        ladders.entry(name.clone()).or_default().push(step);
    }
    Ok(())
}

/// The largest error of each output that was computed.
fn largest_errors<'g>(
    run: &mut CheckRun<'_>,
    tested: &SubjectUnderTest,
    golden: &'g Golden,
    failures: &mut Failures,
) -> Result<BTreeMap<&'g String, Largest>, ForwardError> {
    let tolerance = run.tolerance(golden, tested);
    let mut largest: BTreeMap<&String, Largest> = BTreeMap::new();
    for case in &golden.cases {
        let forward = tested.model().forward(&case.inputs)?;
        for (name, expected) in &case.outputs {
            let label = format!("{} in {}", case.qualified(name), tested.precision());
            let Some(got) = forward.outputs.get(name) else {
                failures.push(format!("`{label}` was not computed"));
                continue;
            };
            failures.extend(run.compare_recorded(
                &label,
                &case.inputs,
                (expected, got),
                (tolerance, name),
            ));
            // Only elements that the reference decides: an arbitrary value at padding would be the
            // largest error.
            let Some([expected, got]) = run.comparable(&case.inputs, expected, got) else {
                continue;
            };
            if let (Some(expected), Some(got)) = (expected.as_floats(), got.as_floats()) {
                let output = largest.entry(name).or_default();
                output.rel_l2 = output.rel_l2.max(measure(expected, got).rel_l2);
                output.elements = output.elements.max(expected.len());
            }
        }
    }
    Ok(largest)
}

/// The largest error and size of an output over all cases.
#[derive(Default)]
struct Largest {
    rel_l2: f64,
    elements: usize,
}

/// The failures of one output, whose steps are ordered by precision.
fn evaluate(name: &str, steps: &[PrecisionStep]) -> Vec<String> {
    let order = neighbours(steps).filter_map(|(fine, coarse)| out_of_order(name, fine, coarse));
    order
        .chain(steps.iter().filter_map(|step| above_reference(name, step)))
        .collect()
}

/// The pairs of a finer and a coarser step without a third step between them.
fn neighbours(steps: &[PrecisionStep]) -> impl Iterator<Item = (&PrecisionStep, &PrecisionStep)> {
    steps.iter().enumerate().flat_map(|(index, fine)| {
        let coarser = &steps[index + 1..];
        coarser
            .iter()
            .filter(move |coarse| {
                fine.is_finer_than(coarse)
                    && !coarser
                        .iter()
                        .any(|step| fine.is_finer_than(step) && step.is_finer_than(coarse))
            })
            .map(move |coarse| (fine, coarse))
    })
}

impl PrecisionStep {
    fn is_finer_than(&self, other: &Self) -> bool {
        // TF32 has the mantissa of f16, so either can be closer. Where f32 is TF32 by request, both
        // are the same.
        let same_mantissa = self.tf32 && (other.tf32 || other.precision == Precision::F16);
        self.precision < other.precision && !same_mantissa
    }
}

fn out_of_order(name: &str, fine: &PrecisionStep, coarse: &PrecisionStep) -> Option<String> {
    // `partial_cmp`, so that NaN is out of order.
    let wrong = fine.rel_l2.partial_cmp(&coarse.rel_l2) != Some(Ordering::Less);
    // An output that every precision computes exactly, such as the output of a disabled unit, has
    // no order.
    let exact = fine.rel_l2 == 0.0 && coarse.rel_l2 == 0.0;
    // TF32 is permitted, not required: an output whose products are too small for matrix units, or
    // that needs none, is the same in f32. An f32 that is TF32 exceeds the error of the reference.
    let same = !fine.tf32 && coarse.tf32 && fine.rel_l2 == coarse.rel_l2;
    (wrong && !exact && !same).then(|| {
        format!(
            "`{name}`: the error in {} is {:.3e}, not below {:.3e} in {}",
            fine.precision, fine.rel_l2, coarse.rel_l2, coarse.precision
        )
    })
}

fn above_reference(name: &str, step: &PrecisionStep) -> Option<String> {
    let PrecisionStep {
        precision,
        rel_l2,
        recorded,
        ..
    } = step;
    let noise = step
        .noise
        .filter(|noise| *noise > 0.0 && step.elements >= FEW)?;
    let factor = match precision {
        Precision::F16 | Precision::Bf16 => FACTOR_IN_16_BITS,
        Precision::F32 | Precision::Tf32 => FACTOR,
    };
    // Written so that a NaN error is not within.
    let within = *rel_l2 <= factor * noise + recorded;
    (!within).then(|| {
        format!(
            "`{name}`: the error in {precision} is {rel_l2:.3e}, more than {factor} times the reference's own {noise:.3e} plus \
             the {recorded:.3e} of the recorded f32 outputs"
        )
    })
}

#[cfg(test)]
mod tests;
