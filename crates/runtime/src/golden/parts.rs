//! Sorting the tensors of a golden file by their names.

use super::{
    drawn::{self, DrawnInput},
    error::{GoldenError, Unreadable},
    recorded_tensor::RecordedTensor,
    summary::SummaryEntry,
    trace::TracePosition,
    validate,
};
use serde::de::DeserializeOwned;
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};
use testgen_nn::array::{Array, Arrays};

/// Messages repeat the names of tensors.
const LONGEST_NAME: usize = 150;

/// The beginnings of the names of parts that every case has.
const IN_EVERY_CASE: [&str; 3] = ["input.", "output.", "retrieval."];

/// The tensors of a file by kind, numbered ones in their order.
#[derive(Default)]
pub(super) struct GoldenParts {
    /// Of results that the file has as their summary and that were not read yet.
    summaries: BTreeMap<String, SummaryEntry>,
    pub(super) cases: BTreeMap<usize, CaseTensors>,
    pub(super) trace: BTreeMap<TracePosition, RecordedTensor>,
    /// `router.<layer>`.
    pub(super) probabilities: BTreeMap<usize, Array>,
    /// `routing.<layer>`.
    pub(super) weights: BTreeMap<usize, Array>,
    pub(super) tokens: Arrays,
    pub(super) step_logits: Option<RecordedTensor>,
    pub(super) margins: Arrays,
    pub(super) detections: Arrays,
    pub(super) images: BTreeMap<usize, Array>,
    pub(super) audio: BTreeMap<usize, Array>,
    pub(super) graphs: BTreeMap<usize, Arrays>,
}

/// The tensors of one case.
#[derive(Default)]
pub(super) struct CaseTensors {
    pub(super) inputs: Arrays,
    pub(super) outputs: BTreeMap<String, RecordedTensor>,
    pub(super) retrieval: Arrays,
}

impl GoldenParts {
    /// Sorts the tensors of a file, and of the inputs that it has as their seed.
    pub(super) fn sort(
        path: &Path,
        arrays: Arrays,
        metadata: &HashMap<String, String>,
    ) -> Result<Self, GoldenError> {
        let parts = Self::put_all(arrays, metadata);
        let parts = parts.map_err(|unreadable| unreadable.in_file(path))?;
        // Every tensor has taken its entry; the rest describes tensors that the file does not have.
        match parts.summaries.keys().next() {
            Some(name) => Err(lacks(&format!("`{name}`, although `summaries` has"), path)),
            None => Ok(parts),
        }
    }

    fn put_all(arrays: Arrays, metadata: &HashMap<String, String>) -> Result<Self, Unreadable> {
        let mut parts = Self {
            summaries: parsed(metadata, "summaries".to_owned())?.unwrap_or_default(),
            ..Self::default()
        };
        // Drawn inputs go the same way, so that they are validated like stored ones.
        for (name, array) in arrays.into_iter().chain(drawn_inputs(metadata)?) {
            parts.put(&name, array)?;
        }
        Ok(parts)
    }

    /// A name outside the format is an error.
    fn put(&mut self, name: &str, array: Array) -> Result<(), Unreadable> {
        // A part that nothing reads would look as if it were checked.
        if name.len() > LONGEST_NAME {
            let why = format!(
                "its name has {} bytes, and at most {LONGEST_NAME} are read",
                name.len()
            );
            return Err(Unreadable {
                part: name.to_owned(),
                why,
            });
        }
        let why = "a golden has no such part; record it again with this version".to_owned();
        let unknown = Unreadable {
            part: name.to_owned(),
            why,
        };
        let (number, rest) = match name
            .strip_prefix("case.")
            .and_then(|rest| rest.split_once('.'))
        {
            // The main case has no prefix. The other kinds are recorded for the main case only, and
            // would replace its parts.
            Some((number, rest)) => match number.parse() {
                Ok(number @ 1..) if IN_EVERY_CASE.iter().any(|kind| rest.starts_with(kind)) => {
                    (number, rest)
                }
                _ => return Err(unknown),
            },
            None => (0, name),
        };
        let Some((kind, part)) = rest.split_once('.') else {
            return Err(unknown);
        };
        // Masks and tokens are validated where they are read, because a check would index with
        // them.
        if kind == "input" {
            validate::input(name, &array)?;
        }
        if matches!(
            rest,
            "input.decoder_input_ids" | "tokens.start" | "tokens.prompt"
        ) {
            validate::tokens(name, &array)?;
        }
        let found = match (kind, part) {
            ("output", _) | ("trace", _) | ("tokens", "logits") => {
                // Only results have summaries: inputs have to be complete to be computed with.
                let result = match self.summaries.remove(name) {
                    Some(entry) => RecordedTensor::Summary(entry.of(name, array)?),
                    None => RecordedTensor::Whole(array),
                };
                self.put_result(kind, number, part, result)
            }
            _ => self.put_part(kind, number, part, array),
        };
        found.ok_or(unknown)
    }

    /// A result of the model. None for a name outside the format.
    fn put_result(
        &mut self,
        kind: &str,
        number: usize,
        name: &str,
        result: RecordedTensor,
    ) -> Option<()> {
        match kind {
            "output" => drop(self.case(number).outputs.insert(name.to_owned(), result)),
            "trace" => drop(self.trace.insert(TracePosition::parse(name)?, result)),
            "tokens" => self.step_logits = Some(result),
            _ => return None,
        }
        Some(())
    }

    /// None for a name outside the format.
    fn put_part(&mut self, kind: &str, number: usize, name: &str, array: Array) -> Option<()> {
        match kind {
            "input" => drop(self.case(number).inputs.insert(name.to_owned(), array)),
            "retrieval" => drop(self.case(number).retrieval.insert(name.to_owned(), array)),
            "router" => drop(self.probabilities.insert(name.parse().ok()?, array)),
            "routing" => drop(self.weights.insert(name.parse().ok()?, array)),
            "tokens" => drop(self.tokens.insert(name.to_owned(), array)),
            "margin" => drop(self.margins.insert(name.to_owned(), array)),
            "detection" => drop(self.detections.insert(name.to_owned(), array)),
            "image" => drop(self.images.insert(name.parse().ok()?, array)),
            "audio" => drop(self.audio.insert(name.parse().ok()?, array)),
            "graph" => self.put_graph(name, array)?,
            _ => return None,
        }
        Some(())
    }

    fn case(&mut self, number: usize) -> &mut CaseTensors {
        self.cases.entry(number).or_default()
    }

    fn put_graph(&mut self, name: &str, array: Array) -> Option<()> {
        let (index, name) = name.split_once('.')?;
        self.graphs
            .entry(index.parse().ok()?)
            .or_default()
            .insert(name.to_owned(), array);
        Some(())
    }
}

/// The JSON of a metadata entry, or `None` without it.
pub(super) fn parsed<T: DeserializeOwned>(
    metadata: &HashMap<String, String>,
    key: String,
) -> Result<Option<T>, Unreadable> {
    let Some(text) = metadata.get(&key) else {
        return Ok(None);
    };
    serde_json::from_str(text)
        .map(Some)
        .map_err(|error| Unreadable {
            part: key,
            why: error.to_string(),
        })
}

/// The inputs that the file has as their seed.
fn drawn_inputs(metadata: &HashMap<String, String>) -> Result<Arrays, Unreadable> {
    let inputs: Option<BTreeMap<String, DrawnInput>> = parsed(metadata, "drawn".to_owned())?;
    drawn::inputs(inputs.unwrap_or_default())
}

pub(super) fn lacks(part: &str, path: &Path) -> GoldenError {
    GoldenError::Lacks {
        path: path.to_owned(),
        part: part.to_owned(),
    }
}
