//! BERT (Devlin et al. 2018): `transformers.models.bert`.

use crate::{
    config::ModelConfig,
    model_def::{LoadedNetwork, ModelDef},
    text::{
        bert_encoder::{BERT, BertEncoder},
        bert_fields::BertFields,
        text_embeddings::{PositionNumbering, TextEmbeddings},
        text_head::{MaskedLmNames, TextHead},
        text_model::TextModel,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::Ops,
    layer::Linear,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`; RoBERTa's has these fields, too.
#[derive(Debug, Deserialize)]
pub(crate) struct BertConfig {
    #[serde(flatten)]
    pub(crate) fields: BertFields,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for BertConfig {
    /// Fields of the TensorFlow releases that describe a pooler which transformers does not have.
    const INERT: &'static [&'static str] = &[
        "directionality",
        "pooler_fc_size",
        "pooler_num_attention_heads",
        "pooler_num_fc_layers",
        "pooler_size_per_head",
        "pooler_type",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        match head {
            Head::MaskedLm | Head::PreTraining => Vec::new(),
            _ => vec![(
                "tie_word_embeddings",
                "only masked language models have a decoder to tie",
            )],
        }
    }
}

impl BertConfig {
    pub(crate) fn encoder<B: Ops>(
        &self,
        numbering: PositionNumbering,
        pooled: bool,
        w: &Weights<B>,
    ) -> Result<BertEncoder<B>, WeightsError> {
        let width = self.fields.hidden_size;
        let tables = self.fields.tables(width);
        let layer = self.fields.layer();
        let embeddings = TextEmbeddings::load(tables, numbering, w)?;
        let encoder = BertEncoder::load(
            embeddings,
            self.fields.num_hidden_layers,
            &layer,
            &BERT,
            &w.module("encoder.layer"),
        )?;
        let pooler = pooled
            .then(|| Linear::load(&w.module("pooler.dense"), width, width))
            .transpose()?;
        Ok(BertEncoder { pooler, ..encoder })
    }
}

/// `model_type` `bert`.
pub(crate) struct Bert;

impl ModelDef for Bert {
    type Config = BertConfig;

    fn load<B: Ops>(
        config: &BertConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        // The other classes build the encoder with `add_pooling_layer=False`.
        let pooled = [
            Head::Base,
            Head::PreTraining,
            Head::NextSentence,
            Head::SequenceClassification,
        ]
        .contains(&head);
        let backbone =
            config.encoder(PositionNumbering::FromZero, pooled, &w.strip_prefix("bert"))?;
        let names = MaskedLmNames {
            dense: "cls.predictions.transform.dense",
            norm: "cls.predictions.transform.LayerNorm",
            decoder: "cls.predictions.decoder",
            bias: Some("cls.predictions.bias"),
        };
        let masked_lm = || {
            backbone.masked_lm(
                config.fields.hidden_size,
                config.fields.hidden_act,
                config.fields.tie_word_embeddings,
                &names,
                w,
            )
        };
        let linear = |name, out| Linear::load(&w.module(name), config.fields.hidden_size, out);
        let head = match head {
            Head::MaskedLm => TextHead::MaskedLm(masked_lm()?),
            Head::PreTraining => TextHead::PreTraining {
                masked_lm: masked_lm()?,
                // The second sentence follows or does not, whatever `num_labels` says.
                pooled: linear("cls.seq_relationship", 2)?,
                output: "seq_relationship_logits",
            },
            Head::NextSentence => TextHead::Pooled(linear("cls.seq_relationship", 2)?),
            Head::SequenceClassification => TextHead::Pooled(linear("classifier", labels)?),
            head => TextHead::of_encoder(w, head, config.fields.hidden_size, labels)?,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}
