//! The outputs of text models, computed from hidden states.

use crate::{
    call::NetworkCall,
    elementwise::ActivationMemory,
    error::EstimateError,
    product::{Order, ProjectionMatrix},
    tensor::{AllocatedTensor, ElementType},
};
use testgen_types::Head;

/// The outputs of a causal decoder with hidden states [batch, seq, width].
pub(crate) fn decoder(
    call: &mut NetworkCall<'_>,
    hidden: AllocatedTensor,
    [width, vocab]: [u64; 2],
    tied: bool,
    capped: bool,
) -> Result<(), EstimateError> {
    match call.head {
        Head::CausalLm => {
            let logits = vocabulary([width, vocab], tied).forward(hidden);
            let element = logits.element;
            let logits = if capped {
                logits.cast(ElementType::F32).map().cast(element)
            } else {
                logits
            };
            call.output(logits);
        }
        Head::SequenceClassification => {
            let last = call.empty(&[call.batch, width]);
            // The last states are a copy.
            drop(hidden);
            call.output(ProjectionMatrix::linear(width, call.labels, false).forward(last));
        }
        head => return per_token(call, hidden, width, head),
    }
    Ok(())
}

/// The outputs of an encoder; `inner` is the width before the vocabulary.
pub(crate) fn encoder(
    call: &mut NetworkCall<'_>,
    hidden: AllocatedTensor,
    [width, inner, vocab]: [u64; 3],
    activation: ActivationMemory,
) -> Result<(), EstimateError> {
    let tied = call.config.flag("tie_word_embeddings");
    match call.head {
        Head::MaskedLm => {
            let logits = masked_lm(hidden, [width, inner, vocab], activation, tied);
            call.output(logits);
        }
        Head::PreTraining if vocab > 0 => {
            let pooled = pooled(call, &hidden, width);
            let logits = masked_lm(hidden, [width, inner, vocab], activation, tied);
            call.output(logits);
            call.output(pooled);
        }
        // Only ELECTRA has no vocabulary here: its discriminator finds replaced tokens.
        Head::PreTraining => {
            let logits = ProjectionMatrix::linear(width, width, true)
                .forward(hidden)
                .activate(activation);
            call.output(ProjectionMatrix::linear(width, 1, true).forward(logits));
        }
        Head::SequenceClassification | Head::NextSentence => {
            let pooled = pooled(call, &hidden, width);
            drop(hidden);
            // The second text follows the first one or not, whatever labels the file names.
            let labels = match call.head {
                Head::NextSentence => 2,
                _ => call.labels,
            };
            call.output(ProjectionMatrix::linear(width, labels, true).forward(pooled));
        }
        Head::Base => {
            let pooled = pooled(call, &hidden, width);
            call.output(hidden);
            call.output(pooled);
        }
        head => return per_token(call, hidden, width, head),
    }
    Ok(())
}

/// The product with the vocabulary, whose matrix is the embedding where they are tied.
pub(crate) fn vocabulary([width, vocab]: [u64; 2], tied: bool) -> ProjectionMatrix {
    let order = if tied { Order::View } else { Order::Linear };
    ProjectionMatrix {
        order,
        ..ProjectionMatrix::linear(width, vocab, false)
    }
}

fn masked_lm(
    hidden: AllocatedTensor,
    [width, inner, vocab]: [u64; 3],
    activation: ActivationMemory,
    tied: bool,
) -> AllocatedTensor {
    let hidden = ProjectionMatrix::linear(width, inner, true)
        .forward(hidden)
        .activate(activation)
        .layer_norm();
    ProjectionMatrix {
        bias: true,
        ..vocabulary([inner, vocab], tied)
    }
    .forward(hidden)
}

/// The state of one token of each row, after a dense layer.
fn pooled(call: &NetworkCall<'_>, hidden: &AllocatedTensor, width: u64) -> AllocatedTensor {
    let first = hidden.clone().narrow(1, 0, 1).reshape(&[call.batch, width]);
    ProjectionMatrix::linear(width, width, true).forward(first)
}

fn per_token(
    call: &mut NetworkCall<'_>,
    hidden: AllocatedTensor,
    width: u64,
    head: Head,
) -> Result<(), EstimateError> {
    let out = match head {
        Head::Base => {
            call.output(hidden);
            return Ok(());
        }
        Head::TokenClassification => call.labels,
        // The start and the end of the answer.
        Head::QuestionAnswering => 2,
        _ => return Err(EstimateError::NoClass(head.to_string())),
    };
    call.output(ProjectionMatrix::linear(width, out, true).forward(hidden));
    Ok(())
}
