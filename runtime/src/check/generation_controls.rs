//! `generation_controls`: end token, length limits, seed, and temperature towards zero do what they say.
//!
//! Everything is compared with one greedy continuation of the same prompt, so the check needs no golden of its own.

use super::{Examination, Failures, Found, Stop, examination::Subject, kv_cache_equivalence, sequences::Sequences};
use crate::{
    Array, Arrays, FinishReason, GenerationControls, GenerationDefaults,
    generation::{Continuation, GenerationError, GenerationSettings, generate},
    golden::Golden,
    model::Head,
};
use serde_json::Value;

const LENGTH: usize = 12;
/// A temperature at which a gap of [`CLEAR`] between the two likeliest tokens leaves the second no chance.
const COLD: f32 = 1e-3;
/// One at which every token has a chance, also of a model that is sure of its tokens.
const HOT: f32 = 100.0;
const CLEAR: f32 = 0.05;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    if let Some(reason) = inapplicable(subject.model().class()) {
        return Err(Stop::Ignored(reason));
    }
    kv_cache_equivalence::has_cache(exam.spec().architecture, subject.model())?;
    let prompt = prompt(exam, &subject, &golden)?;
    let bench = Bench { subject: &subject, prompt };
    let greedy = bench.run(&bench.greedy(LENGTH))?;
    let mut failures = Failures::default();
    lengths(&bench, &greedy, &mut failures)?;
    end_token(&bench, &greedy[0], &mut failures)?;
    seed(&bench, &mut failures)?;
    temperature(&bench, &greedy, &mut failures)?;
    failures.conclude()?;
    Ok(None)
}

/// Why a class chooses no tokens.
pub(super) fn inapplicable(class: &str) -> Option<String> {
    let generates = ["LMHeadModel", "MTModel"].iter().any(|end| class.ends_with(end));
    let base = class.ends_with("Model") && !generates;
    let reason = || format!("`{class}` has no logits to choose tokens by");
    kv_cache_equivalence::inapplicable(class).or_else(|| base.then(reason))
}

/// The recorded prompt, else the beginning of the longest recorded rows.
fn prompt(exam: &Examination<'_>, subject: &Subject, golden: &Golden) -> Result<Arrays, Stop> {
    if let Some(start) = golden.start_tokens() {
        let start = for_every_passage(start, subject, golden);
        let own = |array: &Array| (0..start.shape()[0].min(array.shape()[0])).collect::<Vec<_>>();
        let source = golden.source.iter().map(|(name, array)| (name.clone(), array.select_rows(&own(array))));
        return Ok(source.chain([("decoder_input_ids".to_owned(), start.clone())]).collect());
    }
    if let Some(prompt) = golden.prompt() {
        return Ok(prompt);
    }
    let facts = exam.text_facts(subject, golden);
    let length = 8.min(facts.longest.saturating_sub(LENGTH)).max(1);
    Ok(Sequences::generated(2, length, facts).whole(facts))
}

/// A model that writes an answer for each passage begins with as many rows; recorded ones are that.
fn for_every_passage(start: Array, subject: &Subject, golden: &Golden) -> Array {
    let docs = subject.model().config().get("n_docs").and_then(Value::as_u64).unwrap_or(5) as usize;
    if subject.model().head() != Head::SequenceGeneration || golden.tokens.contains_key("start") {
        return start;
    }
    start.select_rows(&(0..start.shape()[0] * docs).map(|row| row / docs).collect::<Vec<_>>())
}

/// A model with a prompt.
struct Bench<'a> {
    subject: &'a Subject,
    prompt: Arrays,
}

impl Bench<'_> {
    fn greedy(&self, length: usize) -> GenerationControls {
        GenerationControls {
            max_new_tokens: Some(length),
            min_new_tokens: Some(0),
            do_sample: Some(false),
            repetition_penalty: Some(1.0),
            eos_token_ids: Some(Vec::new()),
            ..GenerationControls::default()
        }
    }

    fn drawn(&self, temperature: f32, seed: u64) -> GenerationControls {
        GenerationControls {
            do_sample: Some(true),
            temperature: Some(temperature),
            top_k: Some(0),
            top_p: Some(1.0),
            seed: Some(seed),
            ..self.greedy(LENGTH)
        }
    }

    /// What the controls give; the checkpoint's own defaults play no part.
    fn run(&self, controls: &GenerationControls) -> Result<Vec<Continuation>, GenerationError> {
        let tokens = self.prompt.get("decoder_input_ids").unwrap_or_else(|| &self.prompt["input_ids"]);
        let length = tokens.shape()[1];
        let settings = GenerationSettings::new(controls, &GenerationDefaults::default(), length)?;
        generate(self.subject.model().session()?.as_mut(), &self.prompt, &settings, true)
    }
}

fn lengths(bench: &Bench<'_>, greedy: &[Continuation], failures: &mut Failures) -> Result<(), GenerationError> {
    for length in [1, 5, LENGTH] {
        for (row, (short, whole)) in bench.run(&bench.greedy(length))?.iter().zip(greedy).enumerate() {
            if short.ids.len() != length || short.finish != FinishReason::Length {
                let (found, why) = (short.ids.len(), short.finish);
                failures.push(format!("row {row}: {found} tokens and {why:?} where {length} tokens were asked for"));
            }
            if short.ids != whole.ids[..short.ids.len().min(LENGTH)] {
                failures.push(format!("row {row}: {length} tokens are not the first of {LENGTH}"));
            }
        }
    }
    Ok(())
}

/// A token of the continuation declared as the end: the row ends with it, and not before the least length.
fn end_token(bench: &Bench<'_>, greedy: &Continuation, failures: &mut Failures) -> Result<(), GenerationError> {
    let end = greedy.ids[LENGTH / 2];
    let first = greedy.ids.iter().position(|id| *id == end).unwrap_or(0);
    let controls = GenerationControls { eos_token_ids: Some(vec![end]), ..bench.greedy(LENGTH) };
    let ended = &bench.run(&controls)?[0];
    if ended.ids != greedy.ids[..=first] || ended.finish != FinishReason::EndToken {
        let (ids, why) = (&ended.ids, ended.finish);
        failures.push(format!("with the end token {end} the row is {ids:?} and {why:?}, greedy is {:?}", greedy.ids));
    }
    let least = (first + 2).min(LENGTH);
    let longer = &bench.run(&GenerationControls { min_new_tokens: Some(least), ..controls })?[0];
    if longer.ids.len() < least || longer.ids[..least.saturating_sub(1)].contains(&end) {
        failures
            .push(format!("at least {least} tokens were asked for, and the row is {:?}, end token {end}", longer.ids));
    }
    Ok(())
}

fn seed(bench: &Bench<'_>, failures: &mut Failures) -> Result<(), GenerationError> {
    let ids = |seed| -> Result<Vec<Vec<i64>>, GenerationError> {
        Ok(bench.run(&bench.drawn(HOT, seed))?.into_iter().map(|row| row.ids).collect())
    };
    let first = ids(1)?;
    if ids(1)? != first {
        failures.push("the same seed draws other tokens");
    }
    let mut others = 0;
    for seed in 2..6 {
        others += usize::from(ids(seed)? != first);
    }
    if others == 0 {
        failures.push("four other seeds draw the same tokens");
    }
    Ok(())
}

/// At temperature 0 a draw is greedy; close to it, wherever the likeliest token is clearly ahead.
fn temperature(bench: &Bench<'_>, greedy: &[Continuation], failures: &mut Failures) -> Result<(), GenerationError> {
    if ids(&bench.run(&bench.drawn(0.0, 1))?) != ids(greedy) {
        failures.push("at temperature 0 a draw is not greedy");
    }
    for (row, (cold, greedy)) in bench.run(&bench.drawn(COLD, 1))?.iter().zip(greedy).enumerate() {
        let Some(step) = cold.ids.iter().zip(&greedy.ids).position(|(cold, greedy)| cold != greedy) else { continue };
        let gap = gap(greedy, step);
        if gap > CLEAR {
            failures
                .push(format!("row {row}, step {step}: temperature {COLD} is not greedy, although the gap is {gap}"));
        }
    }
    Ok(())
}

fn ids(rows: &[Continuation]) -> Vec<&[i64]> {
    rows.iter().map(|row| row.ids.as_slice()).collect()
}

/// Between the two largest logits of a step.
fn gap(row: &Continuation, step: usize) -> f32 {
    let Some(logits) = row.logits.as_ref().map(|logits| logits.narrow(0, step, 1)) else { return f32::INFINITY };
    let mut sorted = logits.as_floats().unwrap_or_default().to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted.first().zip(sorted.get(1)).map_or(f32::INFINITY, |(first, second)| first - second)
}
