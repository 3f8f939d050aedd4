//! `retrieval_golden`: the passages found are the recorded ones, also those of a search through all of them on the host, and
//! so are the texts that the generator reads and the answers that a handler gives.
//!
//! Which passages are found jumps: another one is right only where both are as near to the question, within what the scores
//! may be off; another answer, where a choice on its way was recorded to be that close.

use super::{
    Examination, Failures, Found, Stop, examination::Subject, preprocess_golden::first_other, sequences::Sequences,
};
use crate::{
    Array, Forward, GenerationControls,
    golden::{Case, Golden},
    model::EMBEDDINGS,
    task::{Request, Response, retrieval_augmented_generation},
};

/// Questions made up beside the recorded ones, and their length.
const MADE: usize = 24;
const LENGTH: usize = 12;
/// A margin below this many times the allowed error excuses another answer.
const FACTOR: f64 = 4.0;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    if let Some(reason) = inapplicable(&golden) {
        return Err(Stop::Ignored(reason));
    }
    let subject = exam.subject()?;
    let library = Library::read(exam)?;
    let mut failures = Failures::default();
    for case in golden.cases.iter().filter(|case| !case.retrieval.is_empty()) {
        let found = subject.model().forward(&case.inputs)?;
        decisions(case, &found, &mut failures);
        brute_force(exam, &subject, &golden, &library, (&case.name, &found), &mut failures)?;
    }
    let facts = *exam.streams(&subject, &golden).last().expect("there is at least one sequence");
    let made = Sequences::generated(MADE, LENGTH.min(facts.longest), facts).whole(facts);
    let found = subject.model().forward(&made)?;
    brute_force(exam, &subject, &golden, &library, ("made questions", &found), &mut failures)?;
    let answers = answers(exam, &subject, &golden, &mut failures)?;
    failures.conclude()?;
    Ok(Some(format!("{} passages, {MADE} made questions, {answers} answers", library.count)))
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let recorded = golden.cases.iter().any(|case| case.retrieval.contains_key("retrieved_doc_ids"));
    (!recorded).then(|| "the golden has no `retrieval.*`: the checkpoint had no passages".to_owned())
}

fn decisions(case: &Case, found: &Forward, failures: &mut Failures) {
    for (name, expected) in &case.retrieval {
        let told = case.tell(&format!("retrieval.{name}"));
        match found.decisions.get(name) {
            Some(got) => failures.note(first_other(&told, expected, got)),
            None => failures.push(format!("`{told}` was not decided")),
        }
    }
}

/// All embeddings on the host.
struct Library {
    values: Vec<f32>,
    count: usize,
    width: usize,
}

impl Library {
    fn read(exam: &Examination<'_>) -> Result<Self, Stop> {
        let path = exam.context.checkpoint.directory().join(EMBEDDINGS);
        let arrays = crate::golden::read_file(&path)?;
        let found =
            arrays.get("embeddings").and_then(|array| Some((array.as_floats()?.to_vec(), array.shape().to_vec())));
        match found {
            Some((values, shape)) if shape.len() == 2 => Ok(Self { values, count: shape[0], width: shape[1] }),
            _ => Err(Stop::Fail(format!("`{}` has no `embeddings` [passages, width]", path.display()))),
        }
    }

    /// The product of a question with every passage.
    fn products(&self, question: &[f32]) -> Vec<f64> {
        let product = |passage: &[f32]| passage.iter().zip(question).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        self.values.chunks(self.width).map(product).collect()
    }
}

/// The search against products in f64, and the scores of what it found.
fn brute_force(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    library: &Library,
    (what, found): (&str, &Forward),
    failures: &mut Failures,
) -> Result<(), Stop> {
    let missing = |name: &str| Stop::Fail(format!("{what}: `{name}` was not computed"));
    let named = |name: &str| found.outputs.get(name).ok_or_else(|| missing(name));
    let (questions, scores) = (named("question_encoder_last_hidden_state")?, named("doc_scores")?);
    let ids = found.decisions.get("retrieved_doc_ids").ok_or_else(|| missing("retrieved_doc_ids"))?;
    let docs = ids.shape()[1];
    let threshold = exam.tolerance(golden, subject).golden("doc_scores");
    let mut expected_scores = Vec::new();
    let questions = questions.as_floats().unwrap_or_default().chunks(library.width);
    for (row, (question, ids)) in questions.zip(ids.as_integers().unwrap_or_default().chunks(docs)).enumerate() {
        let products = library.products(question);
        let largest = products.iter().fold(0.0_f64, |largest, product| largest.max(product.abs()));
        failures
            .note(order(&products, ids, threshold.max_rel * largest).map(|why| format!("{what}, row {row}: {why}")));
        expected_scores
            .extend(ids.iter().map(|id| products.get(*id as usize).map_or(f32::NAN, |product| *product as f32)));
    }
    let expected = Array::floats(scores.shape(), expected_scores);
    failures.note(exam.compare(&format!("doc_scores of {what} by brute force"), &expected, scores, threshold));
    Ok(())
}

/// What is wrong with `ids` as the largest of `products`, best first, where they may be off by `error`.
fn order(products: &[f64], ids: &[i64], error: f64) -> Option<String> {
    let mut ranked: Vec<usize> = (0..products.len()).collect();
    ranked.sort_by(|one, other| products[*other].total_cmp(&products[*one]).then(one.cmp(other)));
    for (place, (expected, got)) in ranked.iter().zip(ids).enumerate() {
        let product = usize::try_from(*got).ok().and_then(|got| products.get(got));
        let repeated = ids[..place].contains(got);
        if repeated || product.is_none_or(|product| products[*expected] - product > error) {
            return Some(format!("passage {got} is found at place {place}, the search through all gives {expected}"));
        }
    }
    None
}

/// What a handler answers to the recorded questions; how many answers were compared.
fn answers(exam: &Examination<'_>, subject: &Subject, golden: &Golden, failures: &mut Failures) -> Result<usize, Stop> {
    let (Some(texts), Some(expected)) = (&golden.main().texts, golden.tokens.get("answer")) else { return Ok(0) };
    let length = expected.shape()[1];
    let controls = GenerationControls { max_new_tokens: Some(length), ..GenerationControls::default() };
    let request = Request::Prompts { prompts: texts.clone(), controls };
    let response = retrieval_augmented_generation(subject.model(), request);
    let Response::RetrievedAnswers(got) = response.map_err(|error| Stop::Fail(error.to_string()))? else {
        return Err(Stop::Fail("the handler gives no answers".to_owned()));
    };
    let excused = excused(exam, subject, golden);
    let rows = expected.as_integers().unwrap_or_default().chunks(length);
    for (row, (expected, got)) in rows.zip(&got).enumerate() {
        let ids = &got.answer.ids;
        let same =
            expected.starts_with(ids) && expected[ids.len()..].iter().all(|id| Some(*id) == expected.last().copied());
        if !same && !excused(row) {
            failures.push(format!("answer {row}: expected {expected:?}, got {ids:?}"));
        }
    }
    Ok(got.len())
}

/// Whether a choice on the way to the answer of a row was closer than what logits may be off.
fn excused(exam: &Examination<'_>, subject: &Subject, golden: &Golden) -> impl Fn(usize) -> bool {
    let margins: Vec<f32> = golden.margins.get("answer").and_then(Array::as_floats).unwrap_or_default().to_vec();
    let logits = golden.main().outputs.get("logits").and_then(Array::as_floats).unwrap_or_default();
    let largest = logits.iter().fold(0.0_f32, |largest, logit| largest.max(logit.abs()));
    let error = exam.tolerance(golden, subject).golden("logits").max_rel * f64::from(largest);
    move |row| margins.get(row).is_some_and(|margin| f64::from(*margin) < FACTOR * error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_passages_as_near_may_change_places() {
        let products = [0.1, 0.9, 0.5, 0.8999];
        assert_eq!(order(&products, &[1, 3, 2], 0.0), None);
        assert_eq!(order(&products, &[3, 1, 2], 1e-3), None);
        assert!(order(&products, &[3, 1, 2], 1e-5).is_some());
        assert!(order(&products, &[1, 2], 1e-3).is_some());
        assert!(order(&products, &[1, 1], 1.0).is_some());
        assert!(order(&products, &[7], 1.0).is_some());
    }
}
