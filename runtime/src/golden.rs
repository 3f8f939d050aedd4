//! What transformers computed for a checkpoint: `golden.safetensors`, read whole.
//!
//! Owns: the names and metadata of the golden format. Does not own: what a check makes of them. Only `input.*`,
//! `output.*` and `model_class` are required; everything else may be missing.

mod noise;
mod tensors;

pub(crate) use noise::Noise;
pub(crate) use tensors::read_file;

use crate::{Array, Arrays};
use safetensors::SafeTensors;
use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

/// The golden's file name in a checkpoint directory.
pub(crate) const FILE: &str = "golden.safetensors";

/// Everything recorded for one checkpoint.
#[derive(Debug, Clone)]
pub(crate) struct Golden {
    /// The transformers class that was run.
    pub(crate) model_class: String,
    /// The recorded calls: `main` first, then `case.1`, `case.2`, ...
    pub(crate) cases: Vec<Case>,
    /// `embed`, `layer.0`, `layer.1`, ... of the main case, in this order; empty when none was recorded. Of an
    /// encoder-decoder first those of `encoder.`, then those of `decoder.`.
    pub(crate) trace: Vec<(String, Array)>,
    /// The arguments of the main case that an encoder reads; of other models all of them.
    pub(crate) source: Arrays,
    /// Those that a decoder beside an encoder reads, `decoder_*`.
    pub(crate) target: Arrays,
    /// `router.<layer>` and `routing.<layer>` of the main case, by layer.
    pub(crate) routers: Vec<(usize, Router)>,
    /// `tokens.*`, without the prefix: `prompt` [rows, seq], `greedy` [rows, new], `logits` [rows, new, vocab]. The prompt
    /// of an encoder-decoder is the main case's source, and `start` [rows, seq] what its decoder begins with.
    pub(crate) tokens: Arrays,
    /// `margin.*`, without the prefix.
    pub(crate) margins: Arrays,
    /// `detection.*`, without the prefix, of every query of the main case: `boxes` [batch, queries, 4], `scores` and `labels`
    /// [batch, queries].
    pub(crate) detections: Arrays,
    /// `image.<i>` [height, width, 3], whose pixel values are the main case's input.
    pub(crate) images: Vec<Array>,
    /// `audio.<i>` [samples], whose features are the main case's input.
    pub(crate) audio: Vec<Array>,
    /// `graph.<i>.*`, without the prefix, whose paths and degrees are the main case's input: `num_nodes` [1], `edge_index`
    /// [2, edges] and, where something is known of them, `node_feat` [nodes, features] and `edge_attr` [edges, features].
    pub(crate) graphs: Vec<Arrays>,
    /// The reference's own error in each type.
    pub(crate) noise: Noise,
    /// The id that fills padding in the recorded inputs.
    pub(crate) pad_token_id: Option<i64>,
}

/// One recorded call.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// `main` or `case.<k>`.
    pub(crate) name: String,
    /// The arguments, by their names in transformers.
    pub(crate) inputs: Arrays,
    /// The results, by their names in transformers.
    pub(crate) outputs: Arrays,
    /// The texts that became `input_ids`, where the inputs were made of texts.
    pub(crate) texts: Option<Vec<String>>,
    /// `retrieval.*`, without the prefix: what a retriever decided, by the names of [`crate::Forward::decisions`].
    pub(crate) retrieval: Arrays,
}

/// Why a golden cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GoldenError {
    /// The checkpoint has no golden.
    #[error("`{}` does not exist; record it with `testgen record`", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not safetensors.
    #[error("`{}` is not a safetensors file: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        source: safetensors::SafeTensorError,
    },
    /// A required part is not there.
    #[error("`{}` has no {part}", path.display())]
    Lacks {
        /// The file.
        path: PathBuf,
        /// The tensor or metadata that is required.
        part: String,
    },
    /// A part is there and cannot be read.
    #[error("`{part}` of `{}` cannot be read: {why}", path.display())]
    Part {
        /// The file.
        path: PathBuf,
        /// The tensor or metadata.
        part: String,
        /// What is wrong with it.
        why: String,
    },
}

/// What the router of a layer decided, [batch, seq, experts].
#[derive(Debug, Clone)]
pub(crate) struct Router {
    /// How likely each expert is.
    pub(crate) probabilities: Array,
    /// What each chosen expert counts; 0 for the others.
    pub(crate) weights: Array,
}

impl Case {
    /// How a tensor of this case is told: by its name alone in the main case.
    pub(crate) fn tell(&self, name: &str) -> String {
        if self.name == "main" { name.to_owned() } else { format!("{}.{name}", self.name) }
    }
}

impl Golden {
    /// Reads the golden of the checkpoint in `directory`.
    pub(crate) fn read(directory: &Path) -> Result<Self, GoldenError> {
        let path = directory.join(FILE);
        let bytes = std::fs::read(&path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => GoldenError::Missing { path: path.clone() },
            _ => GoldenError::Read { path: path.clone(), source },
        })?;
        let format = |source| GoldenError::Format { path: path.clone(), source };
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(format)?;
        let metadata = header.metadata().clone().unwrap_or_default();
        let arrays = tensors::read(&SafeTensors::deserialize(&bytes).map_err(format)?)
            .map_err(|(part, why)| GoldenError::Part { path: path.clone(), part, why })?;
        Self::assemble(&path, arrays, &metadata)
    }

    /// The case that has the trace, the texts and the images.
    pub(crate) fn main(&self) -> &Case {
        &self.cases[0]
    }

    /// What the decoder beside an encoder begins with: as recorded, else the first column of the main case; none for a
    /// model without an encoder.
    pub(crate) fn start_tokens(&self) -> Option<Array> {
        let recorded = self.tokens.get("start").cloned();
        recorded.or_else(|| Some(self.target.get("decoder_input_ids")?.narrow(1, 0, 1)))
    }

    /// What the first step of the recorded generation reads: the prompt and what stands beside it, or the main case's source
    /// and the start of the decoder.
    pub(crate) fn prompt(&self) -> Option<Arrays> {
        if let Some(start) = self.tokens.get("start") {
            let mut inputs = self.source.clone();
            inputs.insert("decoder_input_ids".to_owned(), start.clone());
            return Some(inputs);
        }
        let mut prompt = Arrays::from([("input_ids".to_owned(), self.tokens.get("prompt")?.clone())]);
        let pixels = self.tokens.get("pixel_values").cloned();
        prompt.extend(pixels.map(|pixels| ("pixel_values".to_owned(), pixels)));
        Some(prompt)
    }

    fn assemble(path: &Path, arrays: Arrays, metadata: &HashMap<String, String>) -> Result<Self, GoldenError> {
        let lacks = |part: &str| GoldenError::Lacks { path: path.to_owned(), part: part.to_owned() };
        let unreadable = |(part, why)| GoldenError::Part { path: path.to_owned(), part, why };
        let model_class = metadata.get("model_class").cloned().ok_or_else(|| lacks("metadata `model_class`"))?;
        let mut parts = Parts::default();
        for (name, array) in arrays {
            parts.put(&name, array);
        }
        let mut cases = Vec::new();
        for (number, [inputs, outputs, retrieval]) in parts.cases {
            let (name, prefix) = case_names(number);
            if inputs.is_empty() {
                return Err(lacks(&format!("`{prefix}input.*`")));
            }
            if outputs.is_empty() {
                return Err(lacks(&format!("`{prefix}output.*`")));
            }
            let texts = texts(metadata, &format!("{prefix}text")).map_err(unreadable)?;
            cases.push(Case { name, inputs, outputs, texts, retrieval });
        }
        if cases.first().is_none_or(|case| case.name != "main") {
            return Err(lacks("`input.*` and `output.*`"));
        }
        let pad_token_id = metadata.get("pad_token_id").and_then(|text| text.parse().ok());
        let noise = Noise::read(metadata).map_err(unreadable)?;
        let trace = parts.trace.into_iter().map(|(place, array)| (trace_name(place), array)).collect();
        let [images, audio] = [parts.images, parts.audio].map(|parts| parts.into_values().collect());
        let graphs = parts.graphs.into_values().collect();
        let mut routings = parts.routings;
        let pair = |(layer, probabilities)| Some((layer, Router { probabilities, weights: routings.remove(&layer)? }));
        let routers = parts.routers.into_iter().filter_map(pair).collect();
        let (tokens, margins, detections) = (parts.tokens, parts.margins, parts.detections);
        let (target, mut source): (Arrays, Arrays) =
            cases[0].inputs.clone().into_iter().partition(|(name, _)| name.starts_with("decoder_"));
        if model_class == "RagTokenForGeneration" {
            // As its `generate` asks for, whatever the configuration says.
            source.insert("do_marginalize".to_owned(), Array::integers([1], vec![1]));
        }
        Ok(Self {
            model_class,
            cases,
            trace,
            source,
            target,
            routers,
            tokens,
            margins,
            detections,
            images,
            audio,
            graphs,
            noise,
            pad_token_id,
        })
    }
}

/// The tensors of a file, sorted by what they are.
#[derive(Default)]
struct Parts {
    /// Inputs, outputs and what a retriever decided.
    cases: BTreeMap<usize, [Arrays; 3]>,
    trace: BTreeMap<TracePlace, Array>,
    routers: BTreeMap<usize, Array>,
    routings: BTreeMap<usize, Array>,
    tokens: Arrays,
    margins: Arrays,
    detections: Arrays,
    images: BTreeMap<usize, Array>,
    audio: BTreeMap<usize, Array>,
    graphs: BTreeMap<usize, Arrays>,
}

impl Parts {
    /// Names outside the format are left alone: a later recorder may add some.
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
            "input" => drop(self.cases.entry(number).or_default()[0].insert(name.to_owned(), array)),
            "output" => drop(self.cases.entry(number).or_default()[1].insert(name.to_owned(), array)),
            "retrieval" => drop(self.cases.entry(number).or_default()[2].insert(name.to_owned(), array)),
            "trace" => drop(trace_place(name).map(|place| self.trace.insert(place, array))),
            "router" => drop(name.parse().map(|layer| self.routers.insert(layer, array))),
            "routing" => drop(name.parse().map(|layer| self.routings.insert(layer, array))),
            "tokens" => drop(self.tokens.insert(name.to_owned(), array)),
            "margin" => drop(self.margins.insert(name.to_owned(), array)),
            "detection" => drop(self.detections.insert(name.to_owned(), array)),
            "image" => drop(name.parse().map(|index| self.images.insert(index, array))),
            "audio" => drop(name.parse().map(|index| self.audio.insert(index, array))),
            "graph" => self.put_graph(name, array),
            _ => {}
        }
    }

    fn put_graph(&mut self, name: &str, array: Array) {
        let place = name.split_once('.').and_then(|(index, name)| Some((index.parse().ok()?, name)));
        if let Some((index, name)) = place {
            self.graphs.entry(index).or_default().insert(name.to_owned(), array);
        }
    }
}

fn case_names(number: usize) -> (String, String) {
    if number == 0 { ("main".to_owned(), String::new()) } else { (format!("case.{number}"), format!("case.{number}.")) }
}

/// The stack, by its number in [`STACKS`], and in it 0 for the embedding, `i + 1` for layer `i`.
type TracePlace = (usize, usize);

/// What the names of traces begin with.
const STACKS: [&str; 4] = ["", "question.", "encoder.", "decoder."];

fn trace_place(name: &str) -> Option<TracePlace> {
    let (stack, rest) = STACKS
        .iter()
        .enumerate()
        .rev()
        .find_map(|(stack, prefix)| name.strip_prefix(prefix).map(|rest| (stack, rest)))?;
    let place = match rest {
        "embed" => 0,
        _ => rest.strip_prefix("layer.")?.parse::<usize>().ok()? + 1,
    };
    Some((stack, place))
}

fn trace_name((stack, place): TracePlace) -> String {
    let prefix = STACKS[stack];
    if place == 0 { format!("{prefix}embed") } else { format!("{prefix}layer.{}", place - 1) }
}

fn texts(metadata: &HashMap<String, String>, key: &str) -> Result<Option<Vec<String>>, (String, String)> {
    let Some(text) = metadata.get(key) else { return Ok(None) };
    serde_json::from_str(text).map(Some).map_err(|error| (key.to_owned(), error.to_string()))
}

#[cfg(test)]
mod tests;
