//! `greedy_margin`: greedy tokens equal the recorded ones, or differ only where the recorded margin is below the error.
//!
//! The recorded tokens are read step by step with the cache, whatever the model would have chosen, so that every step has a
//! reference. Logits are compared, too: tokens alone prove little.

use super::{Examination, Failures, Found, Stop};
use crate::{
    Array, Arrays, ForwardError, Session,
    compare::{Measured, measure},
    golden::Golden,
    tolerance::{Threshold, Tolerance},
};

/// A margin below this many times the error excuses another token.
const FACTOR: f64 = 4.0;
/// What the steps' logits are called in a golden, and the error of the reference's own steps in its noise.
const STEPS: &str = "tokens.logits";

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    if let Some(reason) = inapplicable(&golden) {
        return Err(Stop::Ignored(reason));
    }
    let subject = exam.subject()?;
    let tokens = &golden.tokens["greedy"];
    let (margins, recorded) = (&golden.margins["greedy"], &golden.tokens["logits"]);
    let mut session = subject.model().session()?;
    let steps = tokens.shape()[1];
    let mut failures = Failures::default();
    let mut excused = 0;
    let grown = if golden.tokens.contains_key("start") { "decoder_input_ids" } else { "input_ids" };
    let threshold = of_a_step(exam.tolerance(&golden, &subject));
    let mut logits = last_logits(session.as_mut(), &golden.prompt().unwrap_or_default())?;
    for step in 0..steps {
        let expected = flat_step(recorded, step);
        failures.note(exam.compare(&format!("{STEPS} step {step}"), &expected, &logits, threshold));
        for row in 0..tokens.shape()[0] {
            let choice = Choice::at(&expected, &logits, tokens, margins, row, step);
            match choice.judge() {
                Verdict::Same => {}
                Verdict::Excused => excused += 1,
                Verdict::Other(message) => failures.push(message),
            }
        }
        if step + 1 < steps {
            let mut inputs = Arrays::from([(grown.to_owned(), tokens.narrow(1, step, 1))]);
            let mask = golden.source.get("attention_mask").filter(|_| grown != "input_ids");
            inputs.extend(mask.map(|mask| ("attention_mask".to_owned(), mask.clone())));
            logits = last_logits(session.as_mut(), &inputs)?;
        }
    }
    failures.conclude()?;
    Ok((excused > 0).then(|| format!("{excused} tokens differ within their margin")))
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let prompt = ["prompt", "start"].iter().any(|name| golden.tokens.contains_key(*name));
    let tokens = ["greedy", "logits"].iter().all(|name| golden.tokens.contains_key(*name));
    let recorded = prompt && tokens && golden.margins.contains_key("greedy");
    (!recorded).then(|| "the golden has no `tokens.*` and `margin.greedy`: its class does not generate".to_owned())
}

/// The larger of what steps and whole outputs may be off: one step may be several times as far off as all together. Goldens
/// that were recorded before have no noise of steps.
fn of_a_step(tolerance: Tolerance<'_>) -> Threshold {
    let whole = tolerance.golden("logits");
    if tolerance.noise(STEPS).is_none() {
        return whole;
    }
    let step = tolerance.golden(STEPS);
    Threshold { rel_l2: step.rel_l2.max(whole.rel_l2), max_rel: step.max_rel.max(whole.max_rel) }
}

/// Reads `inputs` and gives the logits behind the last token, [batch, vocab].
fn last_logits(session: &mut dyn Session, inputs: &Arrays) -> Result<Array, ForwardError> {
    let outputs = session.advance(inputs)?.outputs;
    let logits = outputs.get("logits").ok_or_else(|| ForwardError::Device { message: "no `logits`".to_owned() })?;
    Ok(flat_step(logits, logits.shape()[1] - 1))
}

/// [batch, seq, vocab] at one step, [batch, vocab].
fn flat_step(logits: &Array, step: usize) -> Array {
    let (batch, vocab) = (logits.shape()[0], logits.shape()[2]);
    Array::floats([batch, vocab], logits.narrow(1, step, 1).as_floats().unwrap_or_default().to_vec())
}

/// One row at one step.
struct Choice {
    row: usize,
    step: usize,
    expected: i64,
    chosen: i64,
    margin: f64,
    error: f64,
}

enum Verdict {
    Same,
    Excused,
    Other(String),
}

impl Choice {
    fn at(expected: &Array, got: &Array, tokens: &Array, margins: &Array, row: usize, step: usize) -> Self {
        let (one, other) = (expected.select_rows(&[row]), got.select_rows(&[row]));
        let (one, other) = (one.as_floats().unwrap_or_default(), other.as_floats().unwrap_or_default());
        let Measured { max_difference, .. } = measure(one, other);
        let flat = row * tokens.shape()[1] + step;
        Self {
            row,
            step,
            expected: tokens.as_integers().unwrap_or_default()[flat],
            chosen: largest(other),
            margin: margins.as_floats().unwrap_or_default()[flat].into(),
            error: max_difference,
        }
    }

    fn judge(&self) -> Verdict {
        let Self { row, step, expected, chosen, margin, error } = self;
        if chosen == expected {
            Verdict::Same
        } else if *margin < FACTOR * error {
            Verdict::Excused
        } else {
            Verdict::Other(format!(
                "row {row}, step {step}: token {chosen} instead of {expected}, although the margin {margin:.3e} is at least \
                 {FACTOR} times the error {error:.3e}"
            ))
        }
    }
}

/// The first index of the largest value.
fn largest(values: &[f32]) -> i64 {
    let better = |best: usize, next: usize| if values[next] > values[best] { next } else { best };
    (0..values.len()).reduce(better).map_or(-1, |index| index as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::Noise;
    use testgen_contract::Precision;

    fn threshold(noise: &str) -> f64 {
        let noise = Noise::for_tests(&[("noise.f32".to_owned(), noise.to_owned())].into());
        of_a_step(Tolerance::new(&noise, &[], Precision::F32, false)).rel_l2
    }

    #[test]
    fn a_step_may_be_as_far_off_as_the_reference_is_at_steps() {
        assert_eq!(threshold(r#"{"logits": [2e-6, 2e-6]}"#), 8e-6);
        assert_eq!(threshold(r#"{"logits": [2e-6, 2e-6], "tokens.logits": [3e-6, 3e-6]}"#), 1.2e-5);
        assert_eq!(threshold(r#"{"logits": [2e-6, 2e-6], "tokens.logits": [1e-6, 1e-6]}"#), 8e-6);
    }

    fn judged(chosen: i64, margin: f64, error: f64) -> Verdict {
        Choice { row: 0, step: 1, expected: 7, chosen, margin, error }.judge()
    }

    #[test]
    fn only_a_margin_below_the_error_excuses_another_token() {
        assert!(matches!(judged(7, 0.0, 1.0), Verdict::Same));
        assert!(matches!(judged(8, 0.39, 0.1), Verdict::Excused));
        assert!(matches!(judged(8, 0.41, 0.1), Verdict::Other(_)));
        assert!(matches!(judged(8, 0.0, 0.0), Verdict::Other(_)));
    }

    #[test]
    fn the_first_of_equal_values_is_the_largest() {
        assert_eq!(largest(&[1.0, 3.0, 3.0]), 1);
        assert_eq!(largest(&[f32::NEG_INFINITY, -1.0]), 1);
    }
}
