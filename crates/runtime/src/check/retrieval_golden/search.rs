//! The passages that a device finds, compared with a brute-force search on the host.

use super::row_count::other_count;
use crate::{
    check::run::{Abort, CheckRun, Failures},
    golden::read_file,
    tolerance::Threshold,
};
use testgen_nn::{array::Array, forward::Forward};
use testgen_processing::retrieval::EMBEDDINGS;
use testgen_types::bounded_file::limit;

/// The embeddings of all passages on the host, [count, width].
pub(super) struct PassageEmbeddings {
    values: Vec<f32>,
    pub(super) count: usize,
    width: usize,
}

impl PassageEmbeddings {
    pub(super) fn read(run: &CheckRun<'_>) -> Result<Self, Abort> {
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
pub(super) struct RetrievalSearch<'a> {
    pub(super) what: &'a str,
    pub(super) passages: &'a PassageEmbeddings,
    pub(super) forward: &'a Forward,
    /// For the scores of passages.
    pub(super) threshold: Threshold,
}

impl RetrievalSearch<'_> {
    /// Compares the passages with a search by dot products in f64, and the scores with those
    /// products.
    pub(super) fn compare(
        &self,
        run: &mut CheckRun<'_>,
        failures: &mut Failures,
    ) -> Result<(), Abort> {
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

fn not_computed(name: &str, what: &str) -> Abort {
    Abort::Fail(format!("{what}: `{name}` was not computed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::OnHost;
    use testgen_nn::array::Arrays;
    use testgen_types::Architecture;

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
