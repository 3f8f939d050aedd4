//! `router_golden`: the router's probabilities equal the recorded ones, every token goes to the recorded experts, and with
//! the recorded weights.
//!
//! The choice of experts jumps: a token whose last chosen expert is hardly likelier than the next one may rightly go
//! elsewhere. It is excused by the recorded margin alone, as a token in `greedy_margin`, never by a wider tolerance.

use super::{Examination, Failures, Found, Stop};
use crate::{
    Array,
    compare::{Measured, measure},
    golden::{Golden, Router},
};

/// How many times larger than the error of the probabilities a margin must be, to decide.
const FACTOR: f64 = 4.0;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    if let Some(reason) = inapplicable(&golden) {
        return Err(Stop::Ignored(reason));
    }
    let subject = exam.subject()?;
    let trace = subject.model().forward_traced(&golden.main().inputs)?.trace;
    let tolerance = exam.tolerance(&golden, &subject);
    let mut failures = Failures::default();
    let mut excused = 0;
    for (layer, recorded) in &golden.routers {
        let (probabilities, weights) = (format!("router.{layer}"), format!("routing.{layer}"));
        let of = |name: &str| trace.iter().find(|(found, _)| found == name).map(|(_, array)| array);
        let (Some(likely), Some(weighed)) = (of(&probabilities), of(&weights)) else {
            failures.push(format!("layer {layer} has a router in the golden, and none here"));
            continue;
        };
        let threshold = tolerance.golden(&probabilities);
        failures.note(exam.compare(&probabilities, &recorded.probabilities, likely, threshold));
        let judged = judge(recorded, likely, weighed);
        excused += judged.excused;
        for other in judged.others {
            failures.push(format!("layer {layer}, {other}"));
        }
        let (expected, got) = (by_token(&recorded.weights), by_token(weighed));
        let (expected, got) = (expected.select_rows(&judged.same), got.select_rows(&judged.same));
        failures.note(exam.compare(&weights, &expected, &got, tolerance.golden(&weights)));
    }
    failures.conclude()?;
    Ok((excused > 0).then(|| format!("{excused} tokens go to other experts within their margin")))
}

/// Why a golden cannot show a router.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    golden
        .routers
        .is_empty()
        .then(|| "the golden has no `router.*` and `routing.*`; record it with `testgen record`".to_owned())
}

/// The tokens, by whether they went to the recorded experts.
#[derive(Default)]
struct Judged {
    same: Vec<usize>,
    excused: usize,
    others: Vec<String>,
}

fn judge(recorded: &Router, likely: &Array, weighed: &Array) -> Judged {
    let mut judged = Judged::default();
    let count = recorded.weights.shape().last().copied().unwrap_or(1);
    let rows =
        |array: &Array| array.as_floats().unwrap_or_default().chunks(count).map(<[f32]>::to_vec).collect::<Vec<_>>();
    let parts = [&recorded.probabilities, &recorded.weights, likely, weighed].map(rows);
    for token in 0..parts.iter().map(Vec::len).min().unwrap_or(0) {
        let [expected, wanted, found, got] = [0, 1, 2, 3].map(|part| &parts[part][token]);
        if chosen(wanted) == chosen(got) {
            judged.same.push(token);
            continue;
        }
        let Measured { max_difference: error, .. } = measure(expected, found);
        let margin = margin(expected, wanted);
        if margin < FACTOR * error {
            judged.excused += 1;
        } else {
            let (wanted, got) = (chosen(wanted), chosen(got));
            judged.others.push(format!(
                "token {token}: experts {got:?} instead of {wanted:?}, although the margin {margin:.3e} is at least {FACTOR} \
                 times the error {error:.3e}"
            ));
        }
    }
    judged
}

fn chosen(weights: &[f32]) -> Vec<usize> {
    (0..weights.len()).filter(|expert| weights[*expert] != 0.0).collect()
}

/// Between the least likely expert that was chosen and the likeliest that was not.
fn margin(probabilities: &[f32], weights: &[f32]) -> f64 {
    let of = |wanted: bool| probabilities.iter().zip(weights).filter(move |(_, weight)| (**weight != 0.0) == wanted);
    let least = of(true).map(|(probability, _)| *probability).fold(f32::INFINITY, f32::min);
    let next = of(false).map(|(probability, _)| *probability).fold(f32::NEG_INFINITY, f32::max);
    f64::from(least) - f64::from(next)
}

/// [batch, seq, count] as [tokens, count].
fn by_token(array: &Array) -> Array {
    let shape = array.shape();
    let tokens = shape[..shape.len() - 1].iter().product();
    Array::floats([tokens, shape[shape.len() - 1]], array.as_floats().unwrap_or_default().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(recorded: [f32; 3], found: [f32; 3]) -> Judged {
        let two_likeliest = |probabilities: [f32; 3]| {
            let least = probabilities.iter().copied().fold(f32::INFINITY, f32::min);
            probabilities.map(|probability| if probability == least { 0.0 } else { probability })
        };
        let array = |values: [f32; 3]| Array::floats([1, 1, 3], values.to_vec());
        let recorded = Router { probabilities: array(recorded), weights: array(two_likeliest(recorded)) };
        judge(&recorded, &array(found), &array(two_likeliest(found)))
    }

    #[test]
    fn only_a_margin_below_the_error_excuses_other_experts() {
        assert_eq!(judged([0.5, 0.3, 0.2], [0.5, 0.29, 0.21]).same, [0]);
        let close = judged([0.5, 0.26, 0.24], [0.5, 0.24, 0.26]);
        assert!(close.same.is_empty() && close.excused == 1 && close.others.is_empty());
        let far = judged([0.7, 0.28, 0.02], [0.71, 0.14, 0.15]);
        assert!(far.excused == 1, "the error is as large as the margin");
    }

    #[test]
    fn another_choice_from_the_same_probabilities_is_none_to_excuse() {
        let array = |values: [f32; 3]| Array::floats([1, 1, 3], values.to_vec());
        let recorded = Router { probabilities: array([0.5, 0.3, 0.2]), weights: array([0.5, 0.3, 0.0]) };
        let found = judge(&recorded, &array([0.5, 0.3, 0.2]), &array([0.5, 0.0, 0.2]));
        assert_eq!(found.others.len(), 1);
        assert!(found.others[0].contains("[0, 2] instead of [0, 1]"), "{:?}", found.others);
    }
}
