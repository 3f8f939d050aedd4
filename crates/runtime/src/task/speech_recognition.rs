//! The words of recordings: written token by token by a decoder, or read off the likeliest token of
//! every frame.

use super::{
    Request, Response, Transcription,
    call::{HandlerError, TaskCall},
};
use testgen_nn::array::{Array, Arrays};
use testgen_processing::generation::{GenerationControls, GenerationSettings, generate};

const HINT: &str = "a class with a head over tokens, such as `Wav2Vec2ForCTC`";

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let (recordings, controls) = call.speech(request)?;
    let inputs = call.feature_extractor()?.process(&recordings)?;
    // Whisper reads spectrograms, and its decoder writes; heads over frames read samples
    // (`input_values`).
    if inputs.contains_key("input_features") {
        return written(call, inputs, &controls, recordings.len());
    }
    if controls != GenerationControls::default() {
        let problem =
            "comes with controls, and the model does not generate; leave them out".to_owned();
        return Err(HandlerError::BadInput { index: 0, problem });
    }
    read_off(call, &inputs, recordings.len())
}

/// Whisper: the prompt of the decoder is the start token, the language and the task.
fn written(
    call: &TaskCall<'_>,
    mut inputs: Arrays,
    controls: &GenerationControls,
    rows: usize,
) -> Result<Response, HandlerError> {
    let tokenizer = call.tokenizer()?;
    let defaults = call.model.processor().generation();
    let start = defaults.speech_prompt().ok_or_else(|| {
        call.lacks("a `decoder_start_token_id`, with `forced_decoder_ids` or a `language` where it is multilingual")
    })?;
    let length = start.len();
    inputs.insert(
        "decoder_input_ids".to_owned(),
        Array::integers([rows, length], start.repeat(rows)),
    );
    let settings = GenerationSettings::new(controls, defaults, length)?;
    let rows = generate(call.model.session()?.as_mut(), &inputs, &settings, false)?;
    Ok(Response::Transcriptions(
        rows.into_iter()
            .map(|row| {
                Ok(Transcription {
                    text: tokenizer.decode(&row.ids, true)?,
                    ids: row.ids,
                })
            })
            .collect::<Result<_, HandlerError>>()?,
    ))
}

/// Connectionist temporal classification: the likeliest token of every frame.
fn read_off(call: &TaskCall<'_>, inputs: &Arrays, rows: usize) -> Result<Response, HandlerError> {
    let vocabulary = call.model.processor().frame_tokens();
    let vocabulary = vocabulary
        .ok_or_else(|| call.lacks("the vocabulary of a `Wav2Vec2CTCTokenizer` (`vocab.json`)"))?;
    let forward = call.model.forward(inputs)?;
    let logits = call.output(&forward, ("logits", 3), &[rows], HINT)?;
    let width = logits.shape[2];
    Ok(Response::Transcriptions(
        (0..rows)
            .map(|row| {
                let ids: Vec<i64> = logits.row(row).chunks_exact(width).map(likeliest).collect();
                Transcription {
                    text: vocabulary.decode(&ids),
                    ids,
                }
            })
            .collect(),
    ))
}

/// The first of the largest.
fn likeliest(logits: &[f32]) -> i64 {
    (0..logits.len())
        .reduce(|best: usize, next: usize| {
            if logits[next] > logits[best] {
                next
            } else {
                best
            }
        })
        .map_or(0, |index| index as i64)
}
