//! OPT (Zhang et al. 2022): `transformers.models.opt`.

use crate::{
    config::{ModelConfig, divides_into_heads},
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
        Embedding, GroupedAttention, HeadCounts, LayerContext, LayerNorm, Linear, Mlp, Positions,
        ProjectionNames, Projections, positions_without_padding,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct OptConfig {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    ffn_dim: usize,
    max_position_embeddings: usize,
    do_layer_norm_before: bool,
    #[serde(rename = "_remove_final_layer_norm")]
    remove_final_layer_norm: bool,
    word_embed_proj_dim: Option<usize>,
    num_attention_heads: usize,
    activation_function: Activation,
    enable_bias: bool,
    layer_norm_elementwise_affine: bool,
    tie_word_embeddings: bool,
    pad_token_id: Option<i64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl OptConfig {
    /// The width of the token embeddings and of what the head reads.
    fn outer(&self) -> usize {
        // As `OPTConfig` fills in.
        self.word_embed_proj_dim.unwrap_or(self.hidden_size)
    }

    /// Between the widths, where they differ.
    fn project<B: Ops>(
        &self,
        w: &Weights<B>,
        inner: usize,
        out: usize,
    ) -> Result<Option<Linear<B>>, WeightsError> {
        // Without a bias in every `OPTDecoder`, whatever `enable_bias` says.
        (inner != out)
            .then(|| Linear::load_with_bias(w, inner, out, false))
            .transpose()
    }

    fn norm<B: Ops>(&self, w: &Weights<B>) -> Result<LayerNorm<B>, WeightsError> {
        // PyTorch's default: OPT's configuration has no field for it.
        const EPS: f64 = 1e-5;
        if self.layer_norm_elementwise_affine {
            LayerNorm::load(w, self.hidden_size, EPS)
        } else {
            Ok(LayerNorm::without_weights(w, self.hidden_size, EPS))
        }
    }
}

impl ModelConfig for OptConfig {
    /// Training, and a name that Galactica checkpoints repeat.
    const INERT: &'static [&'static str] = &["init_std", "layerdrop", "learned_embeddings"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides_into_heads(self.hidden_size, self.num_attention_heads)
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = fields_of_other_heads(head);
        if !self.do_layer_norm_before {
            fields.push((
                "_remove_final_layer_norm",
                "there is no final norm where norms come after the blocks",
            ));
        }
        fields
    }
}

/// `model_type` `opt`.
pub(crate) struct Opt;

impl ModelDef for Opt {
    type Config = OptConfig;

    fn load<B: Ops>(
        config: &OptConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        load_decoder(config, &w.strip_prefix("model").module("decoder"))?.with_standard_head(
            w,
            head,
            labels,
            config.tie_word_embeddings,
            config.pad_token_id,
        )
    }
}

type OptDecoder<B> = CausalDecoder<B, OptEmbeddings<B>, OptLayer<B>>;

fn load_decoder<B: Ops>(config: &OptConfig, w: &Weights<B>) -> Result<OptDecoder<B>, WeightsError> {
    // Checkpoints that were fine-tuned before transformers 4.20.1 have no final norm, and have the
    // second field.
    let has_norm = config.do_layer_norm_before && !config.remove_final_layer_norm;
    let norm = has_norm
        .then(|| config.norm(&w.module("final_layer_norm")))
        .transpose()?;
    let project = config.project(&w.module("project_out"), config.hidden_size, config.outer())?;
    Ok(CausalDecoder {
        embeddings: OptEmbeddings::load(config, w)?,
        positions: Positions::Embedded,
        layers: LayerStack::load(&w.module("layers"), config.num_hidden_layers, {
            let config = config.clone();
            move |_, w| OptLayer::load(&config, w)
        })?,
        final_norm: FinalNorm::Projected { norm, project },
    })
}

/// Tokens, as wide as the layers, and positions.
struct OptEmbeddings<B: Ops> {
    embed_tokens: Embedding<B>,
    embed_positions: Embedding<B>,
    project_in: Option<Linear<B>>,
}

/// The rows of the position table before the row of position 0.
// As `OPTLearnedPositionalEmbedding`, whose first rows are for padding.
const OFFSET: usize = 2;

impl<B: Ops> OptEmbeddings<B> {
    fn load(config: &OptConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, outer) = (config.hidden_size, config.outer());
        let positions = config.max_position_embeddings + OFFSET;
        Ok(Self {
            embed_tokens: Embedding::load(&w.module("embed_tokens"), config.vocab_size, outer)?,
            embed_positions: Embedding::load(&w.module("embed_positions"), positions, width)?,
            project_in: config.project(&w.module("project_in"), outer, width)?,
        })
    }
}

impl<B: Ops> Embeddings<B> for OptEmbeddings<B> {
    /// A padding token has position -1 unless `position_ids` are given.
    fn embed(&self, inputs: &Inputs<'_, B>, past: usize) -> States<B> {
        let tokens = self.embed_tokens.embed(inputs, past)?;
        let [batch, seq, _] = tokens.dims();
        let (values, shape) = positions_without_padding(inputs, [batch, seq], past)?;
        // The offset makes the -1 of a padding token row 1, which the table has.
        let rows = values
            .into_iter()
            .map(|position| position + OFFSET as i64)
            .collect();
        let rows =
            inputs.checked_indices("position_ids", rows, shape, self.embed_positions.rows())?;
        let tokens = match &self.project_in {
            Some(project_in) => project_in.forward(tokens),
            None => tokens,
        };
        Ok(tokens + self.embed_positions.forward(rows))
    }

    fn table(&self) -> Tensor<B, 2> {
        self.embed_tokens.weight()
    }

    fn max_positions(&self) -> Option<usize> {
        Some(self.embed_positions.rows() - OFFSET)
    }
}

struct OptLayer<B: Ops> {
    self_attn: GroupedAttention<B>,
    self_attn_layer_norm: LayerNorm<B>,
    mlp: Mlp<B>,
    final_layer_norm: LayerNorm<B>,
    norm_before: bool,
}

impl<B: Ops> OptLayer<B> {
    fn load(config: &OptConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, inner, heads) = (
            config.hidden_size,
            config.ffn_dim,
            config.num_attention_heads,
        );
        let bias = config.enable_bias;
        let names = ProjectionNames::Apart(["q_proj", "k_proj", "v_proj"]);
        let attention = w.module("self_attn");
        let projections = Projections::load(&attention, names, width, [width; 3], bias)?;
        let output = Linear::load_with_bias(&attention.module("out_proj"), width, width, bias)?;
        Ok(Self {
            self_attn: GroupedAttention::defaults(
                projections,
                output,
                HeadCounts::equal(heads),
                width / heads,
            ),
            self_attn_layer_norm: config.norm(&w.module("self_attn_layer_norm"))?,
            mlp: Mlp::load(
                w,
                ["fc1", "fc2"],
                [width, inner],
                config.activation_function,
                bias,
            )?,
            final_layer_norm: config.norm(&w.module("final_layer_norm"))?,
            norm_before: config.do_layer_norm_before,
        })
    }
}

impl<B: Ops> DecoderLayer<B> for OptLayer<B> {
    /// Norms come before the blocks, or after them.
    fn forward(
        &self,
        x: Tensor<B, 3>,
        view: LayerContext<'_, B>,
        slot: LayerSlot<'_, '_, B>,
    ) -> States<B> {
        // As in all released models but the one with 350M parameters.
        if self.norm_before {
            let x = x.clone()
                + self
                    .self_attn
                    .forward(self.self_attn_layer_norm.forward(x), view, slot);
            return Ok(x.clone() + self.mlp.forward(self.final_layer_norm.forward(x)));
        }
        let attended = self.self_attn.forward(x.clone(), view, slot);
        let x = self.self_attn_layer_norm.forward_sum(attended, x);
        Ok(self
            .final_layer_norm
            .forward_sum(self.mlp.forward(x.clone()), x))
    }
}
