//! `dtype_ladder`: error(f32) < error(f16) < error(bf16), each within its tolerance and within twice the error of the reference.
//! The error of tf32, whose products have the mantissa of f16, is between those of f32 and bf16.
//!
//! The errors are those of whole outputs against the recorded f32 ones, the largest over all cases. The error of the reference
//! is measured against float64, and the recorded f32 outputs contain it as well: a result within twice that error of the exact
//! values is within three times of the recorded ones. In f16 and bf16 the difference is negligible.
//!
//! Both errors are single samples of rounding. Over a few elements their ratio says nothing (measured: 2.1 on 6 and on 10
//! logits of models whose hidden states agree to 1.1), so outputs below [`FEW`] elements are only held to their tolerance.

use super::{
    check_run::{CheckRun, ModelUnderTest},
    outcome::{Abort, CheckResult, Failures},
    outputs_by_position::defined,
};
use crate::{compare::measure, golden::Golden};
use std::{cmp::Ordering, collections::BTreeMap};
use testgen_nn::forward::ForwardError;
use testgen_types::Precision;

/// How many times the error of the reference is allowed.
const FACTOR: f64 = 2.0;
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

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let mut failures = Failures::default();
    let mut ladders = Ladders::new();
    let mut summary = Vec::new();
    let device = run.registration.device;
    for &precision in run.spec().precisions.iter().filter(|precision| precision.applies_on(device)) {
        let tested = match run.model_under_test_in(precision) {
            Ok(tested) => tested,
            // The device may lack one of the half precisions; the ladder of the others is still worth checking.
            Err(Abort::Skip(reason)) if precision != run.registration.precision && !ladders.is_empty() => {
                summary.push(format!("without {precision}: {reason}"));
                continue;
            }
            Err(abort) => return Err(abort),
        };
        measure_step(run, &tested, &golden, &mut ladders, &mut failures)?;
    }
    for (name, mut steps) in ladders {
        // A spec may list its precisions in any order; `out_of_order` needs the finest first.
        steps.sort_by_key(|step| step.precision);
        if steps.len() < 2 {
            return Err(Abort::Skip(format!("there is only one precision to compare; {}", summary.join("; "))));
        }
        failures.extend(evaluate(&name, &steps));
        let errors: Vec<String> = steps.iter().map(|step| format!("{} {:.2e}", step.precision, step.rel_l2)).collect();
        summary.push(format!("{name}: {}", errors.join(", ")));
    }
    failures.conclude()?;
    Ok(Some(summary.join("; ")))
}

/// Measures the errors in one precision, and compares each output with its tolerance.
fn measure_step(
    run: &mut CheckRun<'_>,
    tested: &ModelUnderTest,
    golden: &Golden,
    ladders: &mut Ladders,
    failures: &mut Failures,
) -> Result<(), ForwardError> {
    let tolerance = run.tolerance(golden, tested);
    let precision = tested.precision();
    let mut largest: BTreeMap<&String, Largest> = BTreeMap::new();
    for case in &golden.cases {
        let forward = tested.model().forward(&case.inputs)?;
        for (name, expected) in &case.outputs {
            let label = format!("{} in {precision}", case.qualified(name));
            let Some(got) = forward.outputs.get(name) else {
                failures.push(format!("`{label}` was not computed"));
                continue;
            };
            failures.extend(run.compare_recorded(&label, &case.inputs, [expected, got], tolerance.golden(name)));
            let without_padding = defined(&case.inputs, expected, got);
            let [expected, got] = without_padding.as_ref().map_or([expected, got], |[expected, got]| [expected, got]);
            if let (Some(expected), Some(got)) = (expected.as_floats(), got.as_floats()) {
                let output = largest.entry(name).or_default();
                output.rel_l2 = output.rel_l2.max(measure(expected, got).rel_l2);
                output.elements = output.elements.max(expected.len());
            }
        }
    }
    for (name, Largest { rel_l2, elements }) in largest {
        let step = PrecisionStep {
            precision,
            rel_l2,
            noise: tolerance.noise(name).map(|noise| noise.rel_l2),
            recorded: golden.noise.of(Precision::F32, name).map_or(0.0, |noise| noise.rel_l2),
            elements,
            tf32: precision == Precision::Tf32 || (tested.endpoint().tf32() && precision == Precision::F32),
        };
        ladders.entry(name.clone()).or_default().push(step);
    }
    Ok(())
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
    order.chain(steps.iter().filter_map(|step| above_reference(name, step))).collect()
}

/// The pairs of a finer and a coarser step without a third step between them.
fn neighbours(steps: &[PrecisionStep]) -> impl Iterator<Item = (&PrecisionStep, &PrecisionStep)> {
    steps.iter().enumerate().flat_map(|(index, fine)| {
        let coarser = &steps[index + 1..];
        let between = move |coarse: &PrecisionStep| {
            coarser.iter().any(|step| fine.is_finer_than(step) && step.is_finer_than(coarse))
        };
        coarser
            .iter()
            .filter(move |coarse| fine.is_finer_than(coarse) && !between(coarse))
            .map(move |coarse| (fine, coarse))
    })
}

impl PrecisionStep {
    fn is_finer_than(&self, other: &Self) -> bool {
        // TF32 has the mantissa of f16, so either can be closer. Where f32 is TF32 by request, both are the same.
        let same_mantissa = self.tf32 && (other.tf32 || other.precision == Precision::F16);
        self.precision < other.precision && !same_mantissa
    }
}

fn out_of_order(name: &str, fine: &PrecisionStep, coarse: &PrecisionStep) -> Option<String> {
    // `partial_cmp`, so that NaN is out of order.
    let wrong = fine.rel_l2.partial_cmp(&coarse.rel_l2) != Some(Ordering::Less);
    // An output that every precision computes exactly, such as that of a disabled unit, has no order.
    let exact = fine.rel_l2 == 0.0 && coarse.rel_l2 == 0.0;
    (wrong && !exact).then(|| {
        format!(
            "`{name}`: the error in {} is {:.3e}, not below {:.3e} in {}",
            fine.precision, fine.rel_l2, coarse.rel_l2, coarse.precision
        )
    })
}

fn above_reference(name: &str, step: &PrecisionStep) -> Option<String> {
    let PrecisionStep { precision, rel_l2, recorded, .. } = step;
    let noise = step.noise.filter(|noise| *noise > 0.0 && step.elements >= FEW)?;
    let within = *rel_l2 <= FACTOR * noise + recorded;
    (!within).then(|| {
        format!(
            "`{name}`: the error in {precision} is {rel_l2:.3e}, more than twice the reference's own {noise:.3e} plus the \
             {recorded:.3e} of the recorded f32 outputs"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(precision: Precision, rel_l2: f64, noise: f64) -> PrecisionStep {
        PrecisionStep { precision, rel_l2, noise: Some(noise), recorded: 0.0, elements: FEW, tf32: false }
    }

    #[test]
    fn the_order_is_strict() {
        let ladder = |f32, f16, bf16| {
            [step(Precision::F32, f32, 1.0), step(Precision::F16, f16, 1.0), step(Precision::Bf16, bf16, 1.0)]
        };
        assert!(evaluate("y", &ladder(1e-7, 1e-3, 1e-2)).is_empty());
        assert!(evaluate("y", &ladder(1e-7, 1e-2, 1e-3))[0].contains("f16"));
        assert!(evaluate("y", &ladder(1e-3, 1e-3, 1e-2))[0].contains("f32"));
        assert!(evaluate("y", &ladder(0.0, 0.0, 0.0)).is_empty());
        assert_eq!(evaluate("y", &ladder(f64::NAN, 1e-3, 1e-2)).len(), 2);
    }

    #[test]
    fn twice_the_noise_of_the_reference_is_allowed() {
        let ladder = |bf16| [step(Precision::F16, 2e-3, 1e-3), step(Precision::Bf16, bf16, 1e-2)];
        assert!(evaluate("y", &ladder(2e-2)).is_empty());
        assert!(evaluate("y", &ladder(2.1e-2))[0].contains("twice"));
        assert!(evaluate("y", &ladder(2.1e-2).map(|step| PrecisionStep { elements: FEW - 1, ..step })).is_empty());
    }

    #[test]
    fn the_error_of_recorded_outputs_is_added() {
        let ladder = |f32| {
            let fine = PrecisionStep { recorded: 1.5e-7, ..step(Precision::F32, f32, 1.5e-7) };
            [fine, PrecisionStep { recorded: 1.5e-7, ..step(Precision::F16, 1e-3, 1e-3) }]
        };
        assert!(evaluate("y", &ladder(4.4e-7)).is_empty());
        assert!(evaluate("y", &ladder(4.6e-7))[0].contains("recorded f32 outputs"));
    }

    #[test]
    fn tf32_need_not_be_finer_than_f16() {
        let tf32 = PrecisionStep {
            precision: Precision::F32,
            rel_l2: 2e-3,
            noise: None,
            recorded: 0.0,
            elements: FEW,
            tf32: true,
        };
        let f16 = step(Precision::F16, 1e-3, 1e-3);
        assert!(evaluate("y", &[tf32.clone(), f16]).is_empty());
        assert_eq!(evaluate("y", &[tf32, step(Precision::Bf16, 1e-3, 1e-3)]).len(), 1);
    }

    #[test]
    fn f32_that_is_tf32_has_no_order_with_it() {
        let tf32 = |precision, rel_l2| PrecisionStep { tf32: true, ..step(precision, rel_l2, 1.0) };
        let ladder = |bf16| [tf32(Precision::F32, 1e-3), tf32(Precision::Tf32, 1e-3), step(Precision::Bf16, bf16, 1.0)];
        assert!(evaluate("y", &ladder(1e-2)).is_empty());
        assert_eq!(evaluate("y", &ladder(1e-4)).len(), 2);
    }

    #[test]
    fn tf32_is_between_f32_and_bf16() {
        let ladder = |f32, tf32, f16, bf16| {
            let tf32 = PrecisionStep { tf32: true, ..step(Precision::Tf32, tf32, 1.0) };
            [step(Precision::F32, f32, 1.0), tf32, step(Precision::F16, f16, 1.0), step(Precision::Bf16, bf16, 1.0)]
        };
        assert!(evaluate("y", &ladder(1e-7, 2e-3, 1e-3, 1e-2)).is_empty());
        assert!(evaluate("y", &ladder(1e-7, 1e-8, 1e-3, 1e-2))[0].contains("not below 1.000e-8 in tf32"));
        assert!(evaluate("y", &ladder(1e-7, 2e-2, 1e-3, 1e-2))[0].contains("the error in tf32"));
        assert!(evaluate("y", &ladder(2e-3, 3e-3, 1e-3, 1e-2))[0].contains("not below 1.000e-3 in f16"));
    }
}
