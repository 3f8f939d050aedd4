//! Builds a golden from its sorted parts; a part that is missing is an error.

use super::{
    contents::{Golden, RecordedCase, Router},
    error::GoldenError,
    noise::Noise,
    parts::{CaseTensors, GoldenParts, lacks, parsed},
    recorded_tensor::RecordedTensor,
    validate,
};
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};
use testgen_nn::array::{Array, Arrays};

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
    let mut parts = GoldenParts::sort(path, arrays, metadata)?;
    validate::graphs(&parts.graphs).map_err(|unreadable| unreadable.in_file(path))?;
    let cases = cases(path, std::mem::take(&mut parts.cases), metadata)?;
    // Cases are in the order of their numbers, and the main one has 0.
    let Some(main) = cases.first().filter(|case| case.name == "main") else {
        return Err(lacks("`input.*` and `output.*`", path));
    };
    let (target, source) = arguments(&model_class, main);
    let noise =
        // Validated against the cases, because noise of an output that does not exist would never
        // be applied.
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

/// The inputs of the main case that the decoder takes, and all other arguments of `generate`.
fn arguments(model_class: &str, main: &RecordedCase) -> (Arrays, Arrays) {
    let (target, mut source): (Arrays, Arrays) = main
        .inputs
        .clone()
        .into_iter()
        .partition(|(name, _)| name.starts_with("decoder_"));
    if model_class == "RagTokenForGeneration" {
        // `generate` of this class passes the argument itself, whatever the configuration says.
        source.insert("do_marginalize".to_owned(), Array::integers([1], vec![1]));
    }
    (target, source)
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
    // The main case has no prefix in the file, so that its number must not appear in messages.
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

/// The routers by layer; each must have both arrays.
fn routers(
    path: &Path,
    probabilities: BTreeMap<usize, Array>,
    mut weights: BTreeMap<usize, Array>,
) -> Result<Vec<Router>, GoldenError> {
    let routers: Vec<Router> = probabilities
        .into_iter()
        .map(|(layer, probabilities)| {
            let weights = weights
                .remove(&layer)
                // One of both arrays alone would never be compared.
                .ok_or_else(|| lacks_half("routing", "router", layer, path))?;
            Ok(Router {
                layer,
                probabilities,
                weights,
            })
        })
        .collect::<Result<_, GoldenError>>()?;
    // Every layer with probabilities has taken its weights; one that is left has no probabilities.
    match weights.keys().next() {
        Some(layer) => Err(lacks_half("router", "routing", *layer, path)),
        None => Ok(routers),
    }
}

fn lacks_half(kind: &str, other: &str, layer: usize, path: &Path) -> GoldenError {
    lacks(
        &format!("`{kind}.{layer}`, although it has `{other}.{layer}`"),
        path,
    )
}
