//! MPNet (Song et al. 2020): `transformers.models.mpnet`.
//!
//! BERT without token types, with positions counted from the padding token and a bias on the scores
//! by distance.

use crate::{
    config::{ModelConfig, divides_into_heads},
    model_def::{LoadedNetwork, ModelDef},
    text::{
        bert_encoder::{BertEncoder, BertLayerNames, BertLayerShape},
        text_embeddings::{EmbeddingsShape, PositionNumbering, TextEmbeddings},
        text_head::{MaskedLmNames, TextHead},
        text_model::TextModel,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    layer::{AttentionNames, Linear, RelativeBias, RelativeBuckets},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct MpnetConfig {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: Activation,
    max_position_embeddings: usize,
    layer_norm_eps: f64,
    relative_attention_num_buckets: usize,
    tie_word_embeddings: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The number of distance buckets in transformers, whatever `relative_attention_num_buckets` is.
const BUCKETS: RelativeBuckets = RelativeBuckets {
    bidirectional: true,
    count: 32,
    max_distance: 128,
};

/// The padding token from which transformers counts positions, whatever `pad_token_id` is.
const PADDING: i64 = 1;

impl ModelConfig for MpnetConfig {
    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides_into_heads(self.hidden_size, self.num_attention_heads)?;
        match self.relative_attention_num_buckets {
            32 => Ok(()),
            other => Err(format!(
                "`relative_attention_num_buckets` is {other}; transformers computes 32 always"
            )),
        }
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        match head {
            Head::MaskedLm => Vec::new(),
            _ => vec![(
                "tie_word_embeddings",
                "only masked language models have a decoder to tie",
            )],
        }
    }
}

const NAMES: BertLayerNames = BertLayerNames {
    attention: AttentionNames {
        query: "attention.attn.q",
        key: "attention.attn.k",
        value: "attention.attn.v",
        output: "attention.attn.o",
    },
    attention_norm: "attention.LayerNorm",
    up: "intermediate.dense",
    down: "output.dense",
    output_norm: "output.LayerNorm",
};

impl MpnetConfig {
    fn encoder<B: Ops>(
        &self,
        pooled: bool,
        w: &Weights<B>,
    ) -> Result<BertEncoder<B>, WeightsError> {
        let (width, heads, eps) = (
            self.hidden_size,
            self.num_attention_heads,
            self.layer_norm_eps,
        );
        let (vocab, positions) = (self.vocab_size, self.max_position_embeddings);
        let tables = EmbeddingsShape {
            width,
            vocab,
            positions,
            // `MPNetEmbeddings` has no table of types.
            token_types: 0,
            eps,
        };
        let layer = BertLayerShape {
            width,
            heads,
            inner: self.intermediate_size,
            activation: self.hidden_act,
            eps,
        };
        let embeddings = TextEmbeddings::load(tables, PositionNumbering::FromPadding(PADDING), w)?;
        let encoder = BertEncoder::load(
            embeddings,
            self.num_hidden_layers,
            &layer,
            &NAMES,
            &w.module("encoder.layer"),
        )?;
        // `MPNetEncoder` computes the bias once for all layers.
        let relative =
            RelativeBias::load(&w.module("encoder.relative_attention_bias"), BUCKETS, heads)?;
        let pooler = pooled
            .then(|| Linear::load(&w.module("pooler.dense"), width, width))
            .transpose()?;
        Ok(BertEncoder {
            relative: Some(relative),
            pooler,
            ..encoder
        })
    }
}

const LM_HEAD: MaskedLmNames = MaskedLmNames {
    dense: "lm_head.dense",
    norm: "lm_head.layer_norm",
    decoder: "lm_head.decoder",
    bias: Some("lm_head.bias"),
};

/// `model_type` `mpnet`.
pub(crate) struct Mpnet;

impl ModelDef for Mpnet {
    type Config = MpnetConfig;

    fn load<B: Ops>(
        config: &MpnetConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        // Only `MPNetModel` itself has a pooler; its classifiers read the first token.
        let backbone = config.encoder(head == Head::Base, &w.strip_prefix("mpnet"))?;
        let width = config.hidden_size;
        let head = match head {
            Head::MaskedLm => TextHead::MaskedLm(backbone.masked_lm(
                width,
                // `MPNetLMHead` takes GELU whatever `hidden_act` is.
                Activation::Gelu,
                config.tie_word_embeddings,
                &LM_HEAD,
                w,
            )?),
            // `MPNetClassificationHead` applies tanh, whatever `hidden_act` is.
            Head::SequenceClassification => {
                TextHead::first_token(&w.module("classifier"), width, labels, Activation::Tanh)?
            }
            head => TextHead::of_encoder(w, head, width, labels)?,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}
