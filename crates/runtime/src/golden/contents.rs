//! Everything recorded for one checkpoint.

use super::{noise::Noise, recorded_tensor::RecordedTensor};
use serde_json::Value;
use std::collections::BTreeMap;
use testgen_nn::array::{Array, Arrays};

/// Everything recorded for one checkpoint.
#[derive(Debug, Clone)]
pub(crate) struct Golden {
    /// The transformers class that was run.
    pub(crate) model_class: String,
    /// The recorded calls: `main` first, then `case.1`, `case.2`, ...
    pub(crate) cases: Vec<RecordedCase>,
    /// `embed`, `layer.0`, `layer.1`, ... of the main case, in the order of computation; empty if
    /// none was recorded. For an encoder-decoder first the states of `encoder.`, then the states of
    /// `decoder.`.
    pub(crate) trace: Vec<(String, RecordedTensor)>,
    /// The arguments of the main case without those in `target`.
    pub(crate) source: Arrays,
    /// The arguments `decoder_*` of the main case, which the decoder of an encoder-decoder reads.
    pub(crate) target: Arrays,
    /// `router.<layer>` and `routing.<layer>` of the main case, by layer.
    pub(crate) routers: Vec<Router>,
    /// `tokens.*`, without the prefix and the logits: `prompt` [rows, seq], `greedy` [rows, new]. An
    /// encoder-decoder has no prompt: it generates from the main case's source, and `start` [rows,
    /// seq] is what its decoder begins with.
    pub(crate) tokens: Arrays,
    /// `tokens.logits`: the logits of each generated token, [rows, new, vocab].
    pub(crate) step_logits: Option<RecordedTensor>,
    /// `margin.*`, without the prefix: the difference between the two largest logits of each
    /// generated token.
    pub(crate) margins: Arrays,
    /// `detection.*`, without the prefix, for every query of the main case: `boxes` [batch,
    /// queries, 4], `scores` and `labels` [batch, queries].
    pub(crate) detections: Arrays,
    /// `image.<i>` [height, width, 3]; the main case's input are their pixel values.
    pub(crate) images: Vec<Array>,
    /// `audio.<i>` [samples]; the main case's input are their features.
    pub(crate) audio: Vec<Array>,
    /// `graph.<i>.*`, without the prefix; the main case's input are their paths and degrees.
    /// `num_nodes` [1], `edge_index` [2, edges], and optionally `node_feat` [nodes, features] and
    /// `edge_attr` [edges, features].
    pub(crate) graphs: Vec<Arrays>,
    /// The error of the reference itself in each precision.
    pub(crate) noise: Noise,
    /// The id that fills padding in the recorded inputs.
    pub(crate) pad_token_id: Option<i64>,
    /// The digest of the vocabulary that tokenized the texts, or `None` in goldens of earlier
    /// versions.
    pub(crate) vocabulary: Option<String>,
    /// For each field of `config.json` that has an effect in transformers, dotted in an object, a
    /// value that shows it, or `None` in goldens of earlier versions, and of large checkpoints.
    pub(crate) config_effects: Option<BTreeMap<String, Value>>,
}

/// One recorded call.
#[derive(Debug, Clone)]
pub(crate) struct RecordedCase {
    /// `main` or `case.<k>`.
    pub(crate) name: String,
    /// The arguments, by their names in transformers.
    pub(crate) inputs: Arrays,
    /// The results, by their names in transformers.
    pub(crate) outputs: BTreeMap<String, RecordedTensor>,
    /// The texts that were tokenized to `input_ids`, if the inputs were texts.
    pub(crate) texts: Option<Vec<String>>,
    /// `retrieval.*`, without the prefix: the output of the retriever, with the names of
    /// [`testgen_nn::forward::Forward::host_outputs`].
    pub(crate) retrieval: Arrays,
}

/// The output of the router of a layer.
#[derive(Debug, Clone)]
pub(crate) struct Router {
    /// The number of the layer.
    pub(crate) layer: usize,
    /// The probability of each expert, [batch, seq, experts].
    pub(crate) probabilities: Array,
    /// The weight of each chosen expert, [batch, seq, experts]; 0 for the others.
    pub(crate) weights: Array,
}

impl Router {
    /// The same router with `change` applied to both arrays.
    pub(crate) fn map(&self, change: impl Fn(&Array) -> Array) -> Self {
        Self {
            layer: self.layer,
            probabilities: change(&self.probabilities),
            weights: change(&self.weights),
        }
    }
}

impl RecordedCase {
    /// The name of a tensor in reports: with the name of the case, except in the main case.
    pub(crate) fn qualified(&self, name: &str) -> String {
        if self.name == "main" {
            name.to_owned()
        } else {
            format!("{}.{name}", self.name)
        }
    }
}

impl Golden {
    /// The case that trace, routers, images and other raw inputs belong to.
    pub(crate) fn main(&self) -> &RecordedCase {
        // `assembly::assemble` refuses a file whose first case is not the main one.
        &self.cases[0]
    }

    /// Whether transformers computed NaN in an output of this name.
    pub(crate) fn has_nan(&self, output: &str) -> bool {
        self.cases
            .iter()
            .filter_map(|case| case.outputs.get(output))
            .any(RecordedTensor::has_nan)
    }

    /// The first tokens of the decoder of an encoder-decoder: as recorded, else the first column of
    /// the main case, or `None` for other models.
    pub(crate) fn start_tokens(&self) -> Option<Array> {
        let recorded = self.tokens.get("start").cloned();
        recorded.or_else(|| Some(self.target.get("decoder_input_ids")?.narrow(1, 0, 1)))
    }

    /// The input of the first step of the recorded generation: the prompt with its image, or the
    /// main case's source and the start of the decoder.
    pub(crate) fn prompt(&self) -> Option<Arrays> {
        if let Some(start) = self.tokens.get("start") {
            let mut inputs = self.source.clone();
            inputs.insert("decoder_input_ids".to_owned(), start.clone());
            return Some(inputs);
        }
        let mut prompt =
            Arrays::from([("input_ids".to_owned(), self.tokens.get("prompt")?.clone())]);
        let pixels = self.tokens.get("pixel_values").cloned();
        prompt.extend(pixels.map(|pixels| ("pixel_values".to_owned(), pixels)));
        Some(prompt)
    }
}
