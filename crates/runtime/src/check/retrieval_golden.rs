//! `retrieval_golden`: the retrieved passages are the recorded ones and the results of a
//! brute-force search on the host, and the generator's contexts and the handler's answers are the
//! recorded ones.
//!
//! Retrieval is discontinuous: another passage is accepted only if both are equally near to the
//! question, within the error of the scores; another answer only if a choice on its way was
//! recorded to be that close.

mod row_count;
mod search;

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    inputs::sequences::Sequences,
    preprocess_golden::first_difference,
    run::{Abort, CheckResult, CheckRun, Failures, SubjectUnderTest},
};
use crate::{
    golden::{Golden, RecordedCase, RecordedTensor},
    task::{Request, Response, padding_token, retrieval_augmented_generation},
};
use row_count::other_count;
use search::{PassageEmbeddings, RetrievalSearch};
use testgen_nn::{array::Array, forward::Forward};
use testgen_processing::generation::GenerationControls;

/// The number of generated questions, and their length.
const GENERATED: usize = 24;
const LENGTH: usize = 12;
/// A margin below this many times the allowed error excuses another answer.
const MARGIN_FACTOR: f64 = 4.0;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::WrongLastPassage,
    "the search misses one passage",
    "where the brute-force search has",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    Abort::skip_if(inapplicable(&golden))?;
    let tested = run.subject_under_test()?;
    let passages = PassageEmbeddings::read(run)?;
    let threshold = run.tolerance(&golden, &tested).golden("doc_scores");
    let mut failures = Failures::default();
    for case in golden
        .cases
        .iter()
        .filter(|case| !case.retrieval.is_empty())
    {
        let forward = tested.model().forward(&case.inputs)?;
        compare_recorded(case, &forward, &mut failures);
        let search = RetrievalSearch {
            what: &case.name,
            passages: &passages,
            forward: &forward,
            threshold,
        };
        search.compare(run, &mut failures)?;
    }
    // The question encoder's sequence is the last one.
    let facts = *run
        .streams(&tested, &golden)
        .last()
        .expect("every model reads at least one sequence");
    // A search that misses one passage of many may find all that the few recorded questions need.
    let questions =
        Sequences::generated(GENERATED, LENGTH.min(facts.longest), facts).unpadded(facts);
    let forward = tested.model().forward(&questions)?;
    let search = RetrievalSearch {
        what: "made questions",
        passages: &passages,
        forward: &forward,
        threshold,
    };
    // Against the brute-force search only, because generated questions have no recorded passages.
    search.compare(run, &mut failures)?;
    let answers = compare_answers(run, &tested, &golden, &mut failures)?;
    failures.conclude()?;
    Ok(Some(format!(
        "{} passages, {GENERATED} generated questions, {answers} answers",
        passages.count
    )))
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let recorded = golden
        .cases
        .iter()
        .any(|case| case.retrieval.contains_key("retrieved_doc_ids"));
    (!recorded).then(|| {
        "the golden has no `retrieval.*`: when it was recorded, the checkpoint had no passages"
            .to_owned()
    })
}

fn compare_recorded(case: &RecordedCase, forward: &Forward, failures: &mut Failures) {
    for (name, expected) in &case.retrieval {
        let label = case.qualified(&format!("retrieval.{name}"));
        match forward.host_outputs.get(name) {
            Some(got) => failures.extend(first_difference(&label, expected, got)),
            None => failures.push(format!("the model returns no `{label}`")),
        }
    }
}

/// Compares the answers of the handler to the recorded questions. Returns how many were compared.
fn compare_answers(
    run: &CheckRun<'_>,
    tested: &SubjectUnderTest,
    golden: &Golden,
    failures: &mut Failures,
) -> Result<usize, Abort> {
    let (Some(texts), Some(expected)) = (&golden.main().texts, golden.tokens.get("answer")) else {
        return Ok(0);
    };
    let length = expected.shape()[1];
    let controls = GenerationControls {
        max_new_tokens: Some(length),
        ..GenerationControls::default()
    };
    let request = Request::Prompts {
        prompts: texts.clone(),
        controls,
    };
    let response = retrieval_augmented_generation(tested.loaded(), request);
    let Response::RetrievedAnswers(got) = response? else {
        return Err(Abort::Fail("the handler returns no answers".to_owned()));
    };
    let margins: &[f32] = golden
        .margins
        .get("answer")
        .and_then(Array::as_floats)
        .unwrap_or_default();
    // An answer is a sequence of choices, whose recorded margin is a difference of logits.
    let error = logit_error(run, tested, golden);
    let pad = padding_token(tested.model().config());
    let rows = expected.as_integers().unwrap_or_default().chunks(length);
    failures.extend(other_count("answers", rows.len(), got.len()));
    for (row, (expected, got)) in rows.zip(&got).enumerate() {
        let ids = &got.answer.ids;
        if !is_padded(expected, ids, pad)
            && !margins
                .get(row)
                .is_some_and(|margin| f64::from(*margin) < MARGIN_FACTOR * error)
        {
            failures.push(format!("answer {row}: expected {expected:?}, got {ids:?}"));
        }
    }
    Ok(got.len())
}

/// Whether a recorded answer is `ids`, padded to the length of the longest answer.
fn is_padded(recorded: &[i64], ids: &[i64], pad: i64) -> bool {
    recorded
        .strip_prefix(ids)
        .is_some_and(|rest| rest.iter().all(|id| *id == pad))
}

/// The error that the tolerance allows for a logit.
fn logit_error(run: &CheckRun<'_>, tested: &SubjectUnderTest, golden: &Golden) -> f64 {
    let logits = golden.main().outputs.get("logits");
    let largest = logits.map_or(0.0, RecordedTensor::largest);
    run.tolerance(golden, tested).golden("logits").max_rel * largest
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::check::tests::fixtures;

    #[test]
    fn a_golden_without_retrieved_passages_has_nothing_to_compare_with() {
        let mut golden = Golden::read(&fixtures().join("rag_token")).unwrap();
        assert_eq!(inapplicable(&golden), None);
        golden
            .cases
            .iter_mut()
            .for_each(|case| case.retrieval.clear());
        assert!(inapplicable(&golden).is_some());
    }

    #[test]
    fn only_padding_may_follow_an_answer() {
        let recorded = [5, 7, 7, 1, 1];
        let accepted = |length: usize| is_padded(&recorded, &recorded[..length], 1);
        assert_eq!([3, 4, 5].map(accepted), [true; 3]);
        assert_eq!([0, 1, 2].map(accepted), [false; 3]);
        // Tokens that are repeated are not padding, also if the answer ends with them.
        assert!(!is_padded(&[5, 7, 7, 7], &[5, 7], 1));
        assert!(!is_padded(&[7, 7], &[], 1));
        assert!(!is_padded(&recorded, &[5, 7, 7, 7, 1], 1));
    }
}
