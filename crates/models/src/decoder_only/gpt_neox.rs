//! GPT-NeoX (Black et al. 2022) and Pythia: `transformers.models.gpt_neox`.

use crate::{
    config::{ModelConfig, divides_into_heads},
    model_def::{LoadedNetwork, ModelDef},
    text::{
        causal_decoder::{CausalDecoder, DecoderLayer, FinalNorm, States},
        text_head::{TextHead, fields_of_other_heads},
    },
};
use burn_tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    context::LayerSlot,
    layer::{
        Embedding, GroupedAttention, HeadCounts, LayerContext, LayerNorm, Linear, Mlp, Positions,
        Projections, RopeFields, RopeParameters, Rotary,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct GptNeoXConfig {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: Activation,
    max_position_embeddings: usize,
    layer_norm_eps: f64,
    use_parallel_residual: bool,
    attention_bias: bool,
    tie_word_embeddings: bool,
    pad_token_id: Option<i64>,
    rope_parameters: Option<RopeParameters>,
    rope_scaling: Option<RopeParameters>,
    rotary_emb_base: Option<f64>,
    rotary_pct: Option<f64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl GptNeoXConfig {
    fn fields(&self) -> RopeFields<'_> {
        // Not `RopeConfig`, because this type calls the base `rotary_emb_base`.
        let parameters = self.rope_scaling.as_ref().or(self.rope_parameters.as_ref());
        RopeFields {
            parameters,
            theta: self.rotary_emb_base,
        }
    }

    /// A quarter of each head rotates where no field says it.
    fn rope(&self) -> RopeParameters {
        let mut rope = self.fields().parameters(self.max_position_embeddings);
        rope.partial_rotary_factor = rope
            .partial_rotary_factor
            // The older name of Pythia's files, which `GPTNeoXConfig` moves into the parameters.
            .or(self.rotary_pct)
            .or(Some(0.25));
        rope
    }

    fn head_dim(&self) -> usize {
        // Also called for 0 heads, which `validate` refuses.
        self.hidden_size / self.num_attention_heads.max(1)
    }
}

impl ModelConfig for GptNeoXConfig {
    /// Whether the model is part of another one.
    const INERT: &'static [&'static str] = &["is_decoder"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides_into_heads(self.hidden_size, self.num_attention_heads)?;
        // Not `RopeFields::validate`, which refuses heads that rotate in part.
        self.rope().validate()?;
        self.rope().validate_width(self.head_dim())
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = fields_of_other_heads(head);
        if !self.fields().reads_max_positions() {
            fields.push((
                "max_position_embeddings",
                "this rope type does not depend on the trained length",
            ));
        }
        fields.extend(self.rope().inert_fields(self.head_dim()));
        fields
    }
}

/// `model_type` `gpt_neox`.
pub(crate) struct GptNeoX;

impl ModelDef for GptNeoX {
    type Config = GptNeoXConfig;

    fn load<B: Ops>(
        config: &GptNeoXConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let backbone = load_decoder(config, &w.strip_prefix("gpt_neox"))?;
        let tied = config.tie_word_embeddings;
        let head = match head {
            // Older checkpoints keep the head under another name.
            Head::CausalLm if !tied => {
                let w = w.module_named(&["lm_head", "embed_out"]);
                TextHead::CausalLm(Linear::load_with_bias(
                    &w,
                    config.hidden_size,
                    config.vocab_size,
                    false,
                )?)
            }
            head => backbone.standard_head(w, head, labels, tied, config.pad_token_id)?,
        };
        Ok(backbone.with_head(head))
    }
}

type GptNeoXDecoder<B> = CausalDecoder<B, Embedding<B>, GptNeoXLayer<B>>;

fn load_decoder<B: Ops>(
    config: &GptNeoXConfig,
    w: &Weights<B>,
) -> Result<GptNeoXDecoder<B>, WeightsError> {
    let (width, trained) = (config.hidden_size, config.max_position_embeddings);
    let norm = LayerNorm::load(&w.module("final_layer_norm"), width, config.layer_norm_eps)?;
    Ok(CausalDecoder {
        embeddings: Embedding::load(&w.module("embed_in"), config.vocab_size, width)?,
        positions: Positions::Rotary(Rotary::new(&config.rope(), config.head_dim(), trained)),
        layers: LayerStack::load(&w.module("layers"), config.num_hidden_layers, {
            let config = config.clone();
            move |_, w| GptNeoXLayer::load(&config, w)
        })?,
        final_norm: FinalNorm::LayerNorm(norm),
    })
}

struct GptNeoXLayer<B: Ops> {
    input_layernorm: LayerNorm<B>,
    attention: GroupedAttention<B>,
    post_attention_layernorm: LayerNorm<B>,
    mlp: Mlp<B>,
    parallel: bool,
}

impl<B: Ops> GptNeoXLayer<B> {
    fn load(config: &GptNeoXConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, inner, heads) = (
            config.hidden_size,
            config.intermediate_size,
            config.num_attention_heads,
        );
        let (head_dim, bias) = (config.head_dim(), config.attention_bias);
        let qkv = w.module("attention.query_key_value");
        // Each head's query, key and value are side by side in the rows of the matrix, as in BLOOM.
        let projections = Projections::load_by_group(&qkv, width, [heads, 1, head_dim], bias)?;
        let output = Linear::load_with_bias(&w.module("attention.dense"), width, width, bias)?;
        let names = ["mlp.dense_h_to_4h", "mlp.dense_4h_to_h"];
        Ok(Self {
            input_layernorm: LayerNorm::load(
                &w.module("input_layernorm"),
                width,
                config.layer_norm_eps,
            )?,
            attention: GroupedAttention::defaults(
                projections,
                output,
                HeadCounts::equal(heads),
                head_dim,
            ),
            post_attention_layernorm: LayerNorm::load(
                &w.module("post_attention_layernorm"),
                width,
                config.layer_norm_eps,
            )?,
            // `attention_bias` is for attention alone: `GPTNeoXMLP` has biases in every model.
            mlp: Mlp::load(w, names, [width, inner], config.hidden_act, true)?,
            parallel: config.use_parallel_residual,
        })
    }
}

impl<B: Ops> DecoderLayer<B> for GptNeoXLayer<B> {
    /// Side by side both blocks read the same input, else the second reads what the first left.
    fn forward(
        &self,
        x: Tensor<B, 3>,
        view: LayerContext<'_, B>,
        slot: LayerSlot<'_, '_, B>,
    ) -> States<B> {
        let attended = self
            .attention
            .forward(self.input_layernorm.forward(x.clone()), view, slot);
        let after = x.clone() + attended;
        let read = if self.parallel { x } else { after.clone() };
        Ok(after
            + self
                .mlp
                .forward(self.post_attention_layernorm.forward(read)))
    }
}
