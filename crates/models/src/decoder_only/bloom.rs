//! BLOOM (Le Scao et al. 2022): `transformers.models.bloom`.

use crate::{
    config::{ModelConfig, divides},
    model_def::{LoadedNetwork, ModelDef},
    text::{
        causal_decoder::{CausalDecoder, DecoderLayer, Embeddings, FinalNorm, States},
        text_head::fields_of_other_heads,
    },
};
use burn_tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    context::LayerSlot,
    inputs::Inputs,
    layer::{
        Alibi, Embedding, GroupedAttention, HeadCounts, LayerContext, LayerNorm, Linear, Mlp,
        Positions, Projections,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct BloomConfig {
    vocab_size: usize,
    hidden_size: usize,
    /// The older name, which takes precedence where both exist.
    n_embed: Option<usize>,
    n_layer: usize,
    n_head: usize,
    layer_norm_epsilon: f64,
    apply_residual_connection_post_layernorm: bool,
    tie_word_embeddings: bool,
    pad_token_id: Option<i64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl BloomConfig {
    fn width(&self) -> usize {
        // Older files have `n_embed`, which `BloomConfig` takes first.
        self.n_embed.unwrap_or(self.hidden_size)
    }
}

impl ModelConfig for BloomConfig {
    /// How Megatron trained it.
    // transformers reads none of them but `pretraining_tp`, and that only with `slow_but_exact`.
    const INERT: &'static [&'static str] = &[
        "attention_softmax_in_fp32",
        "bias_dropout_fusion",
        "masked_softmax_fusion",
        "offset_alibi",
        "pretraining_tp",
        "seq_length",
        "skip_bias_add",
        "skip_bias_add_qkv",
        "unk_token_id",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides("hidden_size", self.width(), "n_head", self.n_head)
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = fields_of_other_heads(head);
        if self.n_embed.is_some() {
            fields.push(("hidden_size", "`n_embed` counts"));
        }
        fields
    }
}

/// `model_type` `bloom`.
pub(crate) struct Bloom;

impl ModelDef for Bloom {
    type Config = BloomConfig;

    fn load<B: Ops>(
        config: &BloomConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        load_decoder(config, &w.strip_prefix("transformer"))?.with_standard_head(
            w,
            head,
            labels,
            config.tie_word_embeddings,
            config.pad_token_id,
        )
    }
}

type BloomDecoder<B> = CausalDecoder<B, NormedWords<B>, BloomLayer<B>>;

fn load_decoder<B: Ops>(
    config: &BloomConfig,
    w: &Weights<B>,
) -> Result<BloomDecoder<B>, WeightsError> {
    let width = config.width();
    Ok(CausalDecoder {
        embeddings: NormedWords {
            words: Embedding::load(&w.module("word_embeddings"), config.vocab_size, width)?,
            norm: LayerNorm::load(
                &w.module("word_embeddings_layernorm"),
                width,
                config.layer_norm_epsilon,
            )?,
        },
        // No table and no rotation: `seq_length` says only how long the training texts were.
        positions: Positions::Alibi(Alibi::new(config.n_head)),
        layers: LayerStack::load(&w.module("h"), config.n_layer, {
            let config = config.clone();
            move |_, w| BloomLayer::load(&config, w)
        })?,
        final_norm: FinalNorm::LayerNorm(LayerNorm::load(
            &w.module("ln_f"),
            width,
            config.layer_norm_epsilon,
        )?),
    })
}

/// Tokens after a norm.
struct NormedWords<B: Ops> {
    words: Embedding<B>,
    norm: LayerNorm<B>,
}

impl<B: Ops> Embeddings<B> for NormedWords<B> {
    fn embed(&self, inputs: &Inputs<'_, B>, past: usize) -> States<B> {
        Ok(self.norm.forward(self.words.embed(inputs, past)?))
    }

    fn table(&self) -> Tensor<B, 2> {
        self.words.weight()
    }
}

struct BloomLayer<B: Ops> {
    input_layernorm: LayerNorm<B>,
    self_attention: GroupedAttention<B>,
    post_attention_layernorm: LayerNorm<B>,
    mlp: Mlp<B>,
    residual_after_norm: bool,
}

impl<B: Ops> BloomLayer<B> {
    fn load(config: &BloomConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, heads) = (config.width(), config.n_head);
        let qkv = w.module("self_attention.query_key_value");
        // Each head's query, key and value are side by side in the rows of the matrix, as Megatron
        // stores them.
        let projections = Projections::load_by_group(&qkv, width, [heads, 1, width / heads], true)?;
        let output = Linear::load(&w.module("self_attention.dense"), width, width)?;
        let names = ["mlp.dense_h_to_4h", "mlp.dense_4h_to_h"];
        Ok(Self {
            input_layernorm: LayerNorm::load(
                &w.module("input_layernorm"),
                width,
                config.layer_norm_epsilon,
            )?,
            self_attention: GroupedAttention::defaults(
                projections,
                output,
                HeadCounts::equal(heads),
                width / heads,
            ),
            post_attention_layernorm: LayerNorm::load(
                &w.module("post_attention_layernorm"),
                width,
                config.layer_norm_epsilon,
            )?,
            // `BloomMLP` has this width and `BloomGelu` in every model; no field says so.
            mlp: Mlp::load(w, names, [width, 4 * width], Activation::GeluNew, true)?,
            residual_after_norm: config.apply_residual_connection_post_layernorm,
        })
    }
}

impl<B: Ops> DecoderLayer<B> for BloomLayer<B> {
    /// The residual that is added to a block's result is its input, before or after the norm.
    fn forward(
        &self,
        x: Tensor<B, 3>,
        view: LayerContext<'_, B>,
        slot: LayerSlot<'_, '_, B>,
    ) -> States<B> {
        let normal = self.input_layernorm.forward(x.clone());
        let residual = if self.residual_after_norm {
            normal.clone()
        } else {
            x
        };
        let x = residual + self.self_attention.forward(normal, view, slot);
        let normal = self.post_attention_layernorm.forward(x.clone());
        let residual = if self.residual_after_norm {
            normal.clone()
        } else {
            x
        };
        Ok(residual + self.mlp.forward(normal))
    }
}
