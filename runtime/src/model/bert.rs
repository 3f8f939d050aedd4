//! BERT (Devlin et al. 2018) and RoBERTa (Liu et al. 2019): `transformers.models.bert`, `transformers.models.roberta`.
//!
//! RoBERTa is BERT with positions counted from the padding token's id and other heads.

use super::{
    bert_encoder::{BERT, Encoder, LayerShape},
    class::Head,
    family::Family,
    load::LoadError,
    network::Network,
    text_embeddings::{EmbeddingsShape, Positions, TextEmbeddings},
    text_head::{MaskedLmNames, MaskedLmShape, TextHead},
    text_model::TextModel,
};
use crate::{
    backend::{Activation, Ops},
    config::{Config, absolute_positions},
    layer::Linear,
    weights::{Weights, WeightsError},
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json` of both types.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct BertConfig {
    model_type: String,
    vocab_size: usize,
    pub(super) hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: Activation,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    layer_norm_eps: f64,
    pad_token_id: Option<i64>,
    position_embedding_type: String,
    tie_word_embeddings: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Default for BertConfig {
    fn default() -> Self {
        Self {
            model_type: String::new(),
            vocab_size: 30522,
            hidden_size: 768,
            num_hidden_layers: 12,
            num_attention_heads: 12,
            intermediate_size: 3072,
            hidden_act: Activation::Gelu,
            max_position_embeddings: 512,
            type_vocab_size: 2,
            layer_norm_eps: 1e-12,
            pad_token_id: None,
            position_embedding_type: "absolute".to_owned(),
            tie_word_embeddings: true,
            rest: Map::new(),
        }
    }
}

impl Config for BertConfig {
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
        crate::config::divides("hidden_size", self.hidden_size, "num_attention_heads", self.num_attention_heads)?;
        absolute_positions(&self.position_embedding_type)
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = Vec::new();
        if self.model_type != "roberta" {
            fields.push(("pad_token_id", "only RoBERTa counts positions from it"));
        }
        if !matches!(head, Head::MaskedLm | Head::PreTraining) {
            fields.push(("tie_word_embeddings", "only masked language models have a decoder to tie"));
        }
        fields
    }
}

impl BertConfig {
    pub(super) fn encoder<B: Ops>(
        &self,
        numbering: Positions,
        pooled: bool,
        w: &Weights<B>,
    ) -> Result<Encoder<B>, WeightsError> {
        let (width, eps) = (self.hidden_size, self.layer_norm_eps);
        let tables = EmbeddingsShape {
            width,
            vocab: self.vocab_size,
            positions: self.max_position_embeddings,
            token_types: self.type_vocab_size,
            eps,
        };
        let layer = LayerShape {
            width,
            heads: self.num_attention_heads,
            inner: self.intermediate_size,
            activation: self.hidden_act,
            eps,
        };
        let embeddings = TextEmbeddings::load(tables, numbering, w)?;
        let encoder = Encoder::load(embeddings, self.num_hidden_layers, &layer, &BERT, w)?;
        let pooler = pooled.then(|| Linear::load(&w.module("pooler.dense"), width, width)).transpose()?;
        Ok(Encoder { pooler, ..encoder })
    }

    fn masked_lm_shape(&self, activation: Activation) -> MaskedLmShape {
        MaskedLmShape {
            width: self.hidden_size,
            inner: self.hidden_size,
            vocab: self.vocab_size,
            activation,
            eps: self.layer_norm_eps,
            tied: self.tie_word_embeddings,
        }
    }
}

/// `model_type` `bert`.
pub(crate) struct Bert;

impl Family for Bert {
    type Config = BertConfig;
    const NAME: &'static str = "Bert";
    const HEADS: &'static [Head] = &[
        Head::Base,
        Head::MaskedLm,
        Head::PreTraining,
        Head::NextSentence,
        Head::SequenceClassification,
        Head::TokenClassification,
        Head::QuestionAnswering,
    ];

    fn load<B: Ops>(
        config: &BertConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let pooled = [Head::Base, Head::PreTraining, Head::NextSentence, Head::SequenceClassification].contains(&head);
        let backbone = config.encoder(Positions::FromZero, pooled, &w.base("bert"))?;
        let names = MaskedLmNames {
            dense: "cls.predictions.transform.dense",
            norm: "cls.predictions.transform.LayerNorm",
            decoder: "cls.predictions.decoder",
            bias: Some("cls.predictions.bias"),
        };
        let masked_lm = || backbone.masked_lm(&config.masked_lm_shape(config.hidden_act), &names, w);
        let linear = |name, out| Linear::load(&w.module(name), config.hidden_size, out);
        let head = match head {
            Head::MaskedLm => TextHead::MaskedLm(masked_lm()?),
            Head::PreTraining => TextHead::PreTraining {
                masked_lm: masked_lm()?,
                pooled: linear("cls.seq_relationship", 2)?,
                output: "seq_relationship_logits",
            },
            Head::NextSentence => TextHead::Pooled(linear("cls.seq_relationship", 2)?),
            Head::SequenceClassification => TextHead::Pooled(linear("classifier", labels)?),
            Head::TokenClassification => TextHead::per_token(w, config.hidden_size, labels)?,
            Head::QuestionAnswering => TextHead::span(w, config.hidden_size)?,
            _ => TextHead::Base,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}

/// `model_type` `roberta`.
pub(crate) struct Roberta;

impl Family for Roberta {
    type Config = BertConfig;
    const NAME: &'static str = "Roberta";
    const HEADS: &'static [Head] =
        &[Head::Base, Head::MaskedLm, Head::SequenceClassification, Head::TokenClassification, Head::QuestionAnswering];

    fn load<B: Ops>(
        config: &BertConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let positions = Positions::FromPadding(config.pad_token_id.unwrap_or(1));
        let backbone = config.encoder(positions, head == Head::Base, &w.base("roberta"))?;
        let names = MaskedLmNames {
            dense: "lm_head.dense",
            norm: "lm_head.layer_norm",
            decoder: "lm_head.decoder",
            bias: Some("lm_head.bias"),
        };
        let head = match head {
            Head::MaskedLm => {
                TextHead::MaskedLm(backbone.masked_lm(&config.masked_lm_shape(Activation::Gelu), &names, w)?)
            }
            Head::SequenceClassification => {
                TextHead::first_token(&w.module("classifier"), config.hidden_size, labels, Activation::Tanh)?
            }
            Head::TokenClassification => TextHead::per_token(w, config.hidden_size, labels)?,
            Head::QuestionAnswering => TextHead::span(w, config.hidden_size)?,
            _ => TextHead::Base,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}
