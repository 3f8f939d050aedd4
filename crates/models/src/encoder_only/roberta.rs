//! RoBERTa (Liu et al. 2019) and XLM-RoBERTa (Conneau et al. 2019): `transformers.models.roberta`,
//! `transformers.models.xlm_roberta`.
//!
//! BERT with positions counted from the padding token's id and other heads.

use super::bert::BertConfig;
use crate::{
    config::ModelConfig,
    model_def::{LoadedNetwork, ModelDef},
    text::{
        text_embeddings::PositionNumbering,
        text_head::{MaskedLmNames, TextHead},
        text_model::TextModel,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    weights::Weights,
};
use testgen_types::Head;

/// The `config.json`: BERT's, and the id that positions are counted from.
#[derive(Debug, Deserialize)]
pub(crate) struct RobertaConfig {
    pad_token_id: Option<i64>,
    #[serde(flatten)]
    bert: BertConfig,
}

impl ModelConfig for RobertaConfig {
    const INERT: &'static [&'static str] = BertConfig::INERT;

    fn rest(&self) -> &Map<String, Value> {
        self.bert.rest()
    }

    fn validate(&self) -> Result<(), String> {
        self.bert.validate()
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        self.bert.inert_fields(head)
    }
}

/// `model_type` `roberta` and `xlm-roberta`.
pub(crate) struct Roberta;

impl ModelDef for Roberta {
    type Config = RobertaConfig;

    fn load<B: Ops>(
        config: &RobertaConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        // The default of `RobertaConfig`.
        let positions = PositionNumbering::FromPadding(config.pad_token_id.unwrap_or(1));
        let fields = &config.bert.fields;
        // Unlike BERT's, the classes with a head have no pooler.
        let backbone =
            config
                .bert
                .encoder(positions, head == Head::Base, &w.strip_prefix("roberta"))?;
        let names = MaskedLmNames {
            dense: "lm_head.dense",
            norm: "lm_head.layer_norm",
            decoder: "lm_head.decoder",
            bias: Some("lm_head.bias"),
        };
        // `RobertaLMHead` takes GELU whatever `hidden_act` is.
        let masked_lm = || {
            backbone.masked_lm(
                fields.hidden_size,
                Activation::Gelu,
                fields.tie_word_embeddings,
                &names,
                w,
            )
        };
        let head = match head {
            Head::MaskedLm => TextHead::MaskedLm(masked_lm()?),
            // `RobertaClassificationHead` applies tanh, whatever `hidden_act` is.
            Head::SequenceClassification => TextHead::first_token(
                &w.module("classifier"),
                fields.hidden_size,
                labels,
                Activation::Tanh,
            )?,
            head => TextHead::of_encoder(w, head, fields.hidden_size, labels)?,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}
