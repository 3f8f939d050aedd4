//! DeBERTa v2 and v3 (He et al. 2020, 2021): `transformers.models.deberta_v2`.
//!
//! BERT whose attention weighs distances apart from contents, with a convolution beside the first
//! layer in some checkpoints.

use super::deberta_v2_encoder::{DebertaV2Encoder, DebertaV2Shape};
use crate::{
    config::{ModelConfig, divides},
    model_def::{LoadedNetwork, ModelDef},
    text::{
        text_embeddings::EmbeddingsShape,
        text_head::{MaskedLm, MaskedLmNames, MaskedLmShape, TextHead},
        text_model::TextModel,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    layer::{DisentangledShape, DistanceBuckets, Linear},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct DebertaV2Config {
    vocab_size: usize,
    embedding_size: Option<usize>,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    attention_head_size: Option<usize>,
    intermediate_size: usize,
    hidden_act: Activation,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    layer_norm_eps: f64,
    relative_attention: bool,
    max_relative_positions: i64,
    position_buckets: i64,
    norm_rel_ebd: String,
    share_att_key: bool,
    pos_att_type: Option<Terms>,
    position_biased_input: bool,
    conv_kernel_size: usize,
    conv_groups: usize,
    conv_act: Activation,
    pooler_hidden_act: Activation,
    pooler_hidden_size: Option<usize>,
    legacy: bool,
    tie_word_embeddings: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// `"c2p|p2c"` or `["c2p", "p2c"]`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Terms {
    Joined(String),
    Listed(Vec<String>),
}

impl ModelConfig for DebertaV2Config {
    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        let (width, heads) = (self.hidden_size, self.num_attention_heads);
        divides("hidden_size", width, "num_attention_heads", heads)?;
        if let Some(size) = self
            .attention_head_size
            .filter(|size| size * heads != width)
        {
            return Err(format!(
                "`attention_head_size` {size} times {heads} heads is not `hidden_size` {width}"
            ));
        }
        // `ContextPooler` multiplies the hidden states with a square matrix of this size.
        if let Some(size) = self.pooler_hidden_size.filter(|size| *size != width) {
            return Err(format!(
                "`pooler_hidden_size` {size} is not `hidden_size` {width}"
            ));
        }
        if let Some(term) = self
            .terms()
            .iter()
            .find(|term| !["c2p", "p2c"].contains(&term.as_str()))
        {
            return Err(format!(
                "`pos_att_type` has {term:?}; supported are \"c2p\" and \"p2c\""
            ));
        }
        if !["none", "layer_norm"].contains(&self.norm_rel_ebd.as_str()) {
            return Err(format!(
                "`norm_rel_ebd` is {:?}; supported are \"none\" and \"layer_norm\"",
                self.norm_rel_ebd
            ));
        }
        if self.conv_kernel_size > 0 && self.conv_kernel_size.is_multiple_of(2) {
            return Err(format!(
                "`conv_kernel_size` {} is even, which changes the length",
                self.conv_kernel_size
            ));
        }
        if self.conv_groups != 1 {
            return Err(format!(
                "`conv_groups` is {}, supported is 1",
                self.conv_groups
            ));
        }
        self.validate_distances()
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = Vec::new();
        let mut absent =
            |names: &[&'static str], why| fields.extend(names.iter().map(|name| (*name, why)));
        if head != Head::MaskedLm {
            absent(
                &["legacy", "tie_word_embeddings"],
                "only masked language models have a decoder",
            );
        } else if !self.legacy {
            absent(
                &["tie_word_embeddings"],
                "the head that is not legacy is always tied",
            );
        }
        if head != Head::SequenceClassification {
            absent(
                &["pooler_hidden_act"],
                "only classifiers of texts have a pooler",
            );
        }
        if !self.relative_attention {
            let names = [
                "max_relative_positions",
                "position_buckets",
                "share_att_key",
            ];
            absent(&names, "attention is not relative");
        }
        if self.max_relative_positions < 1 {
            absent(
                &["max_relative_positions"],
                "below 1 it means `max_position_embeddings`",
            );
        }
        if self.position_buckets < 1 {
            absent(&["position_buckets"], "below 1 there are none");
        }
        let limits_distances = self.relative_attention && self.max_relative_positions < 1;
        if !self.position_biased_input && !limits_distances {
            absent(
                &["max_position_embeddings"],
                "there are no absolute positions, and it limits no distances",
            );
        }
        if self.conv_kernel_size == 0 {
            absent(&["conv_act"], "there is no convolution");
        }
        fields
    }
}

impl DebertaV2Config {
    /// The parts of the scores beside content to content.
    fn terms(&self) -> Vec<String> {
        match &self.pos_att_type {
            None => Vec::new(),
            Some(Terms::Listed(terms)) => terms.clone(),
            // `DebertaV2Config` lowers and splits a string, and takes a list as it is.
            Some(Terms::Joined(terms)) => terms
                .to_lowercase()
                .split('|')
                .map(|term| term.trim().to_owned())
                .collect(),
        }
    }

    fn distances(&self) -> DistanceBuckets {
        // -1, the default, means as many as there are positions.
        let given = usize::try_from(self.max_relative_positions)
            .ok()
            .filter(|positions| *positions > 0);
        DistanceBuckets {
            buckets: usize::try_from(self.position_buckets)
                .ok()
                .filter(|buckets| *buckets > 0),
            max_distance: given.unwrap_or(self.max_position_embeddings),
        }
    }

    fn validate_distances(&self) -> Result<(), String> {
        let DistanceBuckets {
            buckets,
            max_distance,
        } = self.distances();
        // `make_log_bucket_position` divides by ln((longest - 1) / half of the buckets), which is
        // above 0 only for a longer distance.
        match buckets.filter(|_| self.relative_attention) {
            Some(buckets) if buckets < 4 || max_distance <= buckets / 2 + 1 => Err(format!(
                "`position_buckets` {buckets} leaves no room for distances below {max_distance}; at least 4, and half of them \
                 below the longest distance"
            )),
            _ => Ok(()),
        }
    }

    fn shape(&self) -> DebertaV2Shape {
        let (width, terms) = (self.hidden_size, self.terms());
        DebertaV2Shape {
            tables: EmbeddingsShape {
                width: self.embedding_size.unwrap_or(width),
                vocab: self.vocab_size,
                positions: if self.position_biased_input {
                    self.max_position_embeddings
                } else {
                    0
                },
                token_types: self.type_vocab_size,
                eps: self.layer_norm_eps,
            },
            attention: DisentangledShape {
                width,
                heads: self.num_attention_heads,
                to_distance: has("c2p", &terms),
                from_distance: has("p2c", &terms),
                shared: self.share_att_key,
                distances: self.relative_attention.then(|| self.distances()),
            },
            layers: self.num_hidden_layers,
            inner: self.intermediate_size,
            activation: self.hidden_act,
            eps: self.layer_norm_eps,
            normalised_distances: self.norm_rel_ebd == "layer_norm",
            convolution: (self.conv_kernel_size > 0)
                .then_some((self.conv_kernel_size, self.conv_act)),
        }
    }

    fn masked_lm<B: Ops>(
        &self,
        encoder: &DebertaV2Encoder<B>,
        w: &Weights<B>,
    ) -> Result<MaskedLm<B>, WeightsError> {
        let width = self.hidden_size;
        // `LegacyDebertaV2PredictionHeadTransform` has the width of the embeddings.
        let inner = if self.legacy {
            self.embedding_size.unwrap_or(width)
        } else {
            width
        };
        let shape = MaskedLmShape {
            width,
            inner,
            vocab: self.vocab_size,
            activation: self.hidden_act,
            eps: self.layer_norm_eps,
            // `DebertaV2LMPredictionHead` multiplies by the embeddings
            // themselves; only the legacy head has a separate decoder.
            tied: self.tie_word_embeddings || !self.legacy,
        };
        MaskedLm::load(
            w,
            if self.legacy { &LEGACY } else { &CURRENT },
            &shape,
            encoder.words(),
        )
    }
}

const LEGACY: MaskedLmNames = MaskedLmNames {
    dense: "cls.predictions.transform.dense",
    norm: "cls.predictions.transform.LayerNorm",
    decoder: "cls.predictions.decoder",
    bias: Some("cls.predictions.bias"),
};

const CURRENT: MaskedLmNames = MaskedLmNames {
    dense: "lm_predictions.lm_head.dense",
    norm: "lm_predictions.lm_head.LayerNorm",
    decoder: "lm_predictions.lm_head.decoder",
    bias: Some("lm_predictions.lm_head.bias"),
};

/// `model_type` `deberta-v2`.
pub(crate) struct DebertaV2;

impl ModelDef for DebertaV2 {
    type Config = DebertaV2Config;

    fn load<B: Ops>(
        config: &DebertaV2Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let backbone = DebertaV2Encoder::load(&config.shape(), &w.strip_prefix("deberta"))?;
        let width = config.hidden_size;
        let head = match head {
            Head::MaskedLm => TextHead::MaskedLm(config.masked_lm(&backbone, w)?),
            Head::SequenceClassification => TextHead::FirstToken {
                dense: Linear::load(&w.module("pooler.dense"), width, width)?,
                // `ContextPooler` has the activation of a field, where `BertPooler` always takes
                // tanh.
                activation: config.pooler_hidden_act,
                out: Linear::load(&w.module("classifier"), width, labels)?,
            },
            head => TextHead::of_encoder(w, head, width, labels)?,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}

fn has(name: &str, terms: &[String]) -> bool {
    terms.iter().any(|term| term == name)
}
