//! BERT (Devlin et al. 2018) and RoBERTa (Liu et al. 2019): `transformers.models.bert`, `transformers.models.roberta`.
//!
//! RoBERTa is BERT with positions counted from the padding token's id and other heads.

use super::{
    class::Head,
    family::Family,
    forward::ForwardError,
    load::LoadError,
    network::{Inputs, Network, Pass},
    text_head::{MaskedLm, MaskedLmNames, MaskedLmShape, TextHead, first_token},
    text_model::{Backbone, Hidden, TextModel},
};
use crate::{
    backend::{Activation, Ops, activate},
    config::Config,
    layer::{
        AttentionNames, AttentionShape, Embedding, FeedForward, LayerNorm, Linear, SelfAttention, padding_bias,
        positions,
    },
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json` of both types.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct BertConfig {
    model_type: String,
    vocab_size: usize,
    hidden_size: usize,
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
        match self.position_embedding_type.as_str() {
            "absolute" => Ok(()),
            other => Err(format!("`position_embedding_type` {other:?} is not supported, only \"absolute\"")),
        }
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
        let backbone = Encoder::load(config, Positions::FromZero, pooled, &w.base("bert"))?;
        let names = MaskedLmNames {
            dense: "cls.predictions.transform.dense",
            norm: "cls.predictions.transform.LayerNorm",
            decoder: "cls.predictions.decoder",
            bias: Some("cls.predictions.bias"),
        };
        let masked_lm = || backbone.masked_lm(config, config.hidden_act, &names, w);
        let linear = |name, out| Linear::load(&w.module(name), config.hidden_size, out);
        let head = match head {
            Head::MaskedLm => TextHead::MaskedLm(masked_lm()?),
            Head::PreTraining => {
                TextHead::PreTraining { masked_lm: masked_lm()?, next_sentence: linear("cls.seq_relationship", 2)? }
            }
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
        let backbone = Encoder::load(config, positions, head == Head::Base, &w.base("roberta"))?;
        let names = MaskedLmNames {
            dense: "lm_head.dense",
            norm: "lm_head.layer_norm",
            decoder: "lm_head.decoder",
            bias: Some("lm_head.bias"),
        };
        let head = match head {
            Head::MaskedLm => TextHead::MaskedLm(backbone.masked_lm(config, Activation::Gelu, &names, w)?),
            Head::SequenceClassification => {
                let (width, w) = (config.hidden_size, w.module("classifier"));
                TextHead::FirstToken {
                    dense: Linear::load(&w.module("dense"), width, width)?,
                    activation: Activation::Tanh,
                    out: Linear::load(&w.module("out_proj"), width, labels)?,
                }
            }
            Head::TokenClassification => TextHead::per_token(w, config.hidden_size, labels)?,
            Head::QuestionAnswering => TextHead::span(w, config.hidden_size)?,
            _ => TextHead::Base,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}

/// What the two types number the positions by.
#[derive(Debug, Clone, Copy)]
enum Positions {
    /// 0, 1, 2, ...
    FromZero,
    /// Counted over the tokens that are not padding, from the padding token's id + 1; padding has that id itself.
    FromPadding(i64),
}

struct Encoder<B: Ops> {
    word_embeddings: Embedding<B>,
    position_embeddings: Embedding<B>,
    token_type_embeddings: Embedding<B>,
    norm: LayerNorm<B>,
    layers: Vec<Layer<B>>,
    pooler: Option<Linear<B>>,
    positions: Positions,
    /// Rows of the word, position and token type embeddings.
    limits: [usize; 3],
}

impl<B: Ops> Encoder<B> {
    fn load(config: &BertConfig, positions: Positions, pooled: bool, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, embeddings) = (config.hidden_size, w.module("embeddings"));
        let limits = [config.vocab_size, config.max_position_embeddings, config.type_vocab_size];
        let table = |name, rows| Embedding::load(&embeddings.module(name), rows, width);
        let layer = |index| Layer::load(config, &w.module("encoder.layer").module(index));
        Ok(Self {
            word_embeddings: table("word_embeddings", limits[0])?,
            position_embeddings: table("position_embeddings", limits[1])?,
            token_type_embeddings: table("token_type_embeddings", limits[2])?,
            norm: LayerNorm::load(&embeddings.module("LayerNorm"), width, config.layer_norm_eps)?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_, _>>()?,
            pooler: pooled.then(|| Linear::load(&w.module("pooler.dense"), width, width)).transpose()?,
            positions,
            limits,
        })
    }

    fn masked_lm(
        &self,
        config: &BertConfig,
        activation: Activation,
        names: &MaskedLmNames,
        w: &Weights<B>,
    ) -> Result<MaskedLm<B>, WeightsError> {
        let shape = MaskedLmShape {
            width: config.hidden_size,
            vocab: config.vocab_size,
            activation,
            eps: config.layer_norm_eps,
            tied: config.tie_word_embeddings,
        };
        MaskedLm::load(w, names, &shape, self.word_embeddings.weight())
    }

    /// The sum of the three embeddings, normalised: [batch, seq, width].
    fn embed(&self, inputs: &Inputs<'_, B>) -> Result<Tensor<B, 3>, ForwardError> {
        let [vocab, _, types] = self.limits;
        let ids = inputs.indices("input_ids", vocab)?;
        let [batch, seq] = ids.dims();
        let token_types = match inputs.optional_indices("token_type_ids", types)? {
            Some(token_types) => token_types,
            None => inputs.put_indices(vec![0; seq], [1, seq]),
        };
        let words = self.word_embeddings.forward(ids) + self.token_type_embeddings.forward(token_types);
        let (values, shape) = self.positions(inputs, [batch, seq])?;
        let positions = inputs.checked_indices("position_ids", values, shape, self.limits[1])?;
        Ok(self.norm.forward(words + self.position_embeddings.forward(positions)))
    }

    fn positions(&self, inputs: &Inputs<'_, B>, shape: [usize; 2]) -> Result<(Vec<i64>, [usize; 2]), ForwardError> {
        let Positions::FromPadding(padding) = self.positions else { return positions(inputs, shape, 0) };
        if inputs.host("position_ids").is_some() {
            return positions(inputs, shape, 0);
        }
        let ids = inputs.host("input_ids").and_then(|ids| ids.as_integers()).unwrap_or_default();
        let count = |row: &[i64]| {
            let mut last = padding;
            row.iter()
                .map(|id| {
                    if *id == padding {
                        padding
                    } else {
                        last += 1;
                        last
                    }
                })
                .collect::<Vec<_>>()
        };
        Ok((ids.chunks(shape[1]).flat_map(count).collect(), shape))
    }
}

impl<B: Ops> Backbone<B> for Encoder<B> {
    fn hidden(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let mut x = self.embed(inputs)?;
        pass.trace_embed(&x)?;
        let [batch, seq, _] = x.dims();
        let bias = padding_bias(inputs, [batch, seq])?;
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x, bias.clone());
            pass.trace_layer(index, &x)?;
        }
        let pooled =
            self.pooler.as_ref().map(|pooler| activate(pooler.forward(first_token(x.clone())), Activation::Tanh));
        Ok(Hidden { last: x, pooled })
    }

    fn max_positions(&self) -> Option<usize> {
        match self.positions {
            Positions::FromZero => Some(self.limits[1]),
            Positions::FromPadding(padding) => Some(self.limits[1] - padding as usize - 1),
        }
    }
}

struct Layer<B: Ops> {
    attention: SelfAttention<B>,
    attention_norm: LayerNorm<B>,
    feed_forward: FeedForward<B>,
    output_norm: LayerNorm<B>,
}

const ATTENTION: AttentionNames = AttentionNames {
    query: "attention.self.query",
    key: "attention.self.key",
    value: "attention.self.value",
    output: "attention.output.dense",
};

impl<B: Ops> Layer<B> {
    fn load(config: &BertConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, inner, eps) = (config.hidden_size, config.intermediate_size, config.layer_norm_eps);
        let shape = AttentionShape { width, heads: config.num_attention_heads, bias: true };
        Ok(Self {
            attention: SelfAttention::load(w, &ATTENTION, &shape)?,
            attention_norm: LayerNorm::load(&w.module("attention.output.LayerNorm"), width, eps)?,
            feed_forward: FeedForward {
                up: Linear::load(&w.module("intermediate.dense"), width, inner)?,
                activation: config.hidden_act,
                down: Linear::load(&w.module("output.dense"), inner, width)?,
            },
            output_norm: LayerNorm::load(&w.module("output.LayerNorm"), width, eps)?,
        })
    }

    /// [batch, seq, width], normalised after each residual sum.
    fn forward(&self, x: Tensor<B, 3>, bias: Option<Tensor<B, 4>>) -> Tensor<B, 3> {
        let x = self.attention_norm.forward_sum(self.attention.forward(x.clone(), bias), x);
        self.output_norm.forward_sum(self.feed_forward.forward(x.clone()), x)
    }
}
