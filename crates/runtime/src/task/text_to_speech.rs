//! The sounds of texts.
//!
//! Follows `TextToAudioPipeline` with a model that computes a waveform in one call. Each text is
//! computed alone: the sound of a padded text goes on after its end.

use super::{
    Request, Response, SpokenText,
    call::{HandlerError, TaskCall},
    text_embedding::vector,
};
use serde_json::Value;

const HINT: &str = "a class such as `VitsModel`";
/// The default of the configuration class.
const SAMPLING_RATE: u64 = 16_000;

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let texts = call.texts(request)?;
    let rate = call
        .model
        .config()
        .get("sampling_rate")
        .and_then(Value::as_u64);
    let sampling_rate = rate.unwrap_or(SAMPLING_RATE) as usize;
    let mut spoken = Vec::with_capacity(texts.len());
    for text in &texts {
        let (_, forward) = call.read_texts(std::slice::from_ref(text))?;
        let sound = call.output(&forward, ("waveform", 2), &[1], HINT)?;
        spoken.push(SpokenText {
            waveform: vector(sound.row(0).to_vec()),
            sampling_rate,
        });
    }
    Ok(Response::Speech(spoken))
}
