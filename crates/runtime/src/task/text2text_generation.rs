//! Texts made of texts: answers, summaries, translations.

use super::{
    GeneratedText, Request, Response,
    call::{HandlerError, TaskCall},
};
use testgen_nn::array::{Array, Arrays};
use testgen_processing::{
    generation::{Continuation, GenerationDefaults, GenerationSettings, generate},
    tokenizer::{TextInput, TokenizeOptions},
};

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let (texts, controls) = call.prompts(request)?;
    let tokenizer = call.tokenizer()?;
    let defaults = call.model.processor().generation();
    let inputs: Vec<TextInput<'_>> = texts.iter().map(|text| (text.as_str(), None)).collect();
    let mut arrays = call.tokenize(&inputs, TokenizeOptions::default())?.arrays;
    arrays.insert(
        "decoder_input_ids".to_owned(),
        start(call, defaults, texts.len())?,
    );
    // Lengths count the tokens of the decoder, which begins with one.
    let settings = GenerationSettings::new(&controls, defaults, 1)?;
    let rows = continued(call, &arrays, &settings)?;
    Ok(Response::Generations(
        rows.into_iter()
            .map(|row| {
                Ok(GeneratedText {
                    text: tokenizer.decode_target(&row.ids)?,
                    ids: row.ids,
                    finish: row.finish,
                })
            })
            .collect::<Result<_, HandlerError>>()?,
    ))
}

/// The first token of the decoder in every row.
fn start(
    call: &TaskCall<'_>,
    defaults: &GenerationDefaults,
    rows: usize,
) -> Result<Array, HandlerError> {
    let needed = "a `decoder_start_token_id` in `generation_config.json` or `config.json`";
    let start = defaults.decoder_start().ok_or_else(|| call.lacks(needed))?;
    Ok(Array::integers([rows, 1], vec![start; rows]))
}

fn continued(
    call: &TaskCall<'_>,
    prompt: &Arrays,
    settings: &GenerationSettings,
) -> Result<Vec<Continuation>, HandlerError> {
    let mut session = call.model.session()?;
    Ok(generate(session.as_mut(), prompt, settings, false)?)
}
