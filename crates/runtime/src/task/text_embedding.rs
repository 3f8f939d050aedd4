//! The vectors of texts.

use super::{
    Request, Response, TextEmbedding,
    call::{HandlerError, TaskCall, rows},
};
use testgen_nn::array::Array;

const HINT: &str = "a class without a head, such as `BertModel`";

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let texts = call.texts(request)?;
    let (batch, forward) = call.read_texts(&texts)?;
    let mask = &batch.arrays["attention_mask"];
    let hidden = call.output(&forward, ("last_hidden_state", 3), mask.shape(), HINT)?;
    let pooled = match forward.outputs.contains_key("pooler_output") {
        true => Some(call.output(&forward, ("pooler_output", 2), &[texts.len()], HINT)?),
        false => None,
    };
    Ok(Response::TextEmbeddings(
        rows(mask)
            .enumerate()
            .map(|(row, mask)| TextEmbedding {
                pooled: pooled.map(|pooled| vector(pooled.row(row).to_vec())),
                ..of_tokens(hidden.row(row), mask, hidden.shape[2])
            })
            .collect(),
    ))
}

/// The vectors of the tokens without padding, and their mean, summed in f64.
fn of_tokens(hidden_states: &[f32], mask: &[i64], hidden: usize) -> TextEmbedding {
    let vectors = hidden_states
        .chunks_exact(hidden)
        .zip(mask)
        .filter(|(_, bit)| **bit == 1)
        .map(|(vector, _)| vector);
    let vectors: Vec<&[f32]> = vectors.collect();
    TextEmbedding {
        mean: vector(
            (0..hidden)
                .map(|element| {
                    let sum: f64 = vectors
                        .iter()
                        .map(|vector| f64::from(vector[element]))
                        .sum();
                    // A row without tokens has the mean 0, not NaN.
                    (sum / vectors.len().max(1) as f64) as f32
                })
                .collect(),
        ),
        tokens: Array::floats([vectors.len(), hidden], vectors.concat()),
        pooled: None,
    }
}

pub(super) fn vector(values: Vec<f32>) -> Array {
    Array::floats([values.len()], values)
}
