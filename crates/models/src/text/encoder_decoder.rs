//! An encoder, a decoder that attends to its output, and a head: the common part of all
//! sequence-to-sequence models.
//!
//! In a session the encoder runs in the first step; the keys and values that cross-attention
//! computes from its output are cached.

use crate::{capabilities::Capabilities, network::Network, text::text_head::leave_span};
use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    inputs::{Inputs, wrong_input},
    layer::{Linear, padding_bias},
};

/// The encoder's output, [batch, source, width], or `None` in a later step of a session.
pub(crate) type EncoderOutput<'a, B> = Option<&'a Tensor<B, 3>>;

/// Hidden states [batch, seq, width].
pub(crate) type HiddenStates<B> = Result<Tensor<B, 3>, ForwardError>;

/// The part that reads the input as a whole.
pub(crate) trait SourceEncoder<B: Ops>: Send {
    /// [batch, source, width]; stores the traces.
    fn encode(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> HiddenStates<B>;
}

/// The part that reads the tokens so far and the encoder's output.
pub(crate) trait TargetDecoder<B: Ops>: Send {
    /// [batch, new, width]; `encoded` is there in a first step. Stores the traces.
    fn decode(
        &self,
        encoded: EncoderOutput<'_, B>,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> HiddenStates<B>;

    /// The number of layers.
    fn layers(&self) -> usize;

    /// See [`Capabilities::max_positions`].
    fn max_positions(&self) -> Option<usize>;
}

/// The output that is computed from the decoder's hidden states.
pub(crate) enum DecoderHead<B: Ops> {
    /// `last_hidden_state`.
    Base,
    /// `logits` [batch, new, vocab] of the hidden states times `scale`.
    LanguageModel { head: Linear<B>, scale: f64 },
    /// `start_logits` and `end_logits` [batch, new].
    Span(Linear<B>),
    /// `logits` [batch, labels], of the last token `end` of the encoder's input.
    Classification {
        dense: Linear<B>,
        out: Linear<B>,
        end: i64,
    },
}

/// The complete model.
pub(crate) struct EncoderDecoder<B: Ops, E: SourceEncoder<B>, D: TargetDecoder<B>> {
    pub(crate) encoder: E,
    pub(crate) decoder: D,
    pub(crate) head: DecoderHead<B>,
}

impl<B: Ops, E: SourceEncoder<B>, D: TargetDecoder<B>> Network<B> for EncoderDecoder<B, E, D> {
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let encoded = match context.past() {
            0 => {
                // Both parts count their layers from 0.
                context.enter("encoder.");
                Some(self.encoder.encode(inputs, context)?)
            }
            _ => None,
        };
        context.enter("decoder.");
        let hidden = self.decoder.decode(encoded.as_ref(), inputs, context)?;
        self.head.forward(hidden, inputs, context)?;
        // In later steps the encoder has not run: its keys and values are cached.
        encoded.map_or(Ok(()), |encoded| {
            context.output("encoder_last_hidden_state", encoded)
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            token_input_name: "decoder_input_ids",
            max_positions: self.decoder.max_positions(),
            ..Capabilities::decoder(self.decoder.layers())
        }
    }
}

/// The encoder alone, `...EncoderModel`: its hidden states are the result.
pub(crate) struct EncoderOnlyModel<E>(pub(crate) E);

impl<B: Ops, E: SourceEncoder<B>> Network<B> for EncoderOnlyModel<E> {
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let hidden = self.0.encode(inputs, context)?;
        context.output("last_hidden_state", hidden)
    }
}

impl<B: Ops> DecoderHead<B> {
    fn forward(
        &self,
        hidden: Tensor<B, 3>,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        match self {
            Self::Base => context.output("last_hidden_state", hidden),
            Self::LanguageModel { head, scale } => {
                // A factor of one would be another pass over the tensor.
                let hidden = if *scale == 1.0 {
                    hidden
                } else {
                    hidden * *scale
                };
                context.output("logits", head.forward(hidden))
            }
            Self::Span(head) => leave_span(head.forward(hidden), context),
            Self::Classification { dense, out, end } => {
                let sentence = last_of(hidden, *end, inputs)?;
                context.output(
                    "logits",
                    // `BartClassificationHead` takes tanh whatever `activation_function` is.
                    out.forward(activate(dense.forward(sentence), Activation::Tanh)),
                )
            }
        }
    }
}

/// The bias [batch, 1, 1, source] of what the encoder's `attention_mask` hides from
/// cross-attention.
pub(crate) fn source_bias<B: Ops>(
    encoded: EncoderOutput<'_, B>,
    batch: usize,
    inputs: &Inputs<'_, B>,
    context: &ForwardContext<'_, B>,
) -> Result<Option<Tensor<B, 4>>, ForwardError> {
    // In a later step only the cached keys of cross-attention know how long the source is.
    let length = encoded
        .map(|encoded| encoded.dims()[1])
        .or_else(|| context.memory_length());
    padding_bias(inputs, [batch, length.ok_or(ForwardError::NotEncoded)?])
}

/// The hidden state [batch, width] at the last `end` of `input_ids`.
fn last_of<B: Ops>(
    hidden: Tensor<B, 3>,
    end: i64,
    inputs: &Inputs<'_, B>,
) -> Result<Tensor<B, 2>, ForwardError> {
    let ids = inputs
        .host("input_ids")
        .ok_or(ForwardError::MissingInput { name: "input_ids" })?;
    let [batch, seq, width] = hidden.dims();
    // `BartForSequenceClassification` fails as well: it cuts the decoder's states by this mask.
    if ids.shape() != [batch, seq] {
        let expected = format!("[{batch}, {seq}], the shape of `decoder_input_ids`");
        return Err(wrong_input("input_ids", ids.shape(), expected));
    }
    let mut rows = Vec::with_capacity(batch);
    // Integers, or the encoder would have refused them.
    for (row, ids) in ids
        .as_integers()
        .unwrap_or_default()
        .chunks(seq)
        .enumerate()
    {
        // `BartForSequenceClassification` fails as well: another token would give a label of
        // nothing in particular.
        let last =
            ids.iter()
                .rposition(|id| *id == end)
                .ok_or_else(|| ForwardError::WrongInput {
                    name: "input_ids".to_owned(),
                    found: format!("without the end token {end} in row {row}"),
                    expected: "an end token in every row".to_owned(),
                })?;
        rows.push(
            hidden
                .clone()
                .slice([row..row + 1, last..last + 1, 0..width]),
        );
    }
    Ok(Tensor::cat(rows, 0).reshape([batch, width]))
}
