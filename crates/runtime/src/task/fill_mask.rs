//! The likeliest tokens for hidden words.

use super::{
    FilledMask, Request, Response,
    call::{HandlerError, TaskCall, rows},
    scores::{ranked, softmax},
};
use testgen_processing::tokenizer::Tokenizer;

const HINT: &str = "a masked language model, such as `BertForMaskedLM`";
/// How many candidates are given for each mask token.
// `top_k` of transformers' pipeline.
const CANDIDATES: usize = 5;

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let texts = call.texts(request)?;
    let tokenizer = call.tokenizer()?;
    let (mask_token, mask_id) = tokenizer
        .mask_token()
        .ok_or_else(|| HandlerError::BadInput {
            index: 0,
            problem: "cannot be filled: the tokenizer has no mask token".to_owned(),
        })?;
    let (batch, forward) = call.read_texts(&texts)?;
    let ids = &batch.arrays["input_ids"];
    let logits = call.output(&forward, ("logits", 3), ids.shape(), HINT)?;
    let mut filled = Vec::with_capacity(texts.len());
    for (index, ids) in rows(ids).enumerate() {
        let row = logits.row(index).chunks_exact(logits.shape[2]).zip(ids);
        let masks: Vec<Vec<FilledMask>> = row
            .filter(|(_, id)| **id == mask_id)
            .map(|(logits, _)| candidates(tokenizer, logits))
            .collect::<Result<_, _>>()?;
        if masks.is_empty() {
            return Err(HandlerError::BadInput {
                index,
                problem: format!("has no `{mask_token}`; write it where a word is hidden"),
            });
        }
        filled.push(masks);
    }
    Ok(Response::FilledMasks(filled))
}

fn candidates(tokenizer: &Tokenizer, logits: &[f32]) -> Result<Vec<FilledMask>, HandlerError> {
    // As many as `FillMaskPipeline` returns by default.
    let best = ranked(softmax(logits)).into_iter().take(CANDIDATES);
    best.map(|(id, score)| {
        let id = id as i64;
        Ok(FilledMask {
            id,
            // With special tokens, as `FillMaskPipeline` decodes `token_str`.
            text: tokenizer.decode(&[id], false)?,
            score,
        })
    })
    .collect()
}
