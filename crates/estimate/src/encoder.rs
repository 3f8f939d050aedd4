//! Encoders of text.

use crate::{
    attention::{KeyValueTensors, RotationTensors, attend, split_heads},
    call::NetworkCall,
    elementwise::ActivationMemory,
    error::EstimateError,
    layers::{Attention, MlpKind, NormKind},
    product::{Order, ProjectionMatrix},
    tensor::AllocatedTensor,
    text_head,
};
use testgen_types::{Head, ModelType};

/// Reads all tokens at once, without padding.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    match call.model_type {
        ModelType::ModernBert => modernbert(call),
        _ => bert(call),
    }
}

/// The fields of the sizes, which DistilBERT names otherwise.
struct EncoderFields {
    width: &'static str,
    heads: &'static str,
    layers: &'static str,
    inner: &'static str,
    activation: &'static str,
}

const BERT: EncoderFields = EncoderFields {
    width: "hidden_size",
    heads: "num_attention_heads",
    layers: "num_hidden_layers",
    inner: "intermediate_size",
    activation: "hidden_act",
};

const DISTILBERT: EncoderFields = EncoderFields {
    width: "dim",
    heads: "n_heads",
    layers: "n_layers",
    inner: "hidden_dim",
    activation: "activation",
};

/// BERT and its relatives, which normalise sums.
fn bert(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let (config, model_type) = (call.config, call.model_type);
    let names = names(model_type);
    let x = bert_hidden(call)?;
    let width = x.dims()[2];
    let outer = config.size_if_set("embedding_size")?.unwrap_or(width);
    // ELECTRA's discriminator has no vocabulary.
    let discriminates = model_type == ModelType::Electra && call.head == Head::PreTraining;
    let vocab = if discriminates {
        0
    } else {
        config.size("vocab_size")?
    };
    let activation = ActivationMemory::named(config.text(names.activation));
    text_head::encoder(call, x, [width, outer, vocab], activation)
}

fn names(model_type: ModelType) -> EncoderFields {
    match model_type {
        ModelType::DistilBert => DISTILBERT,
        _ => BERT,
    }
}

/// The last hidden states, [batch, seq, width], of BERT and its relatives.
pub(crate) fn bert_hidden(call: &NetworkCall<'_>) -> Result<AllocatedTensor, EstimateError> {
    let (config, model_type) = (call.config, call.model_type);
    let names = names(model_type);
    let (width, heads) = (config.size(names.width)?, config.size(names.heads)?);
    let activation = ActivationMemory::named(config.text(names.activation));
    let layers = bert_layers(call, names.layers)?;
    let outer = config.size_if_set("embedding_size")?.unwrap_or(width);
    // Positions begin after the id of the padding token, which is 1 in these types.
    let offset = if has_padding_row(model_type) { 2 } else { 0 };
    call.within(
        config
            .size("max_position_embeddings")?
            .saturating_sub(offset),
    )?;
    let attention = Attention::new(width, heads, true);
    let mlp = MlpKind::plain([width, config.size(names.inner)?], activation, true);
    let mut x = embed(call, outer);
    // `AlbertTransformer` has the projection even if both widths are equal.
    if outer != width || model_type == ModelType::Albert {
        x = ProjectionMatrix::linear(outer, width, true).forward(x);
    }
    // MPNet adds a bias for each head and distance.
    let bias = (model_type == ModelType::Mpnet)
        .then(|| call.single(&[1, heads, call.tokens, call.tokens]));
    for _ in 0..layers {
        let attended = attention.forward(x.clone(), bias.clone());
        let sum = attended.add_layer_norm(x);
        x = mlp.forward(sum.clone()).add_layer_norm(sum);
    }
    Ok(x)
}

/// ALBERT applies few layers many times.
fn bert_layers(call: &NetworkCall<'_>, field: &str) -> Result<u64, EstimateError> {
    if call.model_type != ModelType::Albert {
        return call.layers(field);
    }
    // One application of the shared layers has the peak of all.
    let applied = call
        .config
        .size(field)?
        .saturating_mul(call.config.size("inner_group_num")?);
    Ok(applied.min(call.limit))
}

/// Whether the first rows of the table of positions belong to padding.
fn has_padding_row(model_type: ModelType) -> bool {
    matches!(
        model_type,
        ModelType::Roberta | ModelType::XlmRoberta | ModelType::Mpnet
    )
}

/// Words, types and positions, summed and normalised.
fn embed(call: &NetworkCall<'_>, width: u64) -> AllocatedTensor {
    let dims = [call.batch, call.tokens, width];
    let has_types = call
        .config
        .size_if_set("type_vocab_size")
        .is_ok_and(|size| size.is_some());
    let mut sum = call.empty(&dims);
    if has_types {
        sum = sum.combine(call.empty(&dims));
    }
    sum.combine(call.empty(&dims)).layer_norm()
}

/// Norms before attention and MLP, rotated heads, a gated MLP.
fn modernbert(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let (width, heads) = (
        config.size("hidden_size")?,
        config.size("num_attention_heads")?,
    );
    let activation = ActivationMemory::named(config.text("hidden_activation"));
    let layers = call.layers("num_hidden_layers")?;
    call.within(config.size("max_position_embeddings")?)?;
    let mlp = MlpKind::gated([width, config.size("intermediate_size")?], true, activation);
    let (seq, head_dim) = (call.tokens, width / heads);
    let mut x = call.empty(&[call.batch, seq, width]).layer_norm();
    // Layers with a window and layers without have different frequencies.
    let rotations = [call.rotation(seq, head_dim), call.rotation(seq, head_dim)];
    // The field counts the tokens on both sides.
    let window = config.size_if_set("local_attention")?.unwrap_or(128) / 2;
    let bias = (seq > window + 1).then(|| call.single(&[1, 1, seq, seq]));
    for index in 0..layers {
        // The embeddings are normalised already: transformers has an identity in the first layer.
        let normal = if index > 0 {
            NormKind::Layer.forward(x.clone())
        } else {
            x.clone()
        };
        x = x.combine(joined_attention(normal, heads, &rotations[0], bias.clone()));
        x = x.clone().combine(mlp.forward(x.layer_norm()));
    }
    // The model frees them with its layers, before the head.
    drop((rotations, bias));
    let last = x.layer_norm();
    text_head::encoder(
        call,
        last,
        [width, width, config.size("vocab_size")?],
        activation,
    )
}

/// Attention with rotated heads, whose queries, keys and values are one projection.
fn joined_attention(
    x: AllocatedTensor,
    heads: u64,
    rotation: &RotationTensors,
    bias: Option<AllocatedTensor>,
) -> AllocatedTensor {
    let width = x.dims()[2];
    let matrix = ProjectionMatrix {
        order: Order::Linear,
        ..ProjectionMatrix::linear(width, 3 * width, false)
    };
    let joined = matrix.forward(x);
    let parts = [0, width, 2 * width].map(|start| joined.clone().narrow(2, start, width));
    drop(joined);
    let [query, key, value] = parts.map(|part| split_heads(part, heads));
    let (query, key) = (rotation.apply(query), rotation.apply(key));
    let attended = attend(query, KeyValueTensors { key, value }, false, bias);
    ProjectionMatrix::linear(width, width, false).forward(attended)
}
