//! The labels of tokens.

use super::{
    LabelScore, LabelledToken, Request, Response,
    call::{Call, HandlerError},
    scores::{ranked, softmax},
};

const HINT: &str = "a token classifier, such as `BertForTokenClassification`";

pub(super) fn answer(call: &Call<'_>, request: Request) -> Result<Response, HandlerError> {
    let texts = call.texts(request)?;
    let (batch, forward) = call.read_texts(&texts)?;
    let logits = call.output(&forward, ("logits", 3), batch.arrays["input_ids"].shape(), HINT)?;
    let labels = |(index, text): (usize, &String)| {
        let row = logits.row(index).chunks_exact(logits.shape[2]).zip(&batch.spans[index]);
        let of_text = row.filter(|(_, span)| span.sequence.is_some());
        of_text
            .map(|(logits, span)| LabelledToken {
                text: text.get(span.start..span.end).unwrap_or_default().to_owned(),
                start: span.start,
                end: span.end,
                word: span.word,
                label: best(call, logits),
            })
            .collect()
    };
    Ok(Response::TokenLabels(texts.iter().enumerate().map(labels).collect()))
}

fn best(call: &Call<'_>, logits: &[f32]) -> LabelScore {
    let (index, score) = ranked(softmax(logits)).first().copied().unwrap_or_default();
    LabelScore { label: call.label(index), score }
}
