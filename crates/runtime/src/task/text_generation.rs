//! Continuations of prompts.

use super::{
    GeneratedText, Request, Response,
    call::{HandlerError, TaskCall},
};
use testgen_nn::array::Arrays;
use testgen_processing::{
    generation::{GenerationControls, GenerationSettings, generate},
    tokenizer::{PaddingSide, TextInput, TokenizeOptions},
};

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let (prompts, controls) = call.prompts(request)?;
    continue_prompts(call, &prompts, Arrays::new(), &controls)
}

/// Continues `prompts`; the model reads `beside` together with them.
pub(super) fn continue_prompts(
    call: &TaskCall<'_>,
    prompts: &[String],
    beside: Arrays,
    controls: &GenerationControls,
) -> Result<Response, HandlerError> {
    let tokenizer = call.tokenizer()?;
    let defaults = call.model.processor().generation();
    let inputs: Vec<TextInput<'_>> = prompts
        .iter()
        .map(|prompt| (prompt.as_str(), None))
        .collect();
    // Left, because new tokens are appended on the right, where padding would separate them from
    // the prompt.
    let options = TokenizeOptions {
        padding_side: Some(PaddingSide::Left),
        ..TokenizeOptions::default()
    };
    let mut batch = call.tokenize(&inputs, options)?;
    if let Some(index) = batch.spans.iter().position(|row| row.is_empty()) {
        return Err(empty_prompt(index));
    }
    if let Some(index) =
        super::call::rows(&batch.arrays["attention_mask"]).position(|mask| !mask.contains(&1))
    {
        return Err(empty_prompt(index));
    }
    let settings =
        GenerationSettings::new(controls, defaults, batch.arrays["input_ids"].shape()[1])?;
    batch.arrays.extend(beside);
    let mut session = call.model.session()?;
    let rows = generate(session.as_mut(), &batch.arrays, &settings, false)?;
    Ok(Response::Generations(
        rows.into_iter()
            .map(|row| {
                Ok(GeneratedText {
                    text: tokenizer.decode(&row.ids, true)?,
                    ids: row.ids,
                    finish: row.finish,
                })
            })
            .collect::<Result<_, HandlerError>>()?,
    ))
}

fn empty_prompt(index: usize) -> HandlerError {
    HandlerError::BadInput {
        index,
        problem: "is empty and the tokenizer adds no start token; write at least one word"
            .to_owned(),
    }
}
