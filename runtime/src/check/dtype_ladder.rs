//! `dtype_ladder`: error(f32) < error(f16) < error(bf16), each within its tolerance and within twice the reference's own.
//!
//! The errors are those of the whole outputs against the recorded f32 ones, the largest over all cases. The reference's own
//! error is that against float64, and the recorded f32 outputs have it, too: who is within twice of it from the exact
//! values is within three times of it from the recorded ones. In f16 and bf16 that difference does not show.
//!
//! Ours and the reference's are each one draw of rounding errors: over a few elements their ratio says nothing (measured:
//! 2.1 on 6 and on 10 logits whose hidden states agree to 1.1), so an output below [`FEW`] elements is held to its tolerance
//! alone.

use super::{Examination, Failures, Found, Stop, examination::Subject};
use crate::{ForwardError, compare::measure, golden::Golden};
use std::collections::BTreeMap;
use testgen_contract::Precision;

/// How many times the reference's own error a type may have.
const FACTOR: f64 = 2.0;
/// Elements below which an output is too small to compare two draws of its error.
const FEW: usize = 64;

/// What one type gave for one output.
#[derive(Debug, Clone, PartialEq)]
struct Rung {
    precision: Precision,
    rel_l2: f64,
    /// The reference's own error in this type.
    noise: Option<f64>,
    /// How far the recorded outputs may be from the exact ones: the reference's own error in f32.
    recorded: f64,
    /// The elements of the largest case.
    elements: usize,
    /// Products may have the mantissa of the next rung.
    tf32: bool,
}

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let mut failures = Failures::default();
    let mut ladders: BTreeMap<String, Vec<Rung>> = BTreeMap::new();
    let mut notes = Vec::new();
    for &precision in exam.spec().precisions {
        let subject = match exam.subject_in(precision) {
            Ok(subject) => subject,
            Err(Stop::Ignored(reason)) if precision != exam.registration.precision && !ladders.is_empty() => {
                notes.push(format!("without {precision}: {reason}"));
                continue;
            }
            Err(stop) => return Err(stop),
        };
        climb(exam, &subject, &golden, &mut ladders, &mut failures)?;
    }
    for (name, mut rungs) in ladders {
        rungs.sort_by_key(|rung| rung.precision);
        if rungs.len() < 2 {
            return Err(Stop::Ignored(format!("one precision is no ladder; {}", notes.join("; "))));
        }
        judge(&name, &rungs).into_iter().for_each(|failure| failures.push(failure));
        let errors: Vec<String> = rungs.iter().map(|rung| format!("{} {:.2e}", rung.precision, rung.rel_l2)).collect();
        notes.push(format!("{name}: {}", errors.join(", ")));
    }
    failures.conclude()?;
    Ok(Some(notes.join("; ")))
}

/// The errors of one type, each held to its tolerance.
fn climb(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    ladders: &mut BTreeMap<String, Vec<Rung>>,
    failures: &mut Failures,
) -> Result<(), ForwardError> {
    let tolerance = exam.tolerance(golden, subject);
    let precision = subject.precision();
    let mut largest: BTreeMap<&String, (f64, usize)> = BTreeMap::new();
    for case in &golden.cases {
        let forward = subject.model().forward(&case.inputs)?;
        for (name, expected) in &case.outputs {
            let told = format!("{} in {precision}", case.tell(name));
            let Some(got) = forward.outputs.get(name) else {
                failures.push(format!("`{told}` was not computed"));
                continue;
            };
            failures.note(exam.compare(&told, expected, got, tolerance.golden(name)));
            if let (Some(expected), Some(got)) = (expected.as_floats(), got.as_floats()) {
                let (error, elements) = largest.entry(name).or_default();
                *error = error.max(measure(expected, got).rel_l2);
                *elements = expected.len().max(*elements);
            }
        }
    }
    for (name, (rel_l2, elements)) in largest {
        let [noise, recorded] = [tolerance.noise(name), golden.noise.of(Precision::F32, name)]
            .map(|measures| measures.map(|[rel_l2, _]| rel_l2));
        let recorded = recorded.unwrap_or(0.0);
        let tf32 = subject.endpoint().tf32() && precision == Precision::F32;
        let rung = Rung { precision, rel_l2, noise, recorded, elements, tf32 };
        ladders.entry(name.clone()).or_default().push(rung);
    }
    Ok(())
}

/// What is wrong with the rungs of one output, ordered by precision.
fn judge(name: &str, rungs: &[Rung]) -> Vec<String> {
    let order = rungs.windows(2).filter_map(|pair| {
        let (fine, coarse) = (&pair[0], &pair[1]);
        // TF32 has the mantissa of f16: nothing says which of the two is closer.
        let comparable = !(fine.tf32 && coarse.precision == Precision::F16);
        let wrong = comparable && fine.rel_l2.partial_cmp(&coarse.rel_l2) != Some(std::cmp::Ordering::Less);
        // What every type computes exactly, such as a unit that is switched off, has no ladder.
        let exact = fine.rel_l2 == 0.0 && coarse.rel_l2 == 0.0;
        (wrong && !exact).then(|| {
            let (fine_name, coarse_name) = (fine.precision, coarse.precision);
            format!(
                "`{name}`: the error in {fine_name} is {:.3e}, not below {:.3e} in {coarse_name}",
                fine.rel_l2, coarse.rel_l2
            )
        })
    });
    let own = rungs.iter().filter_map(|rung| {
        let noise = rung.noise.filter(|noise| *noise > 0.0 && rung.elements >= FEW)?;
        let within = rung.rel_l2 <= FACTOR * noise + rung.recorded;
        (!within).then(|| {
            let Rung { precision, rel_l2, recorded, .. } = rung;
            format!(
                "`{name}`: the error in {precision} is {rel_l2:.3e}, over twice the reference's own {noise:.3e} and the \
                 {recorded:.3e} of what was recorded in f32"
            )
        })
    });
    order.chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rung(precision: Precision, rel_l2: f64, noise: f64) -> Rung {
        Rung { precision, rel_l2, noise: Some(noise), recorded: 0.0, elements: FEW, tf32: false }
    }

    #[test]
    fn the_order_is_strict() {
        let ladder = |f32, f16, bf16| {
            [rung(Precision::F32, f32, 1.0), rung(Precision::F16, f16, 1.0), rung(Precision::Bf16, bf16, 1.0)]
        };
        assert!(judge("y", &ladder(1e-7, 1e-3, 1e-2)).is_empty());
        assert!(judge("y", &ladder(1e-7, 1e-2, 1e-3))[0].contains("f16"));
        assert!(judge("y", &ladder(1e-3, 1e-3, 1e-2))[0].contains("f32"));
        assert!(judge("y", &ladder(0.0, 0.0, 0.0)).is_empty());
        assert_eq!(judge("y", &ladder(f64::NAN, 1e-3, 1e-2)).len(), 2);
    }

    #[test]
    fn twice_the_noise_of_the_reference_is_allowed() {
        let ladder = |bf16| [rung(Precision::F16, 2e-3, 1e-3), rung(Precision::Bf16, bf16, 1e-2)];
        assert!(judge("y", &ladder(2e-2)).is_empty());
        assert!(judge("y", &ladder(2.1e-2))[0].contains("twice"));
        assert!(judge("y", &ladder(2.1e-2).map(|rung| Rung { elements: FEW - 1, ..rung })).is_empty());
    }

    #[test]
    fn recorded_outputs_have_an_error_of_their_own() {
        let ladder = |f32| {
            let fine = Rung { recorded: 1.5e-7, ..rung(Precision::F32, f32, 1.5e-7) };
            [fine, Rung { recorded: 1.5e-7, ..rung(Precision::F16, 1e-3, 1e-3) }]
        };
        assert!(judge("y", &ladder(4.4e-7)).is_empty());
        assert!(judge("y", &ladder(4.6e-7))[0].contains("recorded in f32"));
    }

    #[test]
    fn tf32_need_not_be_finer_than_f16() {
        let tf32 =
            Rung { precision: Precision::F32, rel_l2: 2e-3, noise: None, recorded: 0.0, elements: FEW, tf32: true };
        let f16 = rung(Precision::F16, 1e-3, 1e-3);
        assert!(judge("y", &[tf32.clone(), f16]).is_empty());
        assert_eq!(judge("y", &[tf32, rung(Precision::Bf16, 1e-3, 1e-3)]).len(), 1);
    }
}
