//! An encoder, a decoder that reads what it gave, and a head: what every sequence-to-sequence model has in common.
//!
//! In a session the encoder runs in the first step; what cross-attention makes of its result is kept.

use super::{
    forward::ForwardError,
    network::{Inputs, Network, Pass},
};
use crate::{
    backend::{Activation, Ops, activate},
    layer::{Linear, padding_bias},
    model::text_head::leave_span,
};
use burn::tensor::Tensor;

/// What the encoder gave, [batch, source, width]; none in a later step of a session.
pub(crate) type Memory<'a, B> = Option<&'a Tensor<B, 3>>;

/// Hidden states [batch, seq, width].
pub(crate) type Hidden<B> = Result<Tensor<B, 3>, ForwardError>;

/// The part that reads the input as a whole.
pub(crate) trait Encoder<B: Ops>: Send {
    /// [batch, source, width]; leaves the traces.
    fn encode(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Hidden<B>;
}

/// The part that reads the tokens so far and what the encoder gave.
pub(crate) trait Decoder<B: Ops>: Send {
    /// [batch, new, width]; `memory` is there in a first step. Leaves the traces.
    fn decode(&self, memory: Memory<'_, B>, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Hidden<B>;

    /// The number of layers.
    fn layers(&self) -> usize;

    /// See [`Network::max_positions`].
    fn max_positions(&self) -> Option<usize>;
}

/// What is computed from the decoder's hidden states.
pub(crate) enum TargetHead<B: Ops> {
    /// `last_hidden_state`.
    Base,
    /// `logits` [batch, new, vocab] of the hidden states times `scale`.
    LanguageModel { head: Linear<B>, scale: f64 },
    /// `start_logits` and `end_logits` [batch, new].
    Span(Linear<B>),
    /// `logits` [batch, labels], of the last token `end` of the encoder's input.
    Classification { dense: Linear<B>, out: Linear<B>, end: i64 },
}

/// The three together.
pub(crate) struct EncoderDecoder<B: Ops, E: Encoder<B>, D: Decoder<B>> {
    pub(crate) encoder: E,
    pub(crate) decoder: D,
    pub(crate) head: TargetHead<B>,
}

impl<B: Ops, E: Encoder<B>, D: Decoder<B>> Network<B> for EncoderDecoder<B, E, D> {
    fn forward(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<(), ForwardError> {
        let memory = match pass.past() {
            0 => {
                pass.enter("encoder.");
                Some(self.encoder.encode(inputs, pass)?)
            }
            _ => None,
        };
        pass.enter("decoder.");
        let hidden = self.decoder.decode(memory.as_ref(), inputs, pass)?;
        self.head.forward(hidden, inputs, pass)?;
        memory.map_or(Ok(()), |memory| pass.output("encoder_last_hidden_state", memory))
    }

    fn growing_input(&self) -> &'static str {
        "decoder_input_ids"
    }

    fn cached_layers(&self) -> Option<usize> {
        Some(self.decoder.layers())
    }

    fn max_positions(&self) -> Option<usize> {
        self.decoder.max_positions()
    }
}

/// The first of the three alone, `...EncoderModel`: its hidden states are the result.
pub(crate) struct EncoderAlone<E>(pub(crate) E);

impl<B: Ops, E: Encoder<B>> Network<B> for EncoderAlone<E> {
    fn forward(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<(), ForwardError> {
        let hidden = self.0.encode(inputs, pass)?;
        pass.output("last_hidden_state", hidden)
    }
}

impl<B: Ops> TargetHead<B> {
    fn forward(
        &self,
        hidden: Tensor<B, 3>,
        inputs: &Inputs<'_, B>,
        pass: &mut Pass<'_, B>,
    ) -> Result<(), ForwardError> {
        match self {
            Self::Base => pass.output("last_hidden_state", hidden),
            Self::LanguageModel { head, scale } => {
                let hidden = if *scale == 1.0 { hidden } else { hidden * *scale };
                pass.output("logits", head.forward(hidden))
            }
            Self::Span(head) => leave_span(head.forward(hidden), pass),
            Self::Classification { dense, out, end } => {
                let sentence = last_of(hidden, *end, inputs)?;
                pass.output("logits", out.forward(activate(dense.forward(sentence), Activation::Tanh)))
            }
        }
    }
}

/// The bias [batch, 1, 1, source] of what the encoder's `attention_mask` hides from cross-attention.
pub(crate) fn memory_bias<B: Ops>(
    memory: Memory<'_, B>,
    batch: usize,
    inputs: &Inputs<'_, B>,
    pass: &Pass<'_, B>,
) -> Result<Option<Tensor<B, 4>>, ForwardError> {
    let length = memory.map(|memory| memory.dims()[1]).or_else(|| pass.memory_length());
    padding_bias(inputs, [batch, length.ok_or(ForwardError::NotEncoded)?])
}

/// The hidden state [batch, width] at the last `end` of `input_ids`.
fn last_of<B: Ops>(hidden: Tensor<B, 3>, end: i64, inputs: &Inputs<'_, B>) -> Result<Tensor<B, 2>, ForwardError> {
    let ids = inputs.host("input_ids").ok_or(ForwardError::MissingInput { name: "input_ids" })?;
    let [batch, seq, width] = hidden.dims();
    let mut rows = Vec::with_capacity(batch);
    for (row, ids) in ids.as_integers().unwrap_or_default().chunks(seq).enumerate() {
        let last = ids.iter().rposition(|id| *id == end).ok_or_else(|| ForwardError::WrongInput {
            name: "input_ids".to_owned(),
            found: format!("without the end token {end} in row {row}"),
            expected: "an end token in every row".to_owned(),
        })?;
        rows.push(hidden.clone().slice([row..row + 1, last..last + 1, 0..width]));
    }
    Ok(Tensor::cat(rows, 0).reshape([batch, width]))
}
