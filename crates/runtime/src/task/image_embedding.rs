//! The vectors of images.

use super::{
    ImageEmbedding, Request, Response,
    call::{FloatOutput, HandlerError, TaskCall},
    text_embedding::vector,
};
use testgen_nn::{array::Array, forward::Forward};

const HINT: &str = "a class without a head, such as `ViTModel`";

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let (images, forward) = call.read_images(request)?;
    let leading = [images.len()];
    // Three dimensions for patches, four for the maps of convolutional networks; any other rank
    // becomes the error of `output`.
    let hidden_rank = rank(&forward, "last_hidden_state").clamp(3, 4);
    let hidden = call.output(&forward, ("last_hidden_state", hidden_rank), &leading, HINT)?;
    let pooled = match rank(&forward, "pooler_output") {
        0 => None,
        rank => Some(call.output(&forward, ("pooler_output", rank), &leading, HINT)?),
    };
    Ok(Response::ImageEmbeddings(
        (0..images.len())
            .map(|index| ImageEmbedding {
                patches: Array::floats(&hidden.shape[1..], hidden.row(index).to_vec()),
                pooled: vector(
                    pooled.map_or_else(|| mean(hidden, index), |pooled| pooled.row(index).to_vec()),
                ),
            })
            .collect(),
    ))
}

fn rank(forward: &Forward, output: &str) -> usize {
    forward
        .outputs
        .get(output)
        .map_or(0, |array| array.shape().len())
}

/// The mean over the patches [patches, hidden], or over the places [channels, height, width],
/// summed in f64.
fn mean(hidden: FloatOutput<'_>, index: usize) -> Vec<f32> {
    let row = hidden.row(index);
    match *hidden.shape {
        [_, _, size] => (0..size)
            .map(|element| average(&mut row.iter().skip(element).step_by(size).copied()))
            .collect(),
        [_, _, height, width] => row
            .chunks_exact(height * width)
            .map(|place| average(&mut place.iter().copied()))
            .collect(),
        _ => Vec::new(),
    }
}

fn average(values: &mut dyn Iterator<Item = f32>) -> f32 {
    let values: Vec<f64> = values.map(f64::from).collect();
    (values.iter().sum::<f64>() / values.len().max(1) as f64) as f32
}
