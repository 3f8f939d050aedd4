//! ALBERT (Lan et al. 2019): `transformers.models.albert`.
//!
//! BERT with narrower embeddings and layers that are taken several times.

use crate::{
    config::ModelConfig,
    model_def::{LoadedNetwork, ModelDef},
    text::{
        bert_encoder::{BertEncoder, BertLayer, BertLayerNames},
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
    layer::{AttentionNames, Linear},
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct AlbertConfig {
    #[serde(flatten)]
    fields: BertFields,
    embedding_size: usize,
    num_hidden_groups: usize,
    inner_group_num: usize,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for AlbertConfig {
    /// Fields of the TensorFlow releases, which transformers does not read.
    const INERT: &'static [&'static str] = &[
        "down_scale_factor",
        "gap_size",
        "layers_to_keep",
        "net_structure_type",
        "num_memory_blocks",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()?;
        if self.num_hidden_groups == 0 {
            return Err("`num_hidden_groups` is 0".to_owned());
        }
        Ok(())
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

const NAMES: BertLayerNames = BertLayerNames {
    attention: AttentionNames {
        query: "attention.query",
        key: "attention.key",
        value: "attention.value",
        output: "attention.dense",
    },
    attention_norm: "attention.LayerNorm",
    up: "ffn",
    down: "ffn_output",
    output_norm: "full_layer_layer_norm",
};

impl AlbertConfig {
    fn encoder<B: Ops>(
        &self,
        pooled: bool,
        w: &Weights<B>,
    ) -> Result<BertEncoder<B>, WeightsError> {
        let (inner, width) = (self.embedding_size, self.fields.hidden_size);
        let tables = self.fields.tables(inner);
        let mapping = w.module("encoder.embedding_hidden_mapping_in");
        Ok(BertEncoder {
            embeddings: TextEmbeddings::load(tables, PositionNumbering::FromZero, w)?,
            // Always there, also between equal widths, unlike ELECTRA's.
            project: Some(Linear::load(&mapping, inner, width)?),
            layers: self.layers(&w.module("encoder.albert_layer_groups"))?,
            relative: None,
            pooler: pooled
                // A bare `nn.Linear`; the pooler of BERT is a module with a `dense`.
                .then(|| Linear::load(&w.module("pooler"), width, width))
                .transpose()?,
        })
    }

    /// The layers of all groups, group by group.
    fn layers<B: Ops>(&self, w: &Weights<B>) -> Result<LayerStack<B, BertLayer<B>>, WeightsError> {
        let (shape, per_group) = (self.fields.layer(), self.inner_group_num);
        LayerStack::load_in_order(w, self.order(), move |index, w| {
            let group = w.module(index / per_group).module("albert_layers");
            BertLayer::load(&shape, &NAMES, &group.module(index % per_group))
        })
    }

    /// Every depth takes all layers of its group.
    fn order(&self) -> Vec<usize> {
        // The division is transformers'.
        let per_group = self.fields.num_hidden_layers as f64 / self.num_hidden_groups as f64;
        (0..self.fields.num_hidden_layers)
            // `AlbertLayer` is what transformers records as a hidden state, so each layer of a
            // group is a depth.
            .flat_map(|depth| {
                (0..self.inner_group_num).map(move |layer| {
                    (depth as f64 / per_group) as usize * self.inner_group_num + layer
                })
            })
            .collect()
    }
}

const PREDICTIONS: MaskedLmNames = MaskedLmNames {
    dense: "predictions.dense",
    norm: "predictions.LayerNorm",
    decoder: "predictions.decoder",
    bias: Some("predictions.bias"),
};

/// `model_type` `albert`.
pub(crate) struct Albert;

impl ModelDef for Albert {
    type Config = AlbertConfig;

    fn load<B: Ops>(
        config: &AlbertConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        // The other classes build the encoder with `add_pooling_layer=False`.
        let pooled = [Head::Base, Head::PreTraining, Head::SequenceClassification].contains(&head);
        let backbone = config.encoder(pooled, &w.strip_prefix("albert"))?;
        let masked_lm = || {
            backbone.masked_lm(
                config.fields.hidden_size,
                config.fields.hidden_act,
                config.fields.tie_word_embeddings,
                &PREDICTIONS,
                w,
            )
        };
        let head = match head {
            Head::PreTraining => TextHead::PreTraining {
                masked_lm: masked_lm()?,
                // `AlbertSOPHead` has `num_labels` scores, where BERT's head always has two.
                pooled: Linear::load(
                    &w.module("sop_classifier.classifier"),
                    config.fields.hidden_size,
                    labels,
                )?,
                output: "sop_logits",
            },
            Head::MaskedLm => TextHead::MaskedLm(masked_lm()?),
            Head::SequenceClassification => TextHead::Pooled(Linear::load(
                &w.module("classifier"),
                config.fields.hidden_size,
                labels,
            )?),
            head => TextHead::of_encoder(w, head, config.fields.hidden_size, labels)?,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}
