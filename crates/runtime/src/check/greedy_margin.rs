//! `greedy_margin`: greedy tokens equal the recorded ones, or differ only at positions whose
//! recorded margin is below the error.
//!
//! The recorded tokens are read step by step with the cache, whatever the model itself would
//! choose, so that every step has a reference. The logits are compared as well, because equal
//! tokens alone prove little.

use super::run::{Abort, CheckResult, CheckRun, Failures};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::{
    compare::{MeasuredError, measure},
    golden::{Golden, RecordedTensor},
    tolerance::{Threshold, Tolerance},
};
use testgen_nn::{
    array::{Array, Arrays},
    forward::{ForwardError, Session},
};

/// A margin below this many times the error excuses another token.
const MARGIN_FACTOR: f64 = 4.0;
/// The logits of the steps in a golden, and the error of the reference's own steps in its noise.
const STEP_LOGITS: &str = "tokens.logits";

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::CacheDrifts,
    "logits drift with the cache",
    "tokens.logits step 2",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    Abort::skip_if(inapplicable(&golden))?;
    let tested = run.subject_under_test()?;
    let recorded = RecordedTokens {
        tokens: &golden.tokens["greedy"],
        margins: &golden.margins["greedy"],
    };
    let mut session = tested.model().session()?;
    let [rows, steps] = [0, 1].map(|dimension| recorded.tokens.shape()[dimension]);
    let mut failures = Failures::default();
    let mut within_margin = 0;
    let threshold = step_threshold(run.tolerance(&golden, &tested));
    // `inapplicable` has made sure that there is a prompt.
    let mut logits = last_logits(session.as_mut(), &golden.prompt().unwrap_or_default())?;
    for step in 0..steps {
        let Some(expected) = recorded_step(&golden, step) else {
            // A failure and not an end: a golden with fewer logits than tokens would compare less
            // than it names.
            failures.push(format!("the golden has no `{STEP_LOGITS}` of step {step}"));
            break;
        };
        failures.extend(run.compare_result(
            &format!("{STEP_LOGITS} step {step}"),
            &expected,
            &logits,
            threshold,
        ));
        for row in 0..rows {
            // The error of this row, because the error of another row does not excuse it.
            let error = largest_error(&expected, &logits, row, threshold);
            match recorded.choice(row, step, &logits, error).evaluate() {
                TokenMatch::Same => {}
                TokenMatch::WithinMargin => within_margin += 1,
                TokenMatch::Different(message) => failures.push(message),
            }
        }
        // The logits after the last recorded token have no reference.
        if step + 1 < steps {
            logits = last_logits(
                session.as_mut(),
                &next_inputs(&golden, recorded.tokens.narrow(1, step, 1)),
            )?;
        }
    }
    failures.conclude()?;
    Ok((within_margin > 0).then(|| format!("{within_margin} tokens differ within their margin")))
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let prompt = ["prompt", "start"]
        .iter()
        .any(|name| golden.tokens.contains_key(*name));
    let tokens = golden.tokens.contains_key("greedy") && golden.step_logits.is_some();
    let recorded = prompt && tokens && golden.margins.contains_key("greedy");
    (!recorded).then(|| {
        "the golden has no `tokens.*` and `margin.greedy`: its class does not generate".to_owned()
    })
}

/// The larger of the thresholds for a step and for whole outputs: a single step can have several
/// times the error of all together. Goldens of older recorders have no noise of steps.
fn step_threshold(tolerance: Tolerance<'_>) -> Threshold {
    let whole = tolerance.golden("logits");
    if tolerance.noise(STEP_LOGITS).is_none() {
        return whole;
    }
    let step = tolerance.golden(STEP_LOGITS);
    Threshold {
        rel_l2: step.rel_l2.max(whole.rel_l2),
        max_rel: step.max_rel.max(whole.max_rel),
    }
}

/// The inputs of a step after the first: the last token, and for an encoder-decoder the mask of its
/// source.
fn next_inputs(golden: &Golden, token: Array) -> Arrays {
    let encoder_decoder = golden.tokens.contains_key("start");
    let name = if encoder_decoder {
        "decoder_input_ids"
    } else {
        "input_ids"
    };
    let mut inputs = Arrays::from([(name.to_owned(), token)]);
    // Cross-attention needs the mask in every step; its keys and values are in the cache.
    let mask = golden
        .source
        .get("attention_mask")
        .filter(|_| encoder_decoder);
    inputs.extend(mask.map(|mask| ("attention_mask".to_owned(), mask.clone())));
    inputs
}

/// Reads `inputs` and returns the logits after the last token, [batch, vocab].
fn last_logits(session: &mut dyn Session, inputs: &Arrays) -> Result<Array, ForwardError> {
    let outputs = session.advance(inputs)?.outputs;
    let logits = outputs.get("logits").ok_or_else(|| ForwardError::Device {
        message: "the session returns no `logits`".to_owned(),
    })?;
    Ok(logits_at(logits, logits.shape()[1] - 1))
}

/// [batch, seq, vocab] at one step, [batch, vocab].
fn logits_at(logits: &Array, step: usize) -> Array {
    let (batch, vocab) = (logits.shape()[0], logits.shape()[2]);
    Array::floats(
        [batch, vocab],
        logits
            .narrow(1, step, 1)
            .as_floats()
            .unwrap_or_default()
            .to_vec(),
    )
}

/// The recorded logits of one step, [rows, vocab].
fn recorded_step(golden: &Golden, step: usize) -> Option<RecordedTensor> {
    golden.step_logits.as_ref()?.at_step(step)
}

/// The largest error of the logits of one row of a step.
fn largest_error(expected: &RecordedTensor, got: &Array, row: usize, threshold: Threshold) -> f64 {
    // The error of one logit cannot be computed from a summary: there it is a part of the largest
    // that passes, as the reference's own is.
    let Some(whole) = expected.whole() else {
        // Divided, so that the product with the factor of the caller is the allowed error.
        return threshold.max_rel * expected.largest() / MARGIN_FACTOR;
    };
    let (expected, got) = (whole.select_rows(&[row]), got.select_rows(&[row]));
    let (expected, got) = (
        expected.as_floats().unwrap_or_default(),
        got.as_floats().unwrap_or_default(),
    );
    let MeasuredError { max_difference, .. } = measure(expected, got);
    max_difference
}

/// The recorded greedy continuation.
struct RecordedTokens<'a> {
    /// [rows, steps].
    tokens: &'a Array,
    /// The difference between the two largest logits, [rows, steps].
    margins: &'a Array,
}

impl RecordedTokens<'_> {
    /// The choice of one row at one step; `got` are the computed logits of the step, with the
    /// largest error of that row.
    fn choice(&self, row: usize, step: usize, got: &Array, error: f64) -> GreedyChoice {
        let got = got.select_rows(&[row]);
        let got = got.as_floats().unwrap_or_default();
        let flat = row * self.tokens.shape()[1] + step;
        GreedyChoice {
            row,
            step,
            expected: self.tokens.as_integers().unwrap_or_default()[flat],
            chosen: largest(got),
            margin: self.margins.as_floats().unwrap_or_default()[flat].into(),
            error,
        }
    }
}

/// One row at one step.
struct GreedyChoice {
    row: usize,
    step: usize,
    expected: i64,
    chosen: i64,
    margin: f64,
    error: f64,
}

enum TokenMatch {
    Same,
    /// Another token, but the margin is below the error.
    WithinMargin,
    Different(String),
}

impl GreedyChoice {
    fn evaluate(&self) -> TokenMatch {
        let Self {
            row,
            step,
            expected,
            chosen,
            margin,
            error,
        } = self;
        if chosen == expected {
            TokenMatch::Same
        } else if *margin < MARGIN_FACTOR * error {
            // Two logits that are off in opposite directions take twice the error, the rest of the
            // factor is reserve. The strict comparison is the one of the logits themselves.
            TokenMatch::WithinMargin
        } else {
            TokenMatch::Different(format!(
                "row {row}, step {step}: token {chosen} instead of {expected}, although the margin {margin:.3e} is at least \
                 {MARGIN_FACTOR} times the error {error:.3e}"
            ))
        }
    }
}

/// The index of the largest value.
fn largest(values: &[f32]) -> i64 {
    (0..values.len())
        .reduce(|best: usize, next: usize| {
            // Of equal values the first, as `argmax` of PyTorch.
            if values[next] > values[best] {
                next
            } else {
                best
            }
        })
        // Not an id, so that it never equals a recorded one.
        .map_or(-1, |index| index as i64)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::{check::tests::fixtures, golden::Noise};
    use testgen_types::Precision;

    fn threshold(noise: &str) -> f64 {
        let noise = Noise::for_tests(&[("noise.f32".to_owned(), noise.to_owned())].into());
        step_threshold(Tolerance::new(&noise, &[], Precision::F32, false)).rel_l2
    }

    #[test]
    fn the_noise_of_steps_widens_the_threshold() {
        assert_eq!(threshold(r#"{"logits": [2e-6, 2e-6]}"#), 8e-6);
        assert_eq!(
            threshold(r#"{"logits": [2e-6, 2e-6], "tokens.logits": [3e-6, 3e-6]}"#),
            1.2e-5
        );
        assert_eq!(
            threshold(r#"{"logits": [2e-6, 2e-6], "tokens.logits": [1e-6, 1e-6]}"#),
            8e-6
        );
    }

    fn evaluated(chosen: i64, margin: f64, error: f64) -> TokenMatch {
        GreedyChoice {
            row: 0,
            step: 1,
            expected: 7,
            chosen,
            margin,
            error,
        }
        .evaluate()
    }

    #[test]
    fn only_a_margin_below_the_error_excuses_another_token() {
        assert!(matches!(evaluated(7, 0.0, 1.0), TokenMatch::Same));
        assert!(matches!(evaluated(8, 0.39, 0.1), TokenMatch::WithinMargin));
        assert!(matches!(evaluated(8, 0.41, 0.1), TokenMatch::Different(_)));
        assert!(matches!(evaluated(8, 0.0, 0.0), TokenMatch::Different(_)));
    }

    #[test]
    fn the_first_of_equal_values_is_the_largest() {
        assert_eq!(largest(&[1.0, 3.0, 3.0]), 1);
        assert_eq!(largest(&[f32::NEG_INFINITY, -1.0]), 1);
        assert_eq!(largest(&[]), -1, "no token has this id");
    }

    #[test]
    fn every_part_of_a_continuation_must_be_recorded() {
        for (fixture, prompt) in [("llama", "prompt"), ("t5", "start")] {
            let whole = Golden::read(&fixtures().join(fixture)).unwrap();
            assert_eq!(inapplicable(&whole), None, "{fixture}");
            let without_logits = Golden {
                step_logits: None,
                ..whole.clone()
            };
            assert!(inapplicable(&without_logits).is_some(), "{fixture}");
            for part in [prompt, "greedy"] {
                let mut lacking = whole.clone();
                lacking.tokens.remove(part).unwrap();
                assert!(
                    inapplicable(&lacking).is_some(),
                    "{fixture} without `tokens.{part}`"
                );
            }
            assert!(
                inapplicable(&Golden {
                    margins: Arrays::new(),
                    ..whole
                })
                .is_some(),
                "{fixture} without margins"
            );
        }
    }
}
