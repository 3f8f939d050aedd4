//! The check with sessions whose logits are made here, so that one of them can be wrong alone.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::check::tests::OnHost;
use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};
use testgen_models::{Capabilities, ErasedModel};
use testgen_nn::forward::{Forward, ForwardError, Session};
use testgen_types::Architecture;

/// The sessions of a check in their order. Session 0 only shows that the model has a cache.
const FIVE_TOKENS: usize = 3;
const WITH_END_TOKEN: usize = 5;
const WITH_LEAST: usize = 6;
const SAME_SEED: usize = 8;
const TEMPERATURE_0: usize = 13;
const COLD_SESSION: usize = 14;

/// The logits of a step of a session.
type Logits = fn(session: usize, step: usize) -> Vec<f32>;

thread_local! {
    /// The logits that the sessions of this thread return.
    static LOGITS: Cell<Logits> = const { Cell::new(counting as Logits) };
    /// The largest token that a session read after its prompt.
    static LARGEST_READ: Cell<i64> = const { Cell::new(0) };
    /// How many steps the session with `min_new_tokens` took.
    static STEPS_WITH_LEAST: Cell<usize> = const { Cell::new(0) };
}

/// Logits of 1 but for one token.
fn leading(token: usize, logit: f32) -> Vec<f32> {
    let mut logits = vec![1.0; 16];
    logits[token] = logit;
    logits
}

/// The tokens 1, 2, 3, ..., each of which leads by 4.
fn counting(_: usize, step: usize) -> Vec<f32> {
    leading(step + 1, 5.0)
}

/// Sessions that count, except for one, in which token 0 leads by so much that no other is drawn.
fn zeros_in<const SESSION: usize>(session: usize, step: usize) -> Vec<f32> {
    if session == SESSION {
        leading(0, 1e5)
    } else {
        counting(session, step)
    }
}

struct Scripted {
    inner: Box<dyn ErasedModel>,
    sessions: AtomicUsize,
}

impl ErasedModel for Scripted {
    fn forward(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError> {
        self.inner.forward(inputs, traced)
    }

    fn session(&self) -> Result<Option<Box<dyn Session + '_>>, ForwardError> {
        Ok(Some(Box::new(ScriptedSession {
            number: self.sessions.fetch_add(1, SeqCst),
            step: 0,
        })))
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }
}

struct ScriptedSession {
    number: usize,
    step: usize,
}

impl Session for ScriptedSession {
    fn advance(&mut self, inputs: &Arrays) -> Result<Forward, ForwardError> {
        let ids = &inputs["input_ids"];
        if self.step > 0 {
            LARGEST_READ.set(
                ids.as_integers()
                    .unwrap()
                    .iter()
                    .copied()
                    .fold(LARGEST_READ.get(), i64::max),
            );
        }
        let logits = LOGITS.get()(self.number, self.step);
        self.step += 1;
        if self.number == WITH_LEAST {
            STEPS_WITH_LEAST.set(self.step);
        }
        let shape = [ids.shape()[0], ids.shape()[1], logits.len()];
        let logits = Array::floats(shape, logits.repeat(shape[0] * shape[1]));
        Ok(Forward {
            outputs: Arrays::from([("logits".to_owned(), logits)]),
            ..Forward::default()
        })
    }

    fn reset(&mut self) {
        self.step = 0;
    }

    fn length(&self) -> usize {
        self.step
    }
}

/// The result of the check of a model with these logits.
fn result(logits: Logits) -> CheckResult {
    LOGITS.set(logits);
    let scripted = OnHost::for_architecture(Architecture::DecoderOnly).with_network(|inner| {
        Box::new(Scripted {
            inner,
            sessions: AtomicUsize::new(0),
        })
    });
    scripted.run(check)
}

fn fails(logits: Logits, part: &str) {
    match result(logits) {
        Err(Abort::Fail(reason)) => assert!(reason.contains(part), "no `{part}` in: {reason}"),
        other => panic!("expected a failure with `{part}`, got {other:?}"),
    }
}

#[test]
fn a_session_that_is_wrong_alone_is_detected() {
    assert_eq!(result(counting), Ok(None));
    fails(
        zeros_in::<FIVE_TOKENS>,
        "row 0: with `max_new_tokens` 5 the tokens are not the first of 12",
    );
    fails(zeros_in::<SAME_SEED>, "the same seed samples other tokens");
    fails(
        zeros_in::<TEMPERATURE_0>,
        "sampling at temperature 0 is not greedy",
    );
    fails(
        zeros_in::<COLD_SESSION>,
        "row 1, step 0: sampling at temperature 0.001 is not greedy",
    );
    fails(
        zeros_in::<COLD_SESSION>,
        "although the two largest logits differ by 4",
    );
}

/// The row ends with the end token, but two steps of the continuation are one.
#[test]
fn a_row_that_ends_too_early_is_detected() {
    let ahead: Logits =
        |session, step| counting(session, step + usize::from(session == WITH_END_TOKEN));
    fails(
        ahead,
        "with the end token 7 the row is [2, 3, 4, 5, 6, 7] and EndToken",
    );
}

/// The token of the middle is also the first one. A limit of no tokens would end the row there, and
/// prove nothing.
#[test]
fn the_end_token_is_prevented_where_it_would_come_first() {
    assert_eq!(
        result(|_, step| leading(if step == 0 { 7 } else { step + 1 }, 5.0)),
        Ok(None)
    );
    assert_eq!(STEPS_WITH_LEAST.get(), 7);
}

/// Where a limit that is one too small still lets the row be long enough.
#[test]
fn none_of_the_least_tokens_is_the_end_token() {
    let ends_before = |ids: &[i64]| super::ends_before(ids, 2, 7);
    assert!(ends_before(&[]) && ends_before(&[1]) && ends_before(&[7, 1]));
    assert!(ends_before(&[1, 7]));
    assert!(!ends_before(&[1, 2]) && !ends_before(&[1, 2, 7]));
}

#[test]
fn seeds_without_an_effect_are_detected() {
    fails(
        |_, step| leading(step + 1, 1e5),
        "four other seeds sample the same tokens",
    );
}

/// If the likeliest token does not lead clearly, a cold draw may be the next one.
#[test]
fn a_gap_that_is_not_clear_excuses_another_token() {
    let close: Logits = |session, step| {
        let mut logits = vec![0.0; 16];
        logits[if session == COLD_SESSION { 0 } else { step + 1 }] = CLEAR_GAP;
        logits
    };
    assert_eq!(result(close), Ok(None));
}

/// Of 200 tokens that are nearly as likely as each other at the hot temperature, some beyond the 50
/// likeliest are drawn.
#[test]
fn every_token_has_a_chance_at_the_hot_temperature() {
    let descending: Logits = |_, step| {
        let mut logits: Vec<f32> = (0..200_u8).map(|token| -0.01 * f32::from(token)).collect();
        logits[step + 1] = 5.0;
        logits
    };
    assert_eq!(result(descending), Ok(None));
    assert!(
        LARGEST_READ.get() > 100,
        "the largest token that was drawn is {}",
        LARGEST_READ.get()
    );
}

#[test]
fn only_classes_with_logits_for_the_next_token_generate() {
    for class in [
        "LlamaForCausalLM",
        "GPT2LMHeadModel",
        "MarianMTModel",
        "T5ForConditionalGeneration",
    ] {
        assert_eq!(inapplicable(class), None, "{class}");
    }
    for class in [
        "LlamaModel",
        "T5Model",
        "BertModel",
        "LlamaForSequenceClassification",
    ] {
        assert!(
            inapplicable(class).is_some_and(|reason| reason.contains(class)),
            "{class}"
        );
    }
}
