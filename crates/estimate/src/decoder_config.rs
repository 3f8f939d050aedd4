//! The sizes of causal decoders, by type, from their configurations.

mod layout;

pub(crate) use layout::{Arrangement, PositionEncoding, ProjectionKind};

use crate::{
    call::NetworkCall,
    config::CompleteConfig,
    elementwise::ActivationMemory,
    error::EstimateError,
    layers::{ExpertSizes, MlpKind, NormKind},
    product::Order,
};
use testgen_types::ModelType;

/// The sizes of a decoder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecoderSizes {
    pub(crate) vocab: u64,
    pub(crate) width: u64,
    /// The width of the embeddings.
    pub(crate) outer: u64,
    pub(crate) layers: u64,
    pub(crate) heads: u64,
    pub(crate) groups: u64,
    pub(crate) head_dim: u64,
    /// Whether the projections have biases.
    pub(crate) bias: bool,
    pub(crate) projections: ProjectionKind,
    /// Of the matrix after attention.
    pub(crate) output: Order,
    pub(crate) positions: PositionEncoding,
    pub(crate) norm: NormKind,
    /// Of queries and keys.
    pub(crate) head_norm: Option<NormKind>,
    pub(crate) arrangement: Arrangement,
    pub(crate) mlp: MlpKind,
    /// Whether scores and logits are softly capped.
    pub(crate) capped: [bool; 2],
    /// Whether embeddings are normalised.
    pub(crate) embedding_norm: bool,
    /// Whether the head is the embedding.
    pub(crate) tied: bool,
}

impl DecoderSizes {
    pub(crate) fn read(call: &NetworkCall<'_>) -> Result<Self, EstimateError> {
        match call.model_type {
            ModelType::Gpt2 => Self::gpt2(call),
            ModelType::Opt => Self::opt(call),
            ModelType::Bloom => Self::bloom(call),
            ModelType::Falcon => Self::falcon(call),
            ModelType::GptNeoX => Self::gpt_neox(call),
            _ => Self::llama(call),
        }
    }

    /// Llama and its relatives.
    fn llama(call: &NetworkCall<'_>) -> Result<Self, EstimateError> {
        let (config, model_type) = (call.config, call.model_type);
        let (width, heads) = (
            config.size("hidden_size")?,
            config.size("num_attention_heads")?,
        );
        // `size` has refused 0 heads.
        let head_dim = config.size_if_set("head_dim")?.unwrap_or(width / heads);
        let gemma2 = model_type == ModelType::Gemma2;
        let norm = match model_type {
            ModelType::Gemma | ModelType::Gemma2 => NormKind::RmsInF32,
            _ => NormKind::Rms,
        };
        let phi3 = model_type == ModelType::Phi3;
        let has_head_norm = matches!(
            model_type,
            ModelType::Qwen3 | ModelType::Qwen3Moe | ModelType::Olmo2 | ModelType::Olmoe
        );
        Ok(Self {
            vocab: config.size("vocab_size")?,
            width,
            outer: width,
            layers: call.layers("num_hidden_layers")?,
            heads,
            // As `LlamaConfig` fills it in.
            groups: config.size_if_set("num_key_value_heads")?.unwrap_or(heads),
            head_dim,
            // Qwen2 always has biases, and no field for them.
            bias: config.flag("attention_bias") || model_type == ModelType::Qwen2,
            projections: if phi3 {
                ProjectionKind::Joined(Order::Linear)
            } else {
                ProjectionKind::Apart
            },
            output: Order::Linear,
            positions: PositionEncoding::Rotary(rotated(config, head_dim, phi3)),
            norm,
            head_norm: has_head_norm.then_some(NormKind::Rms),
            arrangement: match model_type {
                ModelType::Gemma2 => Arrangement::Around,
                ModelType::Olmo2 => Arrangement::AfterEach,
                _ => Arrangement::Before,
            },
            mlp: llama_mlp(call, width)?,
            capped: ["attn_logit_softcapping", "final_logit_softcapping"]
                .map(|field| gemma2 && config.number(field).is_some()),
            embedding_norm: false,
            tied: config.flag("tie_word_embeddings"),
        })
    }

    fn gpt2(call: &NetworkCall<'_>) -> Result<Self, EstimateError> {
        let config = call.config;
        let width = config.size("n_embd")?;
        // As `GPT2Block`.
        let inner = config.size_if_set("n_inner")?.unwrap_or(4 * width);
        let mlp = MlpKind::turned(
            [width, inner],
            ActivationMemory::named(config.text("activation_function")),
        );
        let positions = PositionEncoding::Table(config.size("n_positions")?);
        let base = Self::plain(call, ["n_embd", "n_head", "n_layer"], mlp, positions)?;
        Ok(Self {
            projections: ProjectionKind::Joined(Order::Turned),
            output: Order::Turned,
            ..base
        })
    }

    fn opt(call: &NetworkCall<'_>) -> Result<Self, EstimateError> {
        let config = call.config;
        let (width, bias) = (config.size("hidden_size")?, config.flag("enable_bias"));
        let activation = ActivationMemory::named(config.text("activation_function"));
        let mlp = MlpKind::plain([width, config.size("ffn_dim")?], activation, bias);
        let positions = PositionEncoding::Table(config.size("max_position_embeddings")?);
        let before = config.flag("do_layer_norm_before");
        Ok(Self {
            // As `OPTConfig` fills it in.
            outer: config.size_if_set("word_embed_proj_dim")?.unwrap_or(width),
            bias,
            arrangement: if before {
                Arrangement::Before
            } else {
                Arrangement::AfterSums
            },
            ..Self::plain(call, HIDDEN, mlp, positions)?
        })
    }

    fn bloom(call: &NetworkCall<'_>) -> Result<Self, EstimateError> {
        let config = call.config;
        let field = if config.size_if_set("n_embed")?.is_some() {
            "n_embed"
        } else {
            "hidden_size"
        };
        let width = config.size(field)?;
        // `BloomMLP` has this width and this activation in every model; no field says so.
        let mlp = MlpKind::plain(
            [width, 4 * width],
            ActivationMemory::named("gelu_new"),
            true,
        );
        let after = config.flag("apply_residual_connection_post_layernorm");
        Ok(Self {
            projections: ProjectionKind::Joined(Order::Turned),
            arrangement: if after {
                Arrangement::AddsToNorm
            } else {
                Arrangement::Before
            },
            embedding_norm: true,
            ..Self::plain(
                call,
                [field, "n_head", "n_layer"],
                mlp,
                PositionEncoding::Alibi,
            )?
        })
    }

    fn falcon(call: &NetworkCall<'_>) -> Result<Self, EstimateError> {
        let config = call.config;
        let (width, bias) = (config.size("hidden_size")?, config.flag("bias"));
        // As `FalconConfig` fills it in.
        let inner = config.size_if_set("ffn_hidden_size")?.unwrap_or(4 * width);
        let mlp = MlpKind::plain(
            [width, inner],
            ActivationMemory::named(config.text("activation")),
            bias,
        );
        // ALiBi until the width of a head is known.
        let base = Self::plain(call, HIDDEN, mlp, PositionEncoding::Alibi)?;
        let (new, one) = (
            config.flag("new_decoder_architecture"),
            config.flag("multi_query"),
        );
        // As `FalconDecoderLayer`: without a number, the new architecture has two.
        let norms = config
            .size_if_set("num_ln_in_parallel_attn")?
            .unwrap_or(if new { 2 } else { 1 });
        Ok(Self {
            groups: if !new && one {
                1
            } else {
                // As `FalconConfig` fills it in.
                config.size_if_set("num_kv_heads")?.unwrap_or(base.heads)
            },
            bias,
            projections: ProjectionKind::Joined(Order::Turned),
            positions: if config.flag("alibi") {
                PositionEncoding::Alibi
            } else {
                PositionEncoding::Rotary(base.head_dim)
            },
            arrangement: match config.flag("parallel_attn") {
                true => Arrangement::Parallel { shared: norms == 1 },
                false => Arrangement::Before,
            },
            ..base
        })
    }

    fn gpt_neox(call: &NetworkCall<'_>) -> Result<Self, EstimateError> {
        let config = call.config;
        let width = config.size("hidden_size")?;
        let activation = ActivationMemory::named(config.text("hidden_act"));
        let mlp = MlpKind::plain([width, config.size("intermediate_size")?], activation, true);
        // ALiBi until the width of a head is known.
        let base = Self::plain(call, HIDDEN, mlp, PositionEncoding::Alibi)?;
        let parallel = config.flag("use_parallel_residual");
        Ok(Self {
            bias: config.flag("attention_bias"),
            projections: ProjectionKind::Joined(Order::Turned),
            positions: PositionEncoding::Rotary(rotated(config, base.head_dim, true)),
            arrangement: if parallel {
                Arrangement::Parallel { shared: false }
            } else {
                Arrangement::Before
            },
            ..base
        })
    }

    /// Layer norms before attention and MLP, and projections with biases; the fields are of width,
    /// heads and layers.
    fn plain(
        call: &NetworkCall<'_>,
        [width, heads, layers]: [&str; 3],
        mlp: MlpKind,
        positions: PositionEncoding,
    ) -> Result<Self, EstimateError> {
        let config = call.config;
        let (width, heads) = (config.size(width)?, config.size(heads)?);
        Ok(Self {
            vocab: config.size("vocab_size")?,
            width,
            outer: width,
            layers: call.layers(layers)?,
            heads,
            groups: heads,
            head_dim: width / heads,
            bias: true,
            projections: ProjectionKind::Apart,
            output: Order::Linear,
            positions,
            norm: NormKind::Layer,
            head_norm: None,
            arrangement: Arrangement::Before,
            mlp,
            capped: [false; 2],
            embedding_norm: false,
            tied: config.flag("tie_word_embeddings"),
        })
    }
}

const HIDDEN: [&str; 3] = ["hidden_size", "num_attention_heads", "num_hidden_layers"];

/// The single MLP of a layer, or the mixture of experts.
fn llama_mlp(call: &NetworkCall<'_>, width: u64) -> Result<MlpKind, EstimateError> {
    let (config, model_type) = (call.config, call.model_type);
    let field = if model_type == ModelType::Gemma2 {
        "hidden_activation"
    } else {
        "hidden_act"
    };
    // `GemmaConfig` takes the first name for the approximation.
    let name = match (model_type, config.text(field)) {
        (ModelType::Gemma, "gelu") => "gelu_new",
        (_, name) => name,
    };
    let activation = ActivationMemory::named(name);
    let (inner, count) = match model_type {
        ModelType::Mixtral => ("intermediate_size", Some("num_local_experts")),
        ModelType::Olmoe => ("intermediate_size", Some("num_experts")),
        ModelType::Qwen3Moe => ("moe_intermediate_size", Some("num_local_experts")),
        _ => ("intermediate_size", None),
    };
    let inner = config.size(inner)?;
    Ok(match count {
        Some(count) => MlpKind::Experts(ExpertSizes {
            width,
            inner,
            count: config.size(count)?,
            activation,
        }),
        None => MlpKind::gated([width, inner], model_type == ModelType::Phi3, activation),
    })
}

/// The elements of a head that are rotated: a part of them if the type has such a field.
fn rotated(config: &CompleteConfig, head_dim: u64, partly: bool) -> u64 {
    let factor = ["partial_rotary_factor", "rotary_pct"]
        .into_iter()
        .find_map(|field| {
            config
                .number(field)
                .or_else(|| config.number_in("rope_parameters", field))
        });
    match factor.filter(|factor| partly && (0.0..=1.0).contains(factor)) {
        // `as` rounds down, like Python's `int` in transformers.
        Some(factor) => (head_dim as f64 * factor) as u64,
        None => head_dim,
    }
}
