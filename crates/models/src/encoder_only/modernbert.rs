//! ModernBERT (Warner et al. 2024): `transformers.models.modernbert`.
//!
//! Rotary positions, norms before each part, gated MLPs, and attention that most layers keep to a
//! window.

use super::{
    modernbert_config::{ClassifierPooling, ModernBertConfig},
    modernbert_layer::{LayerNames, LayerShape, ModernBertLayer},
};
use crate::{
    capabilities::Capabilities,
    model_def::{LoadedNetwork, ModelDef},
    text::{
        backbone::{Backbone, Hidden},
        sliding_windows::LayerType,
        text_head::{MaskedLm, TextHead, first_token},
        text_model::TextModel,
    },
};
use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{
        Embedding, LayerNorm, Linear, ProjectionNames, Rotary, masked_mean, padding_bias,
        positions, window_bias,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// `model_type` `modernbert`.
pub(crate) struct ModernBert;

impl ModelDef for ModernBert {
    type Config = ModernBertConfig;

    fn load<B: Ops>(
        config: &ModernBertConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let mut backbone = ModernBertEncoder::load(config, &w.strip_prefix("model"))?;
        // The base class has no head, and the masked language model keeps it in its own.
        if ![Head::Base, Head::MaskedLm].contains(&head) {
            backbone.prediction = Some(PredictionHead::load(config, &w.module("head"))?);
        }
        let classifier = |out| Linear::load(&w.module("classifier"), config.hidden_size, out);
        let head = match head {
            Head::MaskedLm => TextHead::MaskedLm(masked_lm(config, backbone.words.weight(), w)?),
            Head::SequenceClassification => {
                backbone.pooling = Some(config.classifier_pooling);
                TextHead::Pooled(classifier(labels)?)
            }
            Head::TokenClassification => TextHead::PerToken(classifier(labels)?),
            // The class has as many scores as labels, and fails unless it can split them in two.
            Head::QuestionAnswering => TextHead::Span(classifier(2)?),
            _ => TextHead::Base,
        };
        Ok(Box::new(TextModel { backbone, head }))
    }
}

fn masked_lm<B: Ops>(
    config: &ModernBertConfig,
    words: Tensor<B, 2>,
    w: &Weights<B>,
) -> Result<MaskedLm<B>, WeightsError> {
    let PredictionHead {
        dense,
        activation,
        norm,
    } = PredictionHead::load(config, &w.module("head"))?;
    let (decoder, vocab) = (w.module("decoder"), config.vocab_size);
    let decoder = if config.tie_word_embeddings {
        decoder.mark_tied("weight");
        Linear::tied(
            words,
            config
                .decoder_bias
                .then(|| decoder.tensor("bias", [vocab]))
                .transpose()?,
        )
    } else {
        Linear::load_with_bias(&decoder, config.hidden_size, vocab, config.decoder_bias)?
    };
    Ok(MaskedLm {
        dense,
        activation,
        norm,
        decoder,
    })
}

/// Dense, activation and norm before every classifier.
struct PredictionHead<B: Ops> {
    dense: Linear<B>,
    activation: Activation,
    norm: LayerNorm<B>,
}

impl<B: Ops> PredictionHead<B> {
    fn load(config: &ModernBertConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let width = config.hidden_size;
        Ok(Self {
            dense: Linear::load_with_bias(
                &w.module("dense"),
                width,
                width,
                config.classifier_bias,
            )?,
            activation: config.classifier_activation,
            norm: config.norm(&w.module("norm"))?,
        })
    }

    fn forward<const D: usize>(&self, x: Tensor<B, D>) -> Tensor<B, D> {
        self.norm
            .forward(activate(self.dense.forward(x), self.activation))
    }
}

struct ModernBertEncoder<B: Ops> {
    words: Embedding<B>,
    norm: LayerNorm<B>,
    layers: LayerStack<B, (LayerType, ModernBertLayer<B>)>,
    final_norm: LayerNorm<B>,
    full: Rotary,
    sliding: Rotary,
    window: usize,
    vocab: usize,
    pooling: Option<ClassifierPooling>,
    prediction: Option<PredictionHead<B>>,
}

const NAMES: LayerNames = LayerNames {
    attention_norm: "attn_norm",
    joined: "attn.Wqkv",
    output: "attn.Wo",
    mlp_norm: "mlp_norm",
    mlp: (ProjectionNames::Joined("mlp.Wi"), "mlp.Wo"),
};

impl<B: Ops> ModernBertEncoder<B> {
    fn load(config: &ModernBertConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let embeddings = w.module("embeddings");
        let shape = LayerShape {
            width: config.hidden_size,
            heads: config.num_attention_heads,
            inner: config.intermediate_size,
            activation: config.hidden_activation,
            attention_bias: config.attention_bias,
            mlp_bias: config.mlp_bias,
        };
        Ok(Self {
            words: Embedding::load(
                &embeddings.module("tok_embeddings"),
                config.vocab_size,
                config.hidden_size,
            )?,
            norm: config.norm(&embeddings.module("norm"))?,
            layers: LayerStack::load(&w.module("layers"), config.num_hidden_layers, {
                let (config, kinds) = (config.clone(), config.kinds());
                move |index, w| {
                    // The embeddings are normalised already: transformers has an identity in the
                    // first layer.
                    let attention_norm = (index > 0)
                        .then(|| config.norm(&w.module(NAMES.attention_norm)))
                        .transpose()?;
                    let mlp_norm = config.norm(&w.module(NAMES.mlp_norm))?;
                    let layer = ModernBertLayer::load(&shape, &NAMES, attention_norm, mlp_norm, w)?;
                    Ok((kinds[index], layer))
                }
            })?,
            final_norm: config.norm(&w.module("final_norm"))?,
            full: config.rotary(LayerType::FullAttention),
            sliding: config.rotary(LayerType::SlidingAttention),
            // The field counts both directions.
            window: config.local_attention / 2,
            vocab: config.vocab_size,
            pooling: None,
            prediction: None,
        })
    }

    /// The state from which a text's label is computed, and the states of the tokens, both in the
    /// form that the head needs.
    fn heads(&self, last: Tensor<B, 3>, inputs: &Inputs<'_, B>) -> Result<Hidden<B>, ForwardError> {
        let Some(prediction) = &self.prediction else {
            return Ok(Hidden { last, pooled: None });
        };
        let pooled = match self.pooling {
            None => {
                return Ok(Hidden {
                    last: prediction.forward(last),
                    pooled: None,
                });
            }
            Some(ClassifierPooling::Cls) => first_token(last.clone()),
            Some(ClassifierPooling::Mean) => masked_mean(last.clone(), inputs)?,
        };
        Ok(Hidden {
            last,
            // Pooled first: the head has an activation, so the mean of its results would be another
            // number.
            pooled: Some(prediction.forward(pooled)),
        })
    }
}

impl<B: Ops> Backbone<B> for ModernBertEncoder<B> {
    fn hidden(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Hidden<B>, ForwardError> {
        let x = self
            .norm
            .forward(self.words.forward(inputs.indices("input_ids", self.vocab)?));
        context.trace_embed(&x)?;
        let [batch, seq, _] = x.dims();
        let (values, shape) = positions(inputs, [batch, seq], 0)?;
        // Both before the layers: layers of the two types alternate.
        let full = (
            self.full.at(&values, shape, inputs),
            padding_bias(inputs, [batch, seq])?,
        );
        let sliding = (
            self.sliding.at(&values, shape, inputs),
            window_bias(inputs, [batch, seq], self.window)?,
        );
        let last = self.layers.run(
            context,
            x,
            &mut (full, sliding),
            |(kind, layer), x, (full, sliding), _| {
                let (rotation, bias) = match kind {
                    LayerType::FullAttention => full,
                    LayerType::SlidingAttention => sliding,
                };
                Ok(layer.forward(x, rotation, bias.clone()))
            },
            |x| self.final_norm.forward(x),
        )?;
        self.heads(last, inputs)
    }

    fn capabilities(&self) -> Capabilities {
        // Positions rotate, so that no table limits the length.
        Capabilities::default()
    }
}
