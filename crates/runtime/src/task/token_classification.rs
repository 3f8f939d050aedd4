//! The labels of tokens.

use super::{
    LabelScore, LabelledToken, Request, Response,
    call::{HandlerError, TaskCall},
    scores::{ranked, softmax},
};

const HINT: &str = "a token classifier, such as `BertForTokenClassification`";

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let texts = call.texts(request)?;
    let (batch, forward) = call.read_texts(&texts)?;
    let shape = batch.arrays["input_ids"].shape();
    // A discriminator has one logit for each token, and no dimension for labels.
    let discriminates = forward
        .outputs
        .get("logits")
        .is_some_and(|logits| logits.shape() == shape);
    let logits = call.output(
        &forward,
        ("logits", if discriminates { 2 } else { 3 }),
        shape,
        HINT,
    )?;
    let width = if discriminates { 1 } else { logits.shape[2] };
    Ok(Response::TokenLabels(
        texts
            .iter()
            .enumerate()
            .map(|(index, text)| {
                let row = logits
                    .row(index)
                    .chunks_exact(width)
                    .zip(&batch.spans[index]);
                // Special tokens and padding belong to no sequence.
                let of_text = row.filter(|(_, span)| span.sequence.is_some());
                of_text
                    .map(|(logits, span)| LabelledToken {
                        text: text
                            .get(span.start..span.end)
                            .unwrap_or_default()
                            .to_owned(),
                        start: span.start,
                        end: span.end,
                        word: span.word,
                        label: best(call, logits),
                    })
                    .collect()
            })
            .collect(),
    ))
}

/// A single logit, of ELECTRA's discriminator, is the logit of the second label: the token was
/// replaced.
fn best(call: &TaskCall<'_>, logits: &[f32]) -> LabelScore {
    let scores = match *logits {
        [replaced] => softmax(&[0.0, replaced]),
        _ => softmax(logits),
    };
    let (index, score) = ranked(scores).first().copied().unwrap_or_default();
    LabelScore {
        label: call.label(index),
        score,
    }
}
