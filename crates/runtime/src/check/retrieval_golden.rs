//! `retrieval_golden`: the retrieved passages are the recorded ones and the results of a
//! brute-force search on the host, and the generator's contexts and the handler's answers are the
//! recorded ones.
//!
//! Retrieval is discontinuous: another passage is accepted only if both are equally near to the
//! question, within the error of the scores; another answer only if a choice on its way was
//! recorded to be that close.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    inputs::sequences::Sequences,
    preprocess_golden::first_difference,
    run::{Abort, CheckResult, CheckRun, Failures, SubjectUnderTest},
};
use crate::{
    golden::{Golden, RecordedCase, RecordedTensor, read_file},
    task::{Request, Response, retrieval_augmented_generation},
    tolerance::Threshold,
};
use testgen_nn::{array::Array, forward::Forward};
use testgen_processing::generation::GenerationControls;
use testgen_processing::retrieval::EMBEDDINGS;
use testgen_types::bounded_file::limit;

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

/// The embeddings of all passages on the host, [count, width].
struct PassageEmbeddings {
    values: Vec<f32>,
    count: usize,
    width: usize,
}

impl PassageEmbeddings {
    fn read(run: &CheckRun<'_>) -> Result<Self, Abort> {
        let path = run.checkpoint().directory().join(EMBEDDINGS);
        let arrays = read_file(&path, limit::PASSAGES)?;
        let embeddings = arrays.get("embeddings");
        match embeddings.and_then(|array| Some((array.shape(), array.as_floats()?))) {
            Some((&[count, width], values)) => Ok(Self {
                values: values.to_vec(),
                count,
                width,
            }),
            _ => Err(Abort::Fail(format!(
                "`{}` has no `embeddings` [passages, width]",
                path.display()
            ))),
        }
    }

    /// The scores of all passages for a question.
    fn scores(&self, question: &[f32]) -> Vec<f64> {
        self.values
            .chunks(self.width)
            .map(|passage| {
                passage
                    .iter()
                    .zip(question)
                    // In f64, so that the error of the search is the device's alone.
                    .map(|(a, b)| f64::from(*a) * f64::from(*b))
                    .sum()
            })
            .collect()
    }
}

/// The retrieval of one call, to be compared with a brute-force search.
struct RetrievalSearch<'a> {
    what: &'a str,
    passages: &'a PassageEmbeddings,
    forward: &'a Forward,
    /// For the scores of passages.
    threshold: Threshold,
}

impl RetrievalSearch<'_> {
    /// Compares the passages with a search by dot products in f64, and the scores with those
    /// products.
    fn compare(&self, run: &mut CheckRun<'_>, failures: &mut Failures) -> Result<(), Abort> {
        let Self {
            what,
            passages,
            forward,
            threshold,
        } = self;
        let output = |name: &str| {
            forward
                .outputs
                .get(name)
                .ok_or_else(|| not_computed(name, what))
        };
        let (questions, scores) = (
            output("question_encoder_last_hidden_state")?,
            output("doc_scores")?,
        );
        let ids = forward
            .host_outputs
            .get("retrieved_doc_ids")
            .ok_or_else(|| not_computed("retrieved_doc_ids", what))?;
        let questions = questions
            .as_floats()
            .unwrap_or_default()
            .chunks(passages.width);
        let ids = ids.as_integers().unwrap_or_default().chunks(ids.shape()[1]);
        failures.extend(
            other_count("questions", questions.len(), ids.len())
                .map(|failure| format!("{what}: {failure}")),
        );
        let mut expected = Vec::new();
        for (row, (question, ids)) in questions.zip(ids).enumerate() {
            let all = passages.scores(question);
            let largest = all
                .iter()
                .fold(0.0_f64, |largest, score| largest.max(score.abs()));
            // In units of the largest score, like the threshold.
            let failure = misplaced_passage(&all, ids, threshold.max_rel * largest);
            failures.extend(failure.map(|failure| format!("{what}, row {row}: {failure}")));
            expected.extend(ids.iter().map(|id| {
                all.get(*id as usize)
                    // An id outside of the passages gets NaN, which is a failure in every
                    // comparison.
                    .map_or(f32::NAN, |score| *score as f32)
            }));
        }
        let expected = Array::floats(scores.shape(), expected);
        failures.extend(run.compare_made(
            &format!("doc_scores of {what} by brute force"),
            &expected,
            scores,
            *threshold,
        ));
        Ok(())
    }
}

/// The first of `ids` that is not the passage with the next largest score; `error` is the error of
/// a score.
fn misplaced_passage(scores: &[f64], ids: &[i64], error: f64) -> Option<String> {
    let mut ranked: Vec<usize> = (0..scores.len()).collect();
    // Equal scores by their index, so that the message is the same in every run; either order is
    // accepted.
    ranked.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]).then(one.cmp(other)));
    for (rank, (expected, got)) in ranked.iter().zip(ids).enumerate() {
        let score = usize::try_from(*got).ok().and_then(|got| scores.get(got));
        // A passage that is returned twice has the right score both times.
        let repeated = ids[..rank].contains(got);
        if repeated || score.is_none_or(|score| scores[*expected] - score > error) {
            return Some(format!(
                "passage {got} has rank {rank}, where the brute-force search has {expected}"
            ));
        }
    }
    None
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
    let rows = expected.as_integers().unwrap_or_default().chunks(length);
    failures.extend(other_count("answers", rows.len(), got.len()));
    for (row, (expected, got)) in rows.zip(&got).enumerate() {
        let ids = &got.answer.ids;
        // Recorded answers are padded to the longest one.
        let same = expected.starts_with(ids)
            && expected[ids.len()..]
                .iter()
                .all(|id| Some(*id) == expected.last().copied());
        if !same
            && !margins
                .get(row)
                .is_some_and(|margin| f64::from(*margin) < MARGIN_FACTOR * error)
        {
            failures.push(format!("answer {row}: expected {expected:?}, got {ids:?}"));
        }
    }
    Ok(got.len())
}

/// The error that the tolerance allows for a logit.
fn logit_error(run: &CheckRun<'_>, tested: &SubjectUnderTest, golden: &Golden) -> f64 {
    let logits = golden.main().outputs.get("logits");
    let largest = logits.map_or(0.0, RecordedTensor::largest);
    run.tolerance(golden, tested).golden("logits").max_rel * largest
}

/// The failure if there is another number than the expected one, of which some would not be
/// compared.
fn other_count(what: &str, expected: usize, got: usize) -> Option<String> {
    (expected != got).then(|| format!("{got} {what} instead of {expected}"))
}

fn not_computed(name: &str, what: &str) -> Abort {
    Abort::Fail(format!("{what}: `{name}` was not computed"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::check::tests::{OnHost, fixtures};
    use testgen_nn::array::Arrays;
    use testgen_types::Architecture;

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

    /// The failure of a search among passages with the scores 4, 3.97 and 1, with a threshold of 1
    /// %.
    fn failure(ids: [usize; 2]) -> Result<(), Abort> {
        let scores = [4.0, 3.97, 1.0];
        let values = scores.iter().flat_map(|score| [*score, 0.0]).collect();
        let passages = PassageEmbeddings {
            values,
            count: 3,
            width: 2,
        };
        let found = ids.map(|id| scores[id]).to_vec();
        let forward = Forward {
            outputs: Arrays::from([
                (
                    "question_encoder_last_hidden_state".to_owned(),
                    Array::floats([1, 2], vec![1.0, 0.0]),
                ),
                ("doc_scores".to_owned(), Array::floats([1, 2], found)),
            ]),
            host_outputs: Arrays::from([(
                "retrieved_doc_ids".to_owned(),
                Array::integers([1, 2], ids.map(|id| id as i64).to_vec()),
            )]),
            ..Forward::default()
        };
        let threshold = Threshold {
            rel_l2: 0.01,
            max_rel: 0.01,
        };
        let search = RetrievalSearch {
            what: "a question",
            passages: &passages,
            forward: &forward,
            threshold,
        };
        let mut failures = Failures::default();
        OnHost::for_architecture(Architecture::Rag)
            .run(|run| search.compare(run, &mut failures))?;
        failures.conclude()
    }

    /// The error of a score is 1 % of the largest: 0.04.
    #[test]
    fn passages_may_change_ranks_within_the_error_of_the_largest_score() {
        assert_eq!(failure([0, 1]), Ok(()));
        assert_eq!(failure([1, 0]), Ok(()));
        let reason = "a question, row 0: passage 2 has rank 1, where the brute-force search has 1";
        assert_eq!(failure([0, 2]), Err(Abort::Fail(reason.to_owned())));
    }

    #[test]
    fn another_number_of_answers_is_a_failure() {
        assert_eq!(other_count("answers", 2, 2), None);
        assert_eq!(
            other_count("answers", 2, 1).as_deref(),
            Some("1 answers instead of 2")
        );
    }

    #[test]
    fn only_equally_near_passages_may_change_ranks() {
        let scores = [0.1, 0.9, 0.5, 0.8999];
        assert_eq!(misplaced_passage(&scores, &[1, 3, 2], 0.0), None);
        assert_eq!(misplaced_passage(&scores, &[3, 1, 2], 1e-3), None);
        assert!(misplaced_passage(&scores, &[3, 1, 2], 1e-5).is_some());
        assert!(misplaced_passage(&scores, &[1, 2], 1e-3).is_some());
        assert!(misplaced_passage(&scores, &[1, 1], 1.0).is_some());
        assert!(misplaced_passage(&scores, &[7], 1.0).is_some());
    }
}
