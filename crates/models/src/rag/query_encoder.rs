//! The question encoder of DPR (Karpukhin et al. 2020): a BERT without a pooler, read at its first
//! token.

use super::{config::QuestionConfig, passage_index::lacking};
use crate::text::{
    backbone::Backbone, bert_encoder, text_embeddings::PositionNumbering, text_head::first_token,
};
use burn_tensor::Tensor;
use testgen_nn::{
    array::{Array, Arrays},
    backend::Ops,
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::Linear,
    weights::{Weights, WeightsError},
};

pub(super) struct QueryEncoder<B: Ops> {
    bert: bert_encoder::BertEncoder<B>,
    encode_proj: Option<Linear<B>>,
    pad: i64,
}

impl<B: Ops> QueryEncoder<B> {
    pub(super) fn load(config: &QuestionConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (w, width, out) = (
            w.module("question_encoder"),
            config.bert.fields.hidden_size,
            config.projection_dim,
        );
        Ok(Self {
            bert: config.bert.encoder(
                PositionNumbering::FromZero,
                false,
                &w.module("bert_model"),
            )?,
            // 0 means none in `DPRConfig`.
            encode_proj: (out > 0)
                .then(|| Linear::load(&w.module("encode_proj"), width, out))
                .transpose()?,
            pad: config.pad_token_id,
        })
    }

    /// [batch, width], and the mask that counts.
    pub(super) fn encode(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(Tensor<B, 2>, Array), ForwardError> {
        let ids = inputs
            .host("input_ids")
            .ok_or(ForwardError::MissingInput { name: "input_ids" })?;
        // Without an `attention_mask` padding is known by its id.
        let mask = shown(ids, inputs.host("attention_mask"), self.pad)?;
        let arrays = Arrays::from([
            ("input_ids".to_owned(), ids.clone()),
            ("attention_mask".to_owned(), mask.clone()),
        ]);
        // The generator counts its layers from 0, too.
        context.enter("question.");
        let first = first_token(self.bert.hidden(&inputs.with(&arrays), context)?.last);
        let questions = match &self.encode_proj {
            Some(project) => project.forward(first),
            None => first,
        };
        context.output("question_encoder_last_hidden_state", questions.clone())?;
        Ok((questions, mask))
    }

    pub(super) fn max_positions(&self) -> Option<usize> {
        self.bert.capabilities().max_positions
    }
}

/// The mask that is given, else a mask of the tokens that are not `pad`.
fn shown(ids: &Array, given: Option<&Array>, pad: i64) -> Result<Array, ForwardError> {
    if let Some(mask) = given {
        return Ok(mask.clone());
    }
    let values = ids
        .as_integers()
        .ok_or_else(|| lacking("input_ids", ids, "integers [batch, seq]"))?;
    Ok(Array::integers(
        ids.shape(),
        values.iter().map(|id| i64::from(*id != pad)).collect(),
    ))
}
