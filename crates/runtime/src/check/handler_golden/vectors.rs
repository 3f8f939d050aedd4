//! Answers that are arrays: embeddings, latents, pixels, forecasts, numbers.

use super::comparison::AnswerComparison;
use crate::{
    check::run::{Abort, CheckResult},
    recorded_answer::Vector,
    task::{Response, SpokenText, TextEmbedding},
};
use std::collections::BTreeMap;
use testgen_nn::array::Array;

/// The arrays of one input, by their names in recorded answers.
type Named = BTreeMap<&'static str, Array>;

impl AnswerComparison<'_, '_, '_> {
    /// The arrays of every input; those with one name are compared as one.
    pub(super) fn vectors(
        &mut self,
        expected: &[BTreeMap<String, Vector>],
        got: &Response,
    ) -> CheckResult {
        let counted = has_computed_lengths(got);
        // Arrays with one name are compared as one, because the noise was measured so.
        let Some(got) = named(got) else {
            return Err(Abort::Fail(
                "the answer has no vectors, but vectors are recorded for the task".to_owned(),
            ));
        };
        if !self.same_count("rows of vectors", expected.len(), got.len()) {
            return Ok(None);
        }
        self.reject_unrecorded(expected, &got);
        let mut rest: BTreeMap<&String, (Vec<f32>, Vec<f32>)> = BTreeMap::new();
        for (row, (expected, got)) in expected.iter().zip(&got).enumerate() {
            for (name, expected) in expected {
                let Some(expected) = expected.array() else {
                    return Err(Abort::Fail(format!(
                        "the recorded `{name}` has not the elements of its shape"
                    )));
                };
                // Before the shapes are compared, which would make a failure of another length.
                if counted {
                    self.skip_undecided_length(row, name, &expected, got)?;
                }
                if let Some(got) = self.same_shape(row, name, &expected, got) {
                    let (all, values) = rest.entry(name).or_default();
                    all.extend_from_slice(expected.as_floats().unwrap_or_default());
                    values.extend_from_slice(got.as_floats().unwrap_or_default());
                }
            }
        }
        if !self.failures.is_empty() && self.tolerance.is_f32() {
            self.mark_different();
        }
        for (name, (expected, got)) in rest {
            self.numbers(name, expected, got);
        }
        Ok(Some(format!("{} rows of vectors", expected.len())))
    }

    /// A failure for each array of the answer with a name that no row has in the golden.
    fn reject_unrecorded(&mut self, expected: &[BTreeMap<String, Vector>], got: &[Named]) {
        let names: Vec<&String> = expected.iter().flat_map(BTreeMap::keys).collect();
        for name in got
            .iter()
            .flat_map(BTreeMap::keys)
            .filter(|name| !names.iter().any(|known| known == *name))
        {
            self.failures
                .push(format!("`{name}` is answered, but not recorded"));
        }
    }

    /// Ends the check if an array in 16 bits has another length than the golden. A duration that is
    /// rounded up to whole frames, or a score beside the threshold of a point, changes the length
    /// by an error within the noise, so that neither length is wrong.
    fn skip_undecided_length(
        &self,
        row: usize,
        name: &str,
        expected: &Array,
        got: &Named,
    ) -> Result<(), Abort> {
        let Some(got) = got.get(name) else {
            return Ok(());
        };
        let [got, expected] = [got.shape(), expected.shape()];
        let same_width = got.get(1..) == expected.get(1..);
        if self.tolerance.is_f32() || !self.failures.is_empty() || !same_width || got == expected {
            return Ok(());
        }
        Err(Abort::Skip(format!(
            "row {row}: `{name}` has the shape {got:?}, expected {expected:?}: the model computes the length, which 16 bits do not decide"
        )))
    }

    /// The array `name` of a row, or a failure if it is missing or has another shape.
    fn same_shape<'g>(
        &mut self,
        row: usize,
        name: &str,
        expected: &Array,
        got: &'g Named,
    ) -> Option<&'g Array> {
        let problem = match got.get(name) {
            Some(got) if got.shape() == expected.shape() => return Some(got),
            Some(got) => {
                let [got, expected] = [got.shape(), expected.shape()];
                format!("row {row}: `{name}` has the shape {got:?}, expected {expected:?}")
            }
            None => format!("row {row}: the answer has no `{name}`"),
        };
        self.failures.push(problem);
        None
    }
}

/// Whether the model computes how long the arrays of an answer are.
fn has_computed_lengths(response: &Response) -> bool {
    matches!(response, Response::Speech(_) | Response::Keypoints(_))
}

/// The arrays of an answer, or `None` if it is of another kind.
fn named(response: &Response) -> Option<Vec<Named>> {
    Some(match response {
        Response::TextEmbeddings(texts) => texts.iter().map(of_text).collect(),
        Response::AudioEmbeddings(recordings) => recordings
            .iter()
            .map(|one| named_arrays([("frames", &one.frames), ("mean", &one.mean)]))
            .collect(),
        Response::ImageEmbeddings(images) => images
            .iter()
            .map(|one| named_arrays([("patches", &one.patches), ("pooled", &one.pooled)]))
            .collect(),
        Response::ImageTextEmbeddings(both) => vec![named_arrays([
            ("images", &stacked(&both.images)),
            ("texts", &stacked(&both.texts)),
        ])],
        Response::Speech(texts) => texts.iter().map(of_waveform).collect(),
        Response::Keypoints(images) => images
            .iter()
            .map(|one| {
                named_arrays([
                    ("points", &one.points),
                    ("scores", &one.scores),
                    ("descriptors", &one.descriptors),
                ])
            })
            .collect(),
        Response::GraphEmbeddings(graphs) => graphs
            .iter()
            .map(|one| named_arrays([("nodes", &one.nodes), ("graph", &one.graph)]))
            .collect(),
        Response::Depths(rows) => one_each("depth", rows),
        Response::Latents(rows) => one_each("latents", rows),
        Response::Pixels(rows) => one_each("pixels", rows),
        Response::Forecasts(rows) => one_each("forecast", rows),
        Response::Regressions(rows) => one_each("regression", rows),
        _ => return None,
    })
}

fn named_arrays<const N: usize>(arrays: [(&'static str, &Array); N]) -> Named {
    arrays.map(|(name, array)| (name, array.clone())).into()
}

fn of_text(text: &TextEmbedding) -> Named {
    let mut arrays = named_arrays([("tokens", &text.tokens), ("mean", &text.mean)]);
    arrays.extend(text.pooled.iter().map(|pooled| ("pooled", pooled.clone())));
    arrays
}

fn of_waveform(speech: &SpokenText) -> Named {
    // The same waveform at another rate is another sound.
    let rate = Array::floats([1], vec![speech.sampling_rate as f32]);
    named_arrays([("waveform", &speech.waveform), ("sampling_rate", &rate)])
}

/// Vectors `[width]` as one array [count, width].
fn stacked(vectors: &[Array]) -> Array {
    let values: Vec<f32> = vectors
        .iter()
        .flat_map(|vector| vector.as_floats().unwrap_or_default())
        .copied()
        .collect();
    Array::floats([vectors.len(), values.len() / vectors.len().max(1)], values)
}

fn one_each(name: &'static str, rows: &[Array]) -> Vec<Named> {
    rows.iter()
        .map(|row| Named::from([(name, row.clone())]))
        .collect()
}
