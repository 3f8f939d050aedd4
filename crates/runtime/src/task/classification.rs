//! The labels of texts, of images, of videos, of recordings and of graphs.

use super::{
    LabelScore, Request, Response,
    call::{HandlerError, TaskCall},
    scores::{of_labels, ranked},
    text_embedding::vector,
};
use serde_json::Value;
use testgen_nn::forward::Forward;

pub(super) fn answer_texts(
    call: &TaskCall<'_>,
    request: Request,
) -> Result<Response, HandlerError> {
    let texts = call.texts(request)?;
    let (_, forward) = call.read_texts(&texts)?;
    labels(
        call,
        &forward,
        texts.len(),
        "a classifier, such as `BertForSequenceClassification`",
    )
}

pub(super) fn answer_images(
    call: &TaskCall<'_>,
    request: Request,
) -> Result<Response, HandlerError> {
    let (images, forward) = call.read_images(request)?;
    labels(
        call,
        &forward,
        images.len(),
        "a classifier, such as `ViTForImageClassification`",
    )
}

/// Follows `VideoClassificationPipeline`: the image processor reads each frame.
pub(super) fn answer_videos(
    call: &TaskCall<'_>,
    request: Request,
) -> Result<Response, HandlerError> {
    let videos = call.videos(request)?;
    let inputs = call.image_processor()?.process_videos(&videos)?;
    labels(
        call,
        &call.model.forward(&inputs)?,
        videos.len(),
        "a classifier, such as `VideoMAEForVideoClassification`",
    )
}

pub(super) fn answer_recordings(
    call: &TaskCall<'_>,
    request: Request,
) -> Result<Response, HandlerError> {
    let (recordings, _) = call.speech(request)?;
    let forward = call
        .model
        .forward(&call.feature_extractor()?.process(&recordings)?)?;
    labels(
        call,
        &forward,
        recordings.len(),
        "a classifier, such as `Wav2Vec2ForSequenceClassification`",
    )
}

/// Labels, or of a model with one output the number that it is trained for.
pub(super) fn answer_graphs(
    call: &TaskCall<'_>,
    request: Request,
) -> Result<Response, HandlerError> {
    let graphs = call.graphs(request)?;
    let forward = call
        .model
        .forward(&call.graph_collator()?.process(&graphs)?)?;
    let hint = "a class such as `GraphormerForGraphClassification`";
    let logits = call.output(&forward, ("logits", 2), &[graphs.len()], hint)?;
    if logits.shape[1] == 1 {
        return Ok(Response::Regressions(
            (0..graphs.len())
                .map(|index| vector(logits.row(index).to_vec()))
                .collect(),
        ));
    }
    labels(call, &forward, graphs.len(), hint)
}

fn labels(
    call: &TaskCall<'_>,
    forward: &Forward,
    batch: usize,
    hint: &'static str,
) -> Result<Response, HandlerError> {
    let logits = call.output(forward, ("logits", 2), &[batch], hint)?;
    let problem_type = call
        .model
        .config()
        .get("problem_type")
        .and_then(Value::as_str);
    Ok(Response::Labels(
        (0..batch)
            .map(|index| {
                let ranked = ranked(of_labels(problem_type, logits.row(index))).into_iter();
                ranked
                    .map(|(label, score)| LabelScore {
                        label: call.label(label),
                        score,
                    })
                    .collect()
            })
            .collect(),
    ))
}
