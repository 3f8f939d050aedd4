//! Falcon (Almazrouei et al. 2023): `transformers.models.falcon`.

use crate::{
    config::{ModelConfig, divides, divides_into_heads},
    model_def::{LoadedNetwork, ModelDef},
    text::{
        causal_decoder::{CausalDecoder, DecoderLayer, FinalNorm, States},
        text_head::fields_of_other_heads,
    },
};
use burn_tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    context::LayerSlot,
    layer::{
        Alibi, Embedding, GroupedAttention, HeadCounts, LayerContext, LayerNorm, Linear, Mlp,
        Positions, Projections, RopeConfig, Rotary,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FalconConfig {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_kv_heads: Option<usize>,
    num_ln_in_parallel_attn: Option<usize>,
    layer_norm_epsilon: f64,
    alibi: bool,
    new_decoder_architecture: bool,
    multi_query: bool,
    parallel_attn: bool,
    bias: bool,
    max_position_embeddings: usize,
    ffn_hidden_size: Option<usize>,
    activation: Activation,
    tie_word_embeddings: bool,
    pad_token_id: Option<i64>,
    #[serde(flatten)]
    rope: RopeConfig,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl FalconConfig {
    fn head_dim(&self) -> usize {
        // Also called for 0 heads, which `validate` refuses.
        self.hidden_size / self.num_attention_heads.max(1)
    }

    /// Heads of keys and values.
    fn groups(&self) -> usize {
        match (self.new_decoder_architecture, self.multi_query) {
            // The older architecture ignores `num_kv_heads` with `multi_query`.
            (false, true) => 1,
            // As `FalconConfig` fills in.
            _ => self.num_kv_heads.unwrap_or(self.num_attention_heads),
        }
    }

    /// Norms before blocks that run in parallel.
    fn parallel_norms(&self) -> usize {
        // As `FalconDecoderLayer` chooses if the field is null.
        let usual = if self.new_decoder_architecture { 2 } else { 1 };
        self.num_ln_in_parallel_attn.unwrap_or(usual)
    }
}

impl ModelConfig for FalconConfig {
    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        let heads = self.num_attention_heads;
        divides_into_heads(self.hidden_size, heads)?;
        divides("num_attention_heads", heads, "num_kv_heads", self.groups())?;
        // `FalconAttention` then takes a query, a key and a value for each head out of its matrix.
        if !self.new_decoder_architecture && !self.multi_query && self.groups() != heads {
            return Err(format!(
                "`num_kv_heads` {} is not `num_attention_heads` {heads} without groups",
                self.groups()
            ));
        }
        if self.new_decoder_architecture && !self.parallel_attn {
            return Err(
                "`new_decoder_architecture` without `parallel_attn` has no norm before its MLP"
                    .to_owned(),
            );
        }
        match (self.parallel_norms(), self.new_decoder_architecture) {
            // The older architecture has no names for two norms.
            (1, _) | (2, true) => {}
            (count, _) => {
                return Err(format!(
                    "`num_ln_in_parallel_attn` {count} is not supported here"
                ));
            }
        }
        if self.alibi {
            // Rotary fields are not read then, so wrong ones must not refuse the file.
            return Ok(());
        }
        self.rope.fields().validate(self.head_dim())
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = fields_of_other_heads(head);
        let (rope, trained) = (self.rope.fields(), self.max_position_embeddings);
        if self.alibi {
            let names = [
                "max_position_embeddings",
                "rope_parameters",
                "rope_scaling",
                "rope_theta",
            ];
            fields.extend(names.map(|name| (name, "positions are linear biases")));
            fields.extend(rope.parameters(trained).inert_fields(self.head_dim()));
        } else {
            fields.extend(rope.inert_fields(trained, self.head_dim()));
        }
        // Without these the other architecture is refused, or has another block.
        let is_shared = self.parallel_attn && (self.multi_query || self.num_attention_heads == 1);
        if is_shared && self.num_kv_heads == Some(1) && self.num_ln_in_parallel_attn == Some(1) {
            fields.push((
                "new_decoder_architecture",
                "with one key and one norm both architectures are the same",
            ));
        }
        if self.num_attention_heads == 1 {
            fields.push(("multi_query", "a single head has one key in any case"));
        }
        if self.new_decoder_architecture {
            fields.push(("multi_query", "`num_kv_heads` counts"));
        } else if self.multi_query {
            fields.push(("num_kv_heads", "`multi_query` has one"));
        }
        fields
    }
}

/// `model_type` `falcon`.
pub(crate) struct Falcon;

impl ModelDef for Falcon {
    type Config = FalconConfig;

    fn load<B: Ops>(
        config: &FalconConfig,
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

type FalconDecoder<B> = CausalDecoder<B, Embedding<B>, FalconLayer<B>>;

fn load_decoder<B: Ops>(
    config: &FalconConfig,
    w: &Weights<B>,
) -> Result<FalconDecoder<B>, WeightsError> {
    let (width, head_dim, trained) = (
        config.hidden_size,
        config.head_dim(),
        config.max_position_embeddings,
    );
    let norm = LayerNorm::load(&w.module("ln_f"), width, config.layer_norm_epsilon)?;
    Ok(CausalDecoder {
        embeddings: Embedding::load(&w.module("word_embeddings"), config.vocab_size, width)?,
        positions: if config.alibi {
            // `FalconAttention` adds the biases to the scores before it scales both.
            Positions::Alibi(Alibi::rounded(
                config.num_attention_heads,
                (head_dim as f64).powf(-0.5),
            ))
        } else {
            Positions::Rotary(Rotary::new(
                &config.rope.fields().parameters(trained),
                head_dim,
                trained,
            ))
        },
        layers: LayerStack::load(&w.module("h"), config.num_hidden_layers, {
            let config = config.clone();
            move |_, w| FalconLayer::load(&config, w)
        })?,
        final_norm: FinalNorm::LayerNorm(norm),
    })
}

struct FalconLayer<B: Ops> {
    norms: FalconNorms<B>,
    self_attention: GroupedAttention<B>,
    mlp: Mlp<B>,
}

/// The inputs of the two blocks.
enum FalconNorms<B: Ops> {
    /// Both the same.
    Shared(LayerNorm<B>),
    /// Attention and MLP have a norm each, of the same input.
    Own(LayerNorm<B>, LayerNorm<B>),
    /// The input of the MLP is the output of attention.
    InARow(LayerNorm<B>, LayerNorm<B>),
}

impl<B: Ops> FalconLayer<B> {
    fn load(config: &FalconConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, heads, groups, bias) = (
            config.hidden_size,
            config.num_attention_heads,
            config.groups(),
            config.bias,
        );
        // `FalconConfig` fills in the same width.
        let inner = config.ffn_hidden_size.unwrap_or(4 * width);
        let norm = |name| LayerNorm::load(&w.module(name), width, config.layer_norm_epsilon);
        // Rows sorted by key: its queries, its key, its value. The older architecture has a group
        // for each head, or a single one.
        let (qkv, shape) = (
            w.module("self_attention.query_key_value"),
            [groups, heads / groups, config.head_dim()],
        );
        let projections = Projections::load_by_group(&qkv, width, shape, bias)?;
        let output = Linear::load_with_bias(&w.module("self_attention.dense"), width, width, bias)?;
        let names = ["mlp.dense_h_to_4h", "mlp.dense_4h_to_h"];
        Ok(Self {
            norms: match (config.parallel_attn, config.parallel_norms()) {
                (false, _) => {
                    FalconNorms::InARow(norm("input_layernorm")?, norm("post_attention_layernorm")?)
                }
                // A single norm keeps the name of the older architecture.
                (true, 1) => FalconNorms::Shared(norm("input_layernorm")?),
                (true, _) => FalconNorms::Own(norm("ln_attn")?, norm("ln_mlp")?),
            },
            self_attention: GroupedAttention::defaults(
                projections,
                output,
                HeadCounts {
                    query: heads,
                    key_value: groups,
                },
                config.head_dim(),
            ),
            mlp: Mlp::load(w, names, [width, inner], config.activation, bias)?,
        })
    }
}

impl<B: Ops> DecoderLayer<B> for FalconLayer<B> {
    fn forward(
        &self,
        x: Tensor<B, 3>,
        view: LayerContext<'_, B>,
        slot: LayerSlot<'_, '_, B>,
    ) -> States<B> {
        let (FalconNorms::Shared(first)
        | FalconNorms::Own(first, _)
        | FalconNorms::InARow(first, _)) = &self.norms;
        let normal = first.forward(x.clone());
        let after = x.clone() + self.self_attention.forward(normal.clone(), view, slot);
        let read = match &self.norms {
            FalconNorms::Shared(_) => normal,
            // The layer's input and not the sum: both blocks run in parallel.
            FalconNorms::Own(_, second) => second.forward(x),
            FalconNorms::InARow(_, second) => second.forward(after.clone()),
        };
        Ok(after + self.mlp.forward(read))
    }
}

#[cfg(test)]
mod tests {
    use super::FalconConfig;
    use crate::config::{ModelConfig, parse};
    use serde_json::json;
    use testgen_types::Head;

    #[test]
    fn the_architecture_has_no_effect_only_with_one_key_and_one_norm_in_both() {
        for (is_old, multi_query, parallel_attn, is_inert) in [
            (true, true, true, true),
            (false, true, true, true),
            // The older architecture would have a key for each head, and is refused.
            (false, false, true, false),
            // The newer architecture is refused.
            (true, true, false, false),
        ] {
            let file = json!({
                "num_attention_heads": 2,
                "hidden_size": 16,
                "num_kv_heads": 1,
                "num_ln_in_parallel_attn": 1,
                "new_decoder_architecture": !is_old,
                "multi_query": multi_query,
                "parallel_attn": parallel_attn,
            });
            let parsed = parse::<FalconConfig>("falcon", &file).expect("is supported");
            let fields = parsed.config.inert_fields(Head::CausalLm);
            let found = fields
                .iter()
                .any(|(field, _)| *field == "new_decoder_architecture");
            assert_eq!(found, is_inert, "{file}");
        }
    }
}
