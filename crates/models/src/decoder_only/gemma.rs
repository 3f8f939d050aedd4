//! Gemma (Gemma Team 2024): `transformers.models.gemma`. Llama with scaled embeddings, norms whose
//! weights are added to one, and heads whose width is a separate field. Gemma 2
//! (`transformers.models.gemma2`) also has norms after each block, a window in every second layer,
//! and soft caps.

use crate::{
    config::{ModelConfig, divides, divides_into_heads},
    model_def::{LoadedNetwork, ModelDef},
    text::{
        causal_decoder::{CausalDecoder, DecoderLayer, FinalNorm, States},
        llama_shape::{LlamaFields, LlamaShape},
        llama_variant::LlamaVariant,
        sliding_windows::{LayerType, validate_layer_types},
        text_head::{TextHead, fields_of_other_heads},
        token_embeddings::TokenEmbeddings,
    },
};
use burn_tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    context::LayerSlot,
    layer::{
        GatedMlp, GroupedAttention, HeadCounts, LayerContext, Linear, Positions, ProjectionNames,
        Projections, RmsNorm, RopeConfig, Rotary,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json` of `model_type` `gemma`.
#[derive(Debug, Deserialize)]
pub(crate) struct Gemma {
    #[serde(flatten)]
    fields: LlamaFields,
    attention_bias: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl LlamaVariant for Gemma {
    /// transformers 5 only reads `hidden_act`.
    const INERT: &'static [&'static str] = &["hidden_activation"];

    fn parts(&self) -> (&LlamaFields, &Map<String, Value>) {
        (&self.fields, &self.rest)
    }

    fn shape(&self) -> LlamaShape {
        LlamaShape {
            query_bias: self.attention_bias,
            output_bias: self.attention_bias,
            unit_offset: true,
            // Gemma multiplies embeddings by sqrt(width) and not the head, with which they are
            // tied.
            embedding_scale: Some((self.fields.hidden_size as f64).sqrt()),
            // Files of the official releases say "gelu" and mean the approximation; `GemmaConfig`
            // replaces it.
            activation: match self.fields.hidden_act {
                Activation::Gelu => Activation::GeluNew,
                other => other,
            },
            ..LlamaShape::defaults(&self.fields)
        }
    }
}

/// The `config.json` of `model_type` `gemma2`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Gemma2Config {
    vocab_size: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: usize,
    head_dim: usize,
    hidden_activation: Activation,
    max_position_embeddings: usize,
    rms_norm_eps: f64,
    pad_token_id: Option<i64>,
    tie_word_embeddings: bool,
    attention_bias: bool,
    query_pre_attn_scalar: f64,
    // `Gemma2Model` makes a mask with a window in every call, and fails if this is null.
    sliding_window: usize,
    layer_types: Option<Vec<LayerType>>,
    final_logit_softcapping: Option<f64>,
    attn_logit_softcapping: Option<f64>,
    #[serde(flatten)]
    rope: RopeConfig,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Gemma2Config {
    /// The window of each layer: by `layer_types`, else a window in every second layer from the
    /// first on.
    fn windows(&self) -> Vec<Option<usize>> {
        (0..self.num_hidden_layers)
            .map(|layer| {
                let is_sliding = match &self.layer_types {
                    // `validate` has compared the number of entries with the number of layers.
                    Some(types) => types[layer] == LayerType::SlidingAttention,
                    // As `Gemma2Config` derives `layer_types` if a file has none.
                    None => layer.is_multiple_of(2),
                };
                is_sliding.then_some(self.sliding_window)
            })
            .collect()
    }
}

impl ModelConfig for Gemma2Config {
    /// The activation is `hidden_activation`; the window has a second name; how the cache is kept.
    const INERT: &'static [&'static str] =
        &["cache_implementation", "hidden_act", "sliding_window_size"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        let heads = self.num_attention_heads;
        // `Gemma2Config` demands it, although heads have a width of a separate field.
        divides_into_heads(self.hidden_size, heads)?;
        divides(
            "num_attention_heads",
            heads,
            "num_key_value_heads",
            self.num_key_value_heads,
        )?;
        if let Some(types) = &self.layer_types {
            validate_layer_types(types, self.num_hidden_layers)?;
        }
        self.rope.fields().validate(self.head_dim)
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = fields_of_other_heads(head);
        fields.extend(
            self.rope
                .fields()
                .inert_fields(self.max_position_embeddings, self.head_dim),
        );
        if self.windows().iter().all(Option::is_none) {
            fields.push(("sliding_window", "no layer has a window"));
            fields.push(("layer_types", "no layer has a window"));
        }
        if head != Head::CausalLm {
            fields.push((
                "final_logit_softcapping",
                "only language models cap their logits",
            ));
        }
        fields
    }
}

/// `model_type` `gemma2`.
pub(crate) struct Gemma2;

impl ModelDef for Gemma2 {
    type Config = Gemma2Config;

    fn load<B: Ops>(
        config: &Gemma2Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let backbone = load_decoder(config, &w.strip_prefix("model"))?;
        let head = match head {
            // `GenericForTokenClassification` calls it `score`; encoders call it `classifier`.
            Head::TokenClassification => TextHead::PerToken(Linear::load(
                &w.module("score"),
                config.hidden_size,
                labels,
            )?),
            head => backbone.standard_head(
                w,
                head,
                labels,
                config.tie_word_embeddings,
                config.pad_token_id,
            )?,
        };
        let head = match (head, config.final_logit_softcapping) {
            (TextHead::CausalLm(head), Some(cap)) => TextHead::CappedLm(head, cap),
            (head, _) => head,
        };
        Ok(backbone.with_head(head))
    }
}

type Gemma2Decoder<B> = CausalDecoder<B, TokenEmbeddings<B>, Gemma2Layer<B>>;

fn load_decoder<B: Ops>(
    config: &Gemma2Config,
    w: &Weights<B>,
) -> Result<Gemma2Decoder<B>, WeightsError> {
    let (width, trained) = (config.hidden_size, config.max_position_embeddings);
    let rope = config.rope.fields().parameters(trained);
    let norm = RmsNorm::load_unit_offset(&w.module("norm"), width, config.rms_norm_eps)?;
    Ok(CausalDecoder {
        embeddings: TokenEmbeddings::load(
            w,
            config.vocab_size,
            width,
            // `Gemma2Model` scales the embeddings; no field changes it.
            Some((width as f64).sqrt()),
        )?,
        positions: Positions::Rotary(Rotary::new(&rope, config.head_dim, trained)),
        layers: LayerStack::load(&w.module("layers"), config.num_hidden_layers, {
            let (config, windows) = (config.clone(), config.windows());
            move |index, w| Gemma2Layer::load(&config, windows[index], w)
        })?,
        final_norm: FinalNorm::RmsNorm(norm),
    })
}

struct Gemma2Layer<B: Ops> {
    input_layernorm: RmsNorm<B>,
    self_attn: GroupedAttention<B>,
    post_attention_layernorm: RmsNorm<B>,
    pre_feedforward_layernorm: RmsNorm<B>,
    mlp: GatedMlp<B>,
    post_feedforward_layernorm: RmsNorm<B>,
    window: Option<usize>,
}

impl<B: Ops> Gemma2Layer<B> {
    fn load(
        config: &Gemma2Config,
        window: Option<usize>,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let widths = [config.hidden_size, config.intermediate_size];
        let norm =
            |name| RmsNorm::load_unit_offset(&w.module(name), widths[0], config.rms_norm_eps);
        let names = (
            ProjectionNames::Apart(["gate_proj", "up_proj"]),
            "down_proj",
        );
        Ok(Self {
            input_layernorm: norm("input_layernorm")?,
            self_attn: attention(config, &w.module("self_attn"))?,
            post_attention_layernorm: norm("post_attention_layernorm")?,
            pre_feedforward_layernorm: norm("pre_feedforward_layernorm")?,
            mlp: GatedMlp::load(
                &w.module("mlp"),
                names,
                widths,
                config.hidden_activation,
                false,
            )?,
            post_feedforward_layernorm: norm("post_feedforward_layernorm")?,
            window,
        })
    }
}

impl<B: Ops> DecoderLayer<B> for Gemma2Layer<B> {
    fn forward(
        &self,
        x: Tensor<B, 3>,
        view: LayerContext<'_, B>,
        slot: LayerSlot<'_, '_, B>,
    ) -> States<B> {
        let attended = self
            .self_attn
            .forward(self.input_layernorm.forward(x.clone()), view, slot);
        // The norm of the block's result, before the sum: the residual itself is never normalised.
        let x = x + self.post_attention_layernorm.forward(attended);
        let fed = self
            .mlp
            .forward(self.pre_feedforward_layernorm.forward(x.clone()));
        Ok(x + self.post_feedforward_layernorm.forward(fed))
    }

    fn window(&self) -> Option<usize> {
        self.window
    }
}

fn attention<B: Ops>(
    config: &Gemma2Config,
    w: &Weights<B>,
) -> Result<GroupedAttention<B>, WeightsError> {
    let (width, bias) = (config.hidden_size, config.attention_bias);
    let heads = HeadCounts {
        query: config.num_attention_heads,
        key_value: config.num_key_value_heads,
    };
    let (queries, keys) = (
        heads.query * config.head_dim,
        heads.key_value * config.head_dim,
    );
    let names = ProjectionNames::Apart(["q_proj", "k_proj", "v_proj"]);
    let projections = Projections::load(w, names, width, [queries, keys, keys], bias)?;
    let output = Linear::load_with_bias(&w.module("o_proj"), queries, width, bias)?;
    Ok(GroupedAttention {
        // Not `head_dim`: the two differ in the 27B model.
        scale: config.query_pre_attn_scalar.powf(-0.5),
        soft_cap: config.attn_logit_softcapping,
        ..GroupedAttention::defaults(projections, output, heads, config.head_dim)
    })
}
