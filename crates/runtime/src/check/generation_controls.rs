//! `generation_controls`: end token, length limits, seed and low temperatures have their documented
//! effect.
//!
//! Everything is compared with one greedy continuation of the same prompt, so no golden is needed.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    comparison::cached_sequences::{class_without_cache, has_cache},
    inputs::sequences::Sequences,
    run::{Abort, CheckResult, CheckRun, Failures, SubjectUnderTest},
};
use crate::golden::Golden;
use serde_json::Value;
use testgen_nn::array::{Array, Arrays};
use testgen_processing::generation::{
    Continuation, FinishReason, GenerationControls, GenerationDefaults, GenerationError,
    GenerationSettings, generate,
};
use testgen_types::Head;

/// New tokens of the continuation.
const LENGTH: usize = 12;
/// A temperature at which sampling is greedy, if the two largest logits differ by more than
/// [`CLEAR_GAP`].
const COLD: f32 = 1e-3;
/// A temperature at which every token has a chance, even if the logits differ by hundreds.
const HOT: f32 = 100.0;
/// With a gap of this size, the second token has the probability exp(-50) at [`COLD`].
const CLEAR_GAP: f32 = 0.05;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::LogitsDependOnHistory,
    "logits depend on earlier calls",
    "are not the first of",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    Abort::skip_if(inapplicable(tested.model().class()))?;
    // Tokens are generated in a session, which a model without a cache does not have.
    has_cache(run.spec().architecture, tested.model())?;
    let prompt = prompt(run, &tested, &golden)?;
    let bench = Bench {
        tested: &tested,
        prompt,
    };
    // First, because every control is compared with it.
    let greedy = bench.run(&bench.greedy(LENGTH))?;
    let mut failures = Failures::default();
    lengths(&bench, &greedy, &mut failures)?;
    end_token(&bench, &greedy[0], &mut failures)?;
    seed(&bench, &mut failures)?;
    temperature(&bench, &greedy, &mut failures)?;
    failures.conclude()?;
    Ok(None)
}

/// Why a class does not generate tokens.
pub(super) fn inapplicable(class: &str) -> Option<String> {
    // These classes have a head although their names end like the names of base models.
    let generates = ["LMHeadModel", "MTModel"]
        .iter()
        .any(|end| class.ends_with(end));
    let base = class.ends_with("Model") && !generates;
    class_without_cache(class)
        .or_else(|| base.then(|| format!("`{class}` has no logits to choose tokens from")))
}

/// The recorded prompt, or generated ids if none was recorded.
fn prompt(run: &CheckRun<'_>, tested: &SubjectUnderTest, golden: &Golden) -> Result<Arrays, Abort> {
    if let Some(start) = golden.start_tokens() {
        let start = repeated_for_passages(start, tested, golden);
        let source = golden.source.iter().map(|(name, array)| {
            let rows: Vec<usize> = (0..start.shape()[0].min(array.shape()[0])).collect();
            (name.clone(), array.select_rows(&rows))
        });
        return Ok(source
            .chain([("decoder_input_ids".to_owned(), start.clone())])
            .collect());
    }
    if let Some(prompt) = golden.prompt() {
        return Ok(prompt);
    }
    let facts = run.text_facts(tested, golden);
    // Prompt and continuation together must not be longer than the model's positions.
    let length = 8.min(facts.longest.saturating_sub(LENGTH)).max(1);
    Ok(Sequences::generated(2, length, facts).unpadded(facts))
}

/// One row of start tokens per passage for a model that writes an answer for each passage. Recorded
/// ones have these rows already.
fn repeated_for_passages(start: Array, tested: &SubjectUnderTest, golden: &Golden) -> Array {
    // 5 is the default of `RagConfig`.
    let docs = tested
        .model()
        .config()
        .get("n_docs")
        .and_then(Value::as_u64)
        .unwrap_or(5) as usize;
    if tested.model().head() != Head::SequenceGeneration || golden.tokens.contains_key("start") {
        return start;
    }
    start.select_rows(
        &(0..start.shape()[0] * docs)
            .map(|row| row / docs)
            .collect::<Vec<_>>(),
    )
}

/// A model with a prompt, and the controls that are tried on it.
struct Bench<'a> {
    tested: &'a SubjectUnderTest,
    prompt: Arrays,
}

impl Bench<'_> {
    fn greedy(&self, length: usize) -> GenerationControls {
        GenerationControls {
            max_new_tokens: Some(length),
            min_new_tokens: Some(0),
            do_sample: Some(false),
            // The penalty of a checkpoint would make tokens depend on those before them.
            repetition_penalty: Some(1.0),
            // An empty list, so that no row ends early and lengths are exact.
            eos_token_ids: Some(Vec::new()),
            ..GenerationControls::default()
        }
    }

    fn sampled(&self, temperature: f32, seed: u64) -> GenerationControls {
        GenerationControls {
            do_sample: Some(true),
            temperature: Some(temperature),
            // Unset, it would be 50 as in transformers, and the draws would be among those tokens
            // only.
            top_k: Some(0),
            top_p: Some(1.0),
            seed: Some(seed),
            ..self.greedy(LENGTH)
        }
    }

    /// Generates with `controls`.
    fn run(&self, controls: &GenerationControls) -> Result<Vec<Continuation>, GenerationError> {
        let tokens = self
            .prompt
            .get("decoder_input_ids")
            .unwrap_or_else(|| &self.prompt["input_ids"]);
        let length = tokens.shape()[1];
        // The defaults of the checkpoint are ignored, so that the check does not depend on its
        // generation_config.json.
        let settings = GenerationSettings::new(controls, &GenerationDefaults::default(), length)?;
        // With logits, from which `gap` is computed.
        generate(
            self.tested.model().session()?.as_mut(),
            &self.prompt,
            &settings,
            true,
        )
    }
}

fn lengths(
    bench: &Bench<'_>,
    greedy: &[Continuation],
    failures: &mut Failures,
) -> Result<(), GenerationError> {
    for length in [1, 5, LENGTH] {
        for (row, (short, whole)) in bench
            .run(&bench.greedy(length))?
            .iter()
            .zip(greedy)
            .enumerate()
        {
            if short.ids.len() != length || short.finish != FinishReason::Length {
                let (found, why) = (short.ids.len(), short.finish);
                failures.push(format!(
                    "row {row}: {found} tokens and {why:?}, but `max_new_tokens` is {length}"
                ));
            }
            if short.ids != whole.ids[..short.ids.len().min(LENGTH)] {
                failures.push(format!(
                    "row {row}: with `max_new_tokens` {length} the tokens are not the first of {LENGTH}"
                ));
            }
        }
    }
    Ok(())
}

/// With a token of the continuation as the end token, the row ends there, but not before
/// `min_new_tokens`.
fn end_token(
    bench: &Bench<'_>,
    greedy: &Continuation,
    failures: &mut Failures,
) -> Result<(), GenerationError> {
    // From the middle, so that there are tokens before and after it.
    let end = greedy.ids[LENGTH / 2];
    // The token may also occur before the middle.
    let first = greedy.ids.iter().position(|id| *id == end).unwrap_or(0);
    let controls = GenerationControls {
        eos_token_ids: Some(vec![end]),
        ..bench.greedy(LENGTH)
    };
    let ended = &bench.run(&controls)?[0];
    // The end token itself is part of the result, as in transformers.
    if ended.ids != greedy.ids[..=first] || ended.finish != FinishReason::EndToken {
        let (ids, why) = (&ended.ids, ended.finish);
        failures.push(format!(
            "with the end token {end} the row is {ids:?} and {why:?}; without it is {:?}",
            greedy.ids
        ));
    }
    // Beyond the end token, so that the limit must prevent it.
    let least = (first + 2).min(LENGTH);
    let longer = &bench.run(&GenerationControls {
        min_new_tokens: Some(least),
        ..controls
    })?[0];
    if ends_before(&longer.ids, least, end) {
        failures.push(format!(
            "`min_new_tokens` is {least} and the end token {end}, but the row is {:?}",
            longer.ids
        ));
    }
    Ok(())
}

/// Whether a row has fewer than `least` tokens, or the end token among the first `least`, as if
/// `min_new_tokens` had no effect.
fn ends_before(ids: &[i64], least: usize, end: i64) -> bool {
    // `MinNewTokensLengthLogitsProcessor` forbids the end token for each of the first `least`.
    ids.get(..least).is_none_or(|first| first.contains(&end))
}

fn seed(bench: &Bench<'_>, failures: &mut Failures) -> Result<(), GenerationError> {
    let first = hot_ids(bench, 1)?;
    if hot_ids(bench, 1)? != first {
        failures.push("the same seed samples other tokens");
    }
    let mut others = 0;
    // Several seeds, because one of them may draw the same tokens by chance.
    for seed in 2..6 {
        others += usize::from(hot_ids(bench, seed)? != first);
    }
    if others == 0 {
        failures.push("four other seeds sample the same tokens");
    }
    Ok(())
}

/// The tokens of each row, sampled hot.
fn hot_ids(bench: &Bench<'_>, seed: u64) -> Result<Vec<Vec<i64>>, GenerationError> {
    // If one token were far likelier than the others, no seed would change it.
    let rows = bench.run(&bench.sampled(HOT, seed))?;
    Ok(rows.into_iter().map(|row| row.ids).collect())
}

/// At temperature 0 sampling is greedy; at [`COLD`] too, if the likeliest token leads clearly.
fn temperature(
    bench: &Bench<'_>,
    greedy: &[Continuation],
    failures: &mut Failures,
) -> Result<(), GenerationError> {
    if ids(&bench.run(&bench.sampled(0.0, 1))?) != ids(greedy) {
        failures.push("sampling at temperature 0 is not greedy");
    }
    for (row, (cold, greedy)) in bench
        .run(&bench.sampled(COLD, 1))?
        .iter()
        .zip(greedy)
        .enumerate()
    {
        // Only the first difference counts, because all later tokens follow from it.
        let Some(step) = cold
            .ids
            .iter()
            .zip(&greedy.ids)
            .position(|(cold, greedy)| cold != greedy)
        else {
            continue;
        };
        let gap = gap(greedy, step);
        if gap > CLEAR_GAP {
            failures
                .push(format!("row {row}, step {step}: sampling at temperature {COLD} is not greedy, although the two largest logits differ by {gap}"));
        }
    }
    Ok(())
}

fn ids(rows: &[Continuation]) -> Vec<&[i64]> {
    rows.iter().map(|row| row.ids.as_slice()).collect()
}

/// The difference between the two largest logits of a step.
fn gap(row: &Continuation, step: usize) -> f32 {
    // Without logits every difference counts as a failure.
    let Some(logits) = row.logits.as_ref().map(|logits| logits.narrow(0, step, 1)) else {
        return f32::INFINITY;
    };
    let mut sorted = logits.as_floats().unwrap_or_default().to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted
        .first()
        .zip(sorted.get(1))
        .map_or(f32::INFINITY, |(first, second)| first - second)
}

#[cfg(test)]
mod tests;
