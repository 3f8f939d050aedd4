//! Labels for a recording from the hidden states of its frames.

use crate::{
    call::NetworkCall,
    error::EstimateError,
    product::ProjectionMatrix,
    tensor::{AllocatedTensor, ElementType},
};

/// The logits of `last` [batch, frames, width], or of the weighted sum of all `states`.
pub(crate) fn logits(
    call: &mut NetworkCall<'_>,
    last: AllocatedTensor,
    states: Vec<AllocatedTensor>,
) -> Result<(), EstimateError> {
    let width = last.dims()[2];
    let inner = call.config.size("classifier_proj_size")?;
    let weighted = call.config.flag("use_weighted_layer_sum");
    // Without weights the states are freed with the call of the classifier.
    let (hidden, unread) = match weighted {
        true => (weighted_sum(call, states).unwrap_or(last), Vec::new()),
        false => (last, states),
    };
    let projected = ProjectionMatrix::linear(width, inner, true).forward(hidden);
    let batch = call.batch;
    let pooled = projected
        .cast(ElementType::F32)
        .reduce(1)
        .reshape(&[batch, inner])
        .cast(call.machine.element);
    let scores = ProjectionMatrix::linear(inner, call.labels, true).forward(pooled);
    drop(unread);
    call.output(scores);
    Ok(())
}

/// Each state times a number.
fn weighted_sum(call: &NetworkCall<'_>, states: Vec<AllocatedTensor>) -> Option<AllocatedTensor> {
    states
        .into_iter()
        .map(|state| state.combine(call.weight(&[1, 1, 1])))
        .reduce(AllocatedTensor::combine)
}
