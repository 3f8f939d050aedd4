//! Sorting the tensors of a golden file by their names.

use super::{
    contents::{Golden, RecordedCase, Router},
    drawn::{self, DrawnInput},
    error::{GoldenError, Unreadable},
    noise::Noise,
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

/// Builds a golden from the tensors and the metadata of a file.
pub(super) fn assemble(
    path: &Path,
    arrays: Arrays,
    metadata: &HashMap<String, String>,
) -> Result<Golden, GoldenError> {
    let model_class = metadata
        .get("model_class")
        .cloned()
        .ok_or_else(|| lacks("metadata `model_class`", path))?;
    let in_file = |unreadable: Unreadable| unreadable.in_file(path);
    let mut parts = GoldenParts {
        summaries: parsed(metadata, "summaries".to_owned())
            .map_err(in_file)?
            .unwrap_or_default(),
        ..GoldenParts::default()
    };
    // Drawn inputs go the same way, so that they are validated like stored ones.
    for (name, array) in arrays
        .into_iter()
        .chain(drawn_inputs(metadata).map_err(in_file)?)
    {
        parts
            .put(&name, array)
            .map_err(|unreadable| unreadable.in_file(path))?;
    }
    // Every tensor has taken its entry; the rest describes tensors that the file does not have.
    if let Some(name) = parts.summaries.keys().next() {
        return Err(lacks(&format!("`{name}`, although `summaries` has"), path));
    }
    validate::graphs(&parts.graphs).map_err(|unreadable| unreadable.in_file(path))?;
    let cases = cases(path, std::mem::take(&mut parts.cases), metadata)?;
    // Cases are in the order of their numbers, and the main one has 0.
    if cases.first().is_none_or(|case| case.name != "main") {
        return Err(lacks("`input.*` and `output.*`", path));
    }
    let (target, mut source): (Arrays, Arrays) = cases[0]
        .inputs
        .clone()
        .into_iter()
        .partition(|(name, _)| name.starts_with("decoder_"));
    if model_class == "RagTokenForGeneration" {
        // `generate` of this class passes the argument itself, whatever the configuration says.
        source.insert("do_marginalize".to_owned(), Array::integers([1], vec![1]));
    }
    let noise =
        Noise::read(metadata).and_then(|noise| validate::noise(&noise, &cases).map(|()| noise));
    Ok(Golden {
        noise: noise.map_err(|unreadable| unreadable.in_file(path))?,
        pad_token_id: metadata
            .get("pad_token_id")
            .and_then(|text| text.parse().ok()),
        vocabulary: metadata.get("vocabulary.sha256").cloned(),
        config_effects: parsed(metadata, "config.effects".to_owned())
            .map_err(|unreadable| unreadable.in_file(path))?,
        model_class,
        cases,
        source,
        target,
        routers: routers(path, parts.probabilities, parts.weights)?,
        trace: parts
            .trace
            .into_iter()
            .map(|(position, array)| (position.name(), array))
            .collect(),
        tokens: parts.tokens,
        step_logits: parts.step_logits,
        margins: parts.margins,
        detections: parts.detections,
        images: parts.images.into_values().collect(),
        audio: parts.audio.into_values().collect(),
        graphs: parts.graphs.into_values().collect(),
    })
}

/// The cases in order; each must have inputs and outputs.
fn cases(
    path: &Path,
    cases: BTreeMap<usize, CaseTensors>,
    metadata: &HashMap<String, String>,
) -> Result<Vec<RecordedCase>, GoldenError> {
    cases
        .into_iter()
        .map(|(number, tensors)| recorded_case(path, number, tensors, metadata))
        .collect()
}

fn recorded_case(
    path: &Path,
    number: usize,
    tensors: CaseTensors,
    metadata: &HashMap<String, String>,
) -> Result<RecordedCase, GoldenError> {
    let (name, prefix) = match number {
        0 => ("main".to_owned(), String::new()),
        _ => (format!("case.{number}"), format!("case.{number}.")),
    };
    if tensors.inputs.is_empty() {
        return Err(lacks(&format!("`{prefix}input.*`"), path));
    }
    // Without elements there is nothing to compare, and every device would agree.
    if !tensors.outputs.values().any(has_elements) {
        return Err(lacks(&format!("`{prefix}output.*` with elements"), path));
    }
    let texts =
        parsed(metadata, format!("{prefix}text")).map_err(|unreadable| unreadable.in_file(path))?;
    Ok(RecordedCase {
        name,
        inputs: tensors.inputs,
        outputs: tensors.outputs,
        texts,
        retrieval: tensors.retrieval,
    })
}

fn has_elements(result: &RecordedTensor) -> bool {
    !result.shape().contains(&0)
}

/// The routers by layer; each must have both arrays, because one alone would never be compared.
fn routers(
    path: &Path,
    probabilities: BTreeMap<usize, Array>,
    mut weights: BTreeMap<usize, Array>,
) -> Result<Vec<Router>, GoldenError> {
    let lacking = |kind: &str, other: &str, layer: usize| {
        lacks(
            &format!("`{kind}.{layer}`, although it has `{other}.{layer}`"),
            path,
        )
    };
    let routers: Vec<Router> = probabilities
        .into_iter()
        .map(|(layer, probabilities)| {
            let weights = weights
                .remove(&layer)
                .ok_or_else(|| lacking("routing", "router", layer))?;
            Ok(Router {
                layer,
                probabilities,
                weights,
            })
        })
        .collect::<Result<_, GoldenError>>()?;
    match weights.keys().next() {
        Some(layer) => Err(lacking("router", "routing", *layer)),
        None => Ok(routers),
    }
}

/// The JSON of a metadata entry, or `None` without it.
fn parsed<T: DeserializeOwned>(
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

/// The tensors of a file by kind, numbered ones in their order.
#[derive(Default)]
struct GoldenParts {
    /// Of results that the file has as their summary and that were not read yet.
    summaries: BTreeMap<String, SummaryEntry>,
    cases: BTreeMap<usize, CaseTensors>,
    trace: BTreeMap<TracePosition, RecordedTensor>,
    /// `router.<layer>`.
    probabilities: BTreeMap<usize, Array>,
    /// `routing.<layer>`.
    weights: BTreeMap<usize, Array>,
    tokens: Arrays,
    step_logits: Option<RecordedTensor>,
    margins: Arrays,
    detections: Arrays,
    images: BTreeMap<usize, Array>,
    audio: BTreeMap<usize, Array>,
    graphs: BTreeMap<usize, Arrays>,
}

/// The tensors of one case.
#[derive(Default)]
struct CaseTensors {
    inputs: Arrays,
    outputs: BTreeMap<String, RecordedTensor>,
    retrieval: Arrays,
}

impl GoldenParts {
    /// A name outside the format is an error: a part that nothing reads would look as if it were
    /// checked.
    fn put(&mut self, name: &str, array: Array) -> Result<(), Unreadable> {
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

fn lacks(part: &str, path: &Path) -> GoldenError {
    GoldenError::Lacks {
        path: path.to_owned(),
        part: part.to_owned(),
    }
}
