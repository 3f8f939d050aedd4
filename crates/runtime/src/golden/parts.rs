//! Sorting the tensors of a golden file by their names.

use super::{
    contents::{Case, Golden, Router},
    error::{GoldenError, Unreadable},
    noise::Noise,
    trace::TracePosition,
};
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};
use testgen_nn::array::{Array, Arrays};

/// Builds a golden from the tensors and the metadata of a file.
pub(super) fn assemble(path: &Path, arrays: Arrays, metadata: &HashMap<String, String>) -> Result<Golden, GoldenError> {
    let lacks = |part: &str| GoldenError::Lacks { path: path.to_owned(), part: part.to_owned() };
    let model_class = metadata.get("model_class").cloned().ok_or_else(|| lacks("metadata `model_class`"))?;
    let mut parts = Parts::default();
    for (name, array) in arrays {
        parts.put(&name, array);
    }
    let cases = cases(path, std::mem::take(&mut parts.cases), metadata)?;
    if cases.first().is_none_or(|case| case.name != "main") {
        return Err(lacks("`input.*` and `output.*`"));
    }
    let (target, mut source): (Arrays, Arrays) =
        cases[0].inputs.clone().into_iter().partition(|(name, _)| name.starts_with("decoder_"));
    if model_class == "RagTokenForGeneration" {
        // `generate` of this class passes the argument itself, whatever the configuration says.
        source.insert("do_marginalize".to_owned(), Array::integers([1], vec![1]));
    }
    Ok(Golden {
        noise: Noise::read(metadata).map_err(|unreadable| unreadable.in_file(path))?,
        pad_token_id: metadata.get("pad_token_id").and_then(|text| text.parse().ok()),
        model_class,
        cases,
        source,
        target,
        routers: routers(parts.probabilities, parts.weights),
        trace: parts.trace.into_iter().map(|(position, array)| (position.name(), array)).collect(),
        tokens: parts.tokens,
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
) -> Result<Vec<Case>, GoldenError> {
    let lacks = |part: String| GoldenError::Lacks { path: path.to_owned(), part };
    let case = |(number, CaseTensors { inputs, outputs, retrieval })| {
        let (name, prefix) = match number {
            0 => ("main".to_owned(), String::new()),
            _ => (format!("case.{number}"), format!("case.{number}.")),
        };
        if inputs.is_empty() {
            return Err(lacks(format!("`{prefix}input.*`")));
        }
        if outputs.is_empty() {
            return Err(lacks(format!("`{prefix}output.*`")));
        }
        let texts = texts(metadata, format!("{prefix}text")).map_err(|unreadable| unreadable.in_file(path))?;
        Ok(Case { name, inputs, outputs, texts, retrieval })
    };
    cases.into_iter().map(case).collect()
}

/// A layer without both arrays is left out.
fn routers(probabilities: BTreeMap<usize, Array>, mut weights: BTreeMap<usize, Array>) -> Vec<Router> {
    let router = |(layer, probabilities)| Some(Router { layer, probabilities, weights: weights.remove(&layer)? });
    probabilities.into_iter().filter_map(router).collect()
}

fn texts(metadata: &HashMap<String, String>, key: String) -> Result<Option<Vec<String>>, Unreadable> {
    let Some(text) = metadata.get(&key) else { return Ok(None) };
    serde_json::from_str(text).map(Some).map_err(|error| Unreadable { part: key, why: error.to_string() })
}

/// The tensors of a file by kind, numbered ones in their order.
#[derive(Default)]
struct Parts {
    cases: BTreeMap<usize, CaseTensors>,
    trace: BTreeMap<TracePosition, Array>,
    /// `router.<layer>`.
    probabilities: BTreeMap<usize, Array>,
    /// `routing.<layer>`.
    weights: BTreeMap<usize, Array>,
    tokens: Arrays,
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
    outputs: Arrays,
    retrieval: Arrays,
}

impl Parts {
    /// Ignores names outside the format, so that goldens of a newer recorder remain readable.
    fn put(&mut self, name: &str, array: Array) {
        let (number, rest) = match name.strip_prefix("case.").and_then(|rest| rest.split_once('.')) {
            Some((number, rest)) => match number.parse() {
                Ok(number) => (number, rest),
                Err(_) => return,
            },
            None => (0, name),
        };
        let Some((kind, name)) = rest.split_once('.') else { return };
        match kind {
            "input" => drop(self.case(number).inputs.insert(name.to_owned(), array)),
            "output" => drop(self.case(number).outputs.insert(name.to_owned(), array)),
            "retrieval" => drop(self.case(number).retrieval.insert(name.to_owned(), array)),
            "trace" => drop(TracePosition::parse(name).map(|position| self.trace.insert(position, array))),
            "router" => drop(name.parse().map(|layer| self.probabilities.insert(layer, array))),
            "routing" => drop(name.parse().map(|layer| self.weights.insert(layer, array))),
            "tokens" => drop(self.tokens.insert(name.to_owned(), array)),
            "margin" => drop(self.margins.insert(name.to_owned(), array)),
            "detection" => drop(self.detections.insert(name.to_owned(), array)),
            "image" => drop(name.parse().map(|index| self.images.insert(index, array))),
            "audio" => drop(name.parse().map(|index| self.audio.insert(index, array))),
            "graph" => self.put_graph(name, array),
            _ => {}
        }
    }

    fn case(&mut self, number: usize) -> &mut CaseTensors {
        self.cases.entry(number).or_default()
    }

    fn put_graph(&mut self, name: &str, array: Array) {
        let indexed = name.split_once('.').and_then(|(index, name)| Some((index.parse().ok()?, name)));
        if let Some((index, name)) = indexed {
            self.graphs.entry(index).or_default().insert(name.to_owned(), array);
        }
    }
}
