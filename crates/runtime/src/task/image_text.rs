//! Images with texts: the score of each pair, and the vectors that it is computed from.

use super::{
    ImageTextEmbedding, LabelScore, Request, Response,
    call::{HandlerError, TaskCall},
    scores::{ranked, sigmoid, softmax},
    text_embedding::vector,
};
use testgen_nn::forward::Forward;
use testgen_types::ScoreFunction;

const HINT: &str = "a class such as `CLIPModel`";

/// As the pipeline for zero-shot image classification: the texts compete for an image, unless the
/// model was trained to score every pair by itself.
pub(super) fn answer_similarity(
    call: &TaskCall<'_>,
    request: Request,
) -> Result<Response, HandlerError> {
    let ReadPairs {
        images,
        texts,
        forward,
    } = read(call, request)?;
    let logits = call.output(
        &forward,
        ("logits_per_image", 2),
        &[images, texts.len()],
        HINT,
    )?;
    let score = match call.model.model_type().scores() {
        ScoreFunction::Softmax => softmax,
        ScoreFunction::Sigmoid => sigmoid,
    };
    Ok(Response::Labels(
        (0..images)
            .map(|index| {
                let ranked = ranked(score(logits.row(index))).into_iter();
                ranked
                    .map(|(text, score)| LabelScore {
                        label: texts[text].clone(),
                        score,
                    })
                    .collect()
            })
            .collect(),
    ))
}

pub(super) fn answer_embedding(
    call: &TaskCall<'_>,
    request: Request,
) -> Result<Response, HandlerError> {
    let ReadPairs {
        images,
        texts,
        forward,
    } = read(call, request)?;
    let of_images = call.output(&forward, ("image_embeds", 2), &[images], HINT)?;
    let of_texts = call.output(&forward, ("text_embeds", 2), &[texts.len()], HINT)?;
    Ok(Response::ImageTextEmbeddings(ImageTextEmbedding {
        images: (0..images)
            .map(|index| vector(of_images.row(index).to_vec()))
            .collect(),
        texts: (0..texts.len())
            .map(|index| vector(of_texts.row(index).to_vec()))
            .collect(),
    }))
}

/// A request as the model read it.
struct ReadPairs {
    /// The number of images.
    images: usize,
    texts: Vec<String>,
    forward: Forward,
}

fn read(call: &TaskCall<'_>, request: Request) -> Result<ReadPairs, HandlerError> {
    let (images, texts) = call.images_with_texts(request)?;
    let mut inputs = call.image_processor()?.process(&images)?;
    let full = call.model.capabilities().full_text_length();
    inputs.extend(call.tokenize_texts(&texts, full)?.arrays);
    if full.is_some() {
        inputs.remove("attention_mask"); // such a model was trained to see padding
    }
    Ok(ReadPairs {
        images: images.len(),
        texts,
        forward: call.model.forward(&inputs)?,
    })
}
