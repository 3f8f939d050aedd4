//! The heads of text models.

mod masked_lm;

pub(crate) use masked_lm::{MaskedLm, MaskedLmNames, MaskedLmShape};

use super::backbone::Hidden;
use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{Linear, soft_cap},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The output that is computed from the hidden states; each variant names its outputs.
pub(crate) enum TextHead<B: Ops> {
    /// `last_hidden_state`, and `pooler_output` where there is a pooler.
    Base,
    /// `logits` [batch, seq, vocab], of the next token.
    CausalLm(Linear<B>),
    /// As [`TextHead::CausalLm`], softly capped.
    CappedLm(Linear<B>, f64),
    /// `logits` [batch, seq, vocab], of the token itself.
    MaskedLm(MaskedLm<B>),
    /// `prediction_logits` [batch, seq, vocab], and `output` [batch, labels] of the pooled state.
    PreTraining {
        masked_lm: MaskedLm<B>,
        pooled: Linear<B>,
        output: &'static str,
    },
    /// `logits` [batch, seq]: whether a token was replaced, before the sigmoid.
    Discriminator {
        dense: Linear<B>,
        activation: Activation,
        out: Linear<B>,
    },
    /// `logits` [batch, labels], of the pooled state.
    Pooled(Linear<B>),
    /// `logits` [batch, labels], of the first token.
    FirstToken {
        dense: Linear<B>,
        activation: Activation,
        out: Linear<B>,
    },
    /// `logits` [batch, labels], of the last token that is not `padding`; of the last one where
    /// there is no padding.
    LastToken {
        score: Linear<B>,
        padding: Option<i64>,
    },
    /// `logits` [batch, seq, labels].
    PerToken(Linear<B>),
    /// `start_logits` and `end_logits` [batch, seq].
    Span(Linear<B>),
}

impl<B: Ops> TextHead<B> {
    /// `classifier` over each token, of `...ForTokenClassification`.
    pub(crate) fn per_token(
        w: &Weights<B>,
        width: usize,
        labels: usize,
    ) -> Result<Self, WeightsError> {
        Ok(Self::PerToken(Linear::load(
            &w.module("classifier"),
            width,
            labels,
        )?))
    }

    /// `qa_outputs` over each token, of `...ForQuestionAnswering`.
    pub(crate) fn span(w: &Weights<B>, width: usize) -> Result<Self, WeightsError> {
        // Two columns whatever `num_labels` says: the start and the end.
        Ok(Self::Span(Linear::load(&w.module("qa_outputs"), width, 2)?))
    }

    /// `dense` and `out_proj` over the first token, of the classification heads of RoBERTa and its
    /// relatives.
    pub(crate) fn first_token(
        w: &Weights<B>,
        width: usize,
        labels: usize,
        activation: Activation,
    ) -> Result<Self, WeightsError> {
        let dense = Linear::load(&w.module("dense"), width, width)?;
        Ok(Self::FirstToken {
            dense,
            activation,
            out: Linear::load(&w.module("out_proj"), width, labels)?,
        })
    }

    /// `score` over the last token, of a decoder's `...ForSequenceClassification`.
    pub(crate) fn last_token(
        w: &Weights<B>,
        width: usize,
        labels: usize,
        padding: Option<i64>,
    ) -> Result<Self, WeightsError> {
        // No bias: `GenericForSequenceClassification` builds it with `bias=False`, unlike
        // classifiers of encoders.
        let score = Linear::load_with_bias(&w.module("score"), width, labels, false)?;
        Ok(Self::LastToken { score, padding })
    }

    /// The heads that most decoders keep under the same names; `tied` is the embedding if the
    /// configuration ties it to the language model's head.
    pub(crate) fn of_decoder(
        w: &Weights<B>,
        head: Head,
        [width, vocab, labels]: [usize; 3],
        tied: Option<Tensor<B, 2>>,
        padding: Option<i64>,
    ) -> Result<Self, WeightsError> {
        match head {
            Head::CausalLm => Ok(Self::CausalLm(Linear::load_or_tie(
                &w.module("lm_head"),
                [width, vocab],
                tied,
            )?)),
            Head::SequenceClassification => Self::last_token(w, width, labels, padding),
            Head::TokenClassification => Self::per_token(w, width, labels),
            Head::QuestionAnswering => Self::span(w, width),
            // Types with further heads load them before they come here.
            _ => Ok(Self::Base),
        }
    }

    /// The heads that most encoders keep under the same names.
    pub(crate) fn of_encoder(
        w: &Weights<B>,
        head: Head,
        width: usize,
        labels: usize,
    ) -> Result<Self, WeightsError> {
        match head {
            Head::TokenClassification => Self::per_token(w, width, labels),
            Head::QuestionAnswering => Self::span(w, width),
            _ => Ok(Self::Base),
        }
    }

    /// Stores the outputs of the class.
    pub(crate) fn forward(
        &self,
        hidden: Hidden<B>,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let Hidden { last, pooled } = hidden;
        match self {
            Self::Base => {
                context.output("last_hidden_state", last)?;
                pooled.map_or(Ok(()), |pooled| context.output("pooler_output", pooled))
            }
            Self::CausalLm(head) | Self::PerToken(head) => {
                context.output("logits", head.forward(last))
            }
            Self::CappedLm(head, cap) => {
                // Scaled by 1: the cap is of the logits themselves, not of scores.
                context.output("logits", soft_cap(head.forward(last), 1.0, *cap))
            }
            Self::MaskedLm(head) => context.output("logits", head.forward(last)),
            Self::PreTraining {
                masked_lm,
                pooled: head,
                output,
            } => {
                // The name in `BertForPreTrainingOutput`, which has two kinds of logits.
                context.output("prediction_logits", masked_lm.forward(last))?;
                context.output(output, head.forward(expect_pooled(pooled)))
            }
            Self::Discriminator {
                dense,
                activation,
                out,
            } => {
                // One score for a token: `ElectraDiscriminatorPredictions` squeezes the last
                // dimension.
                let [batch, seq, _] = last.dims();
                let logits = out.forward(activate(dense.forward(last), *activation));
                context.output("logits", logits.reshape([batch, seq]))
            }
            Self::Pooled(head) => context.output("logits", head.forward(expect_pooled(pooled))),
            Self::FirstToken {
                dense,
                activation,
                out,
            } => {
                let first = activate(dense.forward(first_token(last)), *activation);
                context.output("logits", out.forward(first))
            }
            Self::LastToken { score, padding } => {
                // Picked before the product, for one row instead of all:
                // `GenericForSequenceClassification` scores every token first.
                let tokens = last_tokens(inputs, *padding)?;
                context.output("logits", score.forward(pick_tokens(last, &tokens)))
            }
            Self::Span(head) => leave_span(head.forward(last), context),
        }
    }
}

/// [batch, seq, 2] as `start_logits` and `end_logits` [batch, seq].
pub(crate) fn leave_span<B: Ops>(
    logits: Tensor<B, 3>,
    context: &mut ForwardContext<'_, B>,
) -> Result<(), ForwardError> {
    let [batch, seq, _] = logits.dims();
    context.output(
        "start_logits",
        logits.clone().narrow(2, 0, 1).reshape([batch, seq]),
    )?;
    context.output("end_logits", logits.narrow(2, 1, 1).reshape([batch, seq]))
}

/// The fields of a decoder's configuration that its head does not read, with the reason.
pub(crate) fn fields_of_other_heads(head: Head) -> Vec<(&'static str, &'static str)> {
    let padding = (
        "pad_token_id",
        "only sequence classification looks for padding",
    );
    let tied = (
        "tie_word_embeddings",
        "only language models have a decoder to tie",
    );
    match head {
        Head::CausalLm => vec![padding],
        Head::SequenceClassification => vec![tied],
        _ => vec![padding, tied],
    }
}

/// [batch, seq, width] to the first token's [batch, width].
pub(crate) fn first_token<B: Ops>(hidden: Tensor<B, 3>) -> Tensor<B, 2> {
    let [batch, _, width] = hidden.dims();
    hidden.narrow(1, 0, 1).reshape([batch, width])
}

fn expect_pooled<B: Ops>(pooled: Option<Tensor<B, 2>>) -> Tensor<B, 2> {
    pooled.expect("a head that reads the pooled state is built on a backbone with a pooler")
}

/// The rightmost token of each row that is not padding.
fn last_tokens<B: Ops>(
    inputs: &Inputs<'_, B>,
    padding: Option<i64>,
) -> Result<Vec<usize>, ForwardError> {
    let missing = ForwardError::MissingInput { name: "input_ids" };
    let ids = inputs.host("input_ids").ok_or(missing)?;
    // Two dimensions of integers, or the backbone would have refused them.
    let seq = ids.shape()[1];
    let rows = ids.as_integers().unwrap_or_default().chunks(seq);
    Ok(rows
        // The first when all are padding, the last without a padding token.
        .map(|row| match padding {
            // By the ids and not by the mask, as in the class; the `argmax` of a row of zeros is 0.
            Some(padding) => row.iter().rposition(|id| *id != padding).unwrap_or(0),
            None => seq - 1,
        })
        .collect())
}

/// [batch, seq, width] to one token of each row, [batch, width].
pub(crate) fn pick_tokens<B: Ops>(hidden: Tensor<B, 3>, tokens: &[usize]) -> Tensor<B, 2> {
    let width = hidden.dims()[2];
    let rows = tokens
        .iter()
        .enumerate()
        .map(|(row, token)| {
            hidden
                .clone()
                .slice([row..row + 1, *token..token + 1, 0..width])
        })
        .collect();
    Tensor::cat(rows, 0).reshape([tokens.len(), width])
}
