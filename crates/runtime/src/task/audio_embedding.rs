//! The vectors of recordings.

use super::{
    AudioEmbedding, Request, Response,
    call::{HandlerError, TaskCall},
    text_embedding::vector,
};
use testgen_nn::array::Array;

const HINT: &str = "a class without a head, such as `Wav2Vec2Model`";

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let (recordings, _) = call.speech(request)?;
    let forward = call
        .model
        .forward(&call.feature_extractor()?.process(&recordings)?)?;
    let hidden = call.output(
        &forward,
        ("last_hidden_state", 3),
        &[recordings.len()],
        HINT,
    )?;
    let (frames, width) = (hidden.shape[1], hidden.shape[2]);
    Ok(Response::AudioEmbeddings(
        (0..recordings.len())
            .map(|row| {
                let values = hidden.row(row);
                AudioEmbedding {
                    frames: Array::floats([frames, width], values.to_vec()),
                    mean: vector(
                        (0..width)
                            .map(|element| {
                                let sum: f64 = values
                                    .iter()
                                    .skip(element)
                                    .step_by(width)
                                    .map(|value| f64::from(*value))
                                    .sum();
                                (sum / frames.max(1) as f64) as f32
                            })
                            .collect(),
                    ),
                }
            })
            .collect(),
    ))
}
