//! Answers that are arrays: embeddings, latents, pixels, forecasts, numbers.

use super::comparison::AnswerComparison;
use crate::{
    check::run::{Abort, CheckResult},
    recorded_answer::Vector,
    task::Response,
};
use std::collections::BTreeMap;
use testgen_nn::array::Array;

/// The arrays of one input, by their names in recorded answers.
type Named = BTreeMap<&'static str, Array>;

impl AnswerComparison<'_, '_, '_> {
    /// The arrays of every input; those with one name are compared as one, because the noise was
    /// measured so.
    pub(super) fn vectors(
        &mut self,
        expected: &[BTreeMap<String, Vector>],
        got: &Response,
    ) -> CheckResult {
        let Some(got) = named(got) else {
            return Err(Abort::Fail(
                "the answer has no vectors, but vectors are recorded for the task".to_owned(),
            ));
        };
        if !self.same_count("rows of vectors", expected.len(), got.len()) {
            return Ok(None);
        }
        let names: Vec<&String> = expected.iter().flat_map(BTreeMap::keys).collect();
        for name in got
            .iter()
            .flat_map(BTreeMap::keys)
            .filter(|name| !names.iter().any(|known| known == *name))
        {
            self.failures
                .push(format!("`{name}` is answered, but not recorded"));
        }
        let mut rest: BTreeMap<&String, (Vec<f32>, Vec<f32>)> = BTreeMap::new();
        for (row, (expected, got)) in expected.iter().zip(&got).enumerate() {
            for (name, expected) in expected {
                let Some(expected) = expected.array() else {
                    return Err(Abort::Fail(format!(
                        "the recorded `{name}` has not the elements of its shape"
                    )));
                };
                match got.get(name.as_str()) {
                    Some(got) if got.shape() == expected.shape() => {
                        let (all, values) = rest.entry(name).or_default();
                        all.extend_from_slice(expected.as_floats().unwrap_or_default());
                        values.extend_from_slice(got.as_floats().unwrap_or_default());
                    }
                    Some(got) => {
                        let [got, expected] = [got.shape(), expected.shape()];
                        self.failures.push(format!(
                            "row {row}: `{name}` has the shape {got:?}, expected {expected:?}"
                        ));
                    }
                    None => self
                        .failures
                        .push(format!("row {row}: the answer has no `{name}`")),
                }
            }
        }
        if !self.failures.is_empty() && self.tolerance.is_f32() {
            // In 16 bits a model may rightly find another number of points or samples.
            self.mark_different();
        }
        for (name, (expected, got)) in rest {
            self.numbers(name, expected, got);
        }
        Ok(Some(format!("{} rows of vectors", expected.len())))
    }
}

/// The arrays of an answer, or `None` if it is of another kind.
fn named(response: &Response) -> Option<Vec<Named>> {
    Some(match response {
        Response::TextEmbeddings(texts) => texts
            .iter()
            .map(|text| {
                let pooled = text.pooled.iter().map(|pooled| ("pooled", pooled.clone()));
                [("tokens", text.tokens.clone()), ("mean", text.mean.clone())]
                    .into_iter()
                    .chain(pooled)
                    .collect()
            })
            .collect(),
        Response::AudioEmbeddings(recordings) => {
            let named = recordings
                .iter()
                .map(|one| [("frames", one.frames.clone()), ("mean", one.mean.clone())].into());
            named.collect()
        }
        Response::ImageEmbeddings(images) => {
            let named = images.iter().map(|one| {
                [
                    ("patches", one.patches.clone()),
                    ("pooled", one.pooled.clone()),
                ]
                .into()
            });
            named.collect()
        }
        Response::ImageTextEmbeddings(both) => {
            vec![Named::from([
                ("images", stacked(&both.images)),
                ("texts", stacked(&both.texts)),
            ])]
        }
        Response::Speech(texts) => texts
            .iter()
            .map(|text| {
                // The same waveform at another rate is another sound.
                let rate = Array::floats([1], vec![text.sampling_rate as f32]);
                Named::from([("waveform", text.waveform.clone()), ("sampling_rate", rate)])
            })
            .collect(),
        Response::Keypoints(images) => images
            .iter()
            .map(|one| {
                Named::from([
                    ("points", one.points.clone()),
                    ("scores", one.scores.clone()),
                    ("descriptors", one.descriptors.clone()),
                ])
            })
            .collect(),
        Response::GraphEmbeddings(graphs) => graphs
            .iter()
            .map(|one| [("nodes", one.nodes.clone()), ("graph", one.graph.clone())].into())
            .collect(),
        Response::Depths(rows) => one_each("depth", rows),
        Response::Latents(rows) => one_each("latents", rows),
        Response::Pixels(rows) => one_each("pixels", rows),
        Response::Forecasts(rows) => one_each("forecast", rows),
        Response::Regressions(rows) => one_each("regression", rows),
        _ => return None,
    })
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
