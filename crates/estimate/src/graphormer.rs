//! Graphormer: an encoder of nodes whose attention knows the structure of the graph.

use crate::{
    call::NetworkCall,
    elementwise::{ActivationMemory, cat},
    error::EstimateError,
    layers::{Attention, MlpKind},
    product::{Order, ProjectionMatrix},
    tensor::{AllocatedTensor, ElementType},
};
use testgen_types::Head;

/// Reads graphs of `tokens` nodes, with a number for each node and each edge.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let width = config.size("embedding_dim")?;
    let heads = config.size("num_attention_heads")?;
    let activation = ActivationMemory::named(config.text("activation_fn"));
    let bias = bias(call, heads)?;
    let mut x = nodes(call, width);
    if config.number("embed_scale").is_some() {
        x = x.map();
    }
    if config.number("q_noise").unwrap_or_default() > 0.0 {
        x = ProjectionMatrix::linear(width, width, false).forward(x);
    }
    if config.flag("encoder_normalize_before") {
        x = x.layer_norm();
    }
    x = layers(call, x, bias, [width, heads])?;
    let transform = |x: AllocatedTensor| {
        let x = ProjectionMatrix::linear(width, width, true).forward(x);
        x.activate(activation).layer_norm()
    };
    if call.head == Head::Base {
        call.output(transform(x));
        return Ok(());
    }
    // The classes read the graph's own token alone.
    let graph = transform(x.narrow(1, 0, 1)).reshape(&[call.batch, width]);
    let classes = ProjectionMatrix::linear(width, config.size("num_classes")?, false);
    call.output(classes.forward(graph));
    Ok(())
}

/// Layers that normalise before both parts, or after their sums.
fn layers(
    call: &NetworkCall<'_>,
    mut x: AllocatedTensor,
    bias: AllocatedTensor,
    [width, heads]: [u64; 2],
) -> Result<AllocatedTensor, EstimateError> {
    let config = call.config;
    let activation = ActivationMemory::named(config.text("activation_fn"));
    let attention = Attention::new(width, heads, config.flag("bias"));
    let inner = config.size("ffn_embedding_dim")?;
    let mlp = MlpKind::plain([width, inner], activation, true);
    let attend = |x| attention.forward(x, Some(bias.clone()));
    for _ in 0..call.layers("num_hidden_layers")? {
        x = if config.flag("pre_layernorm") {
            let x = x.clone().combine(attend(x.layer_norm()));
            x.clone().combine(mlp.forward(x.layer_norm()))
        } else {
            let x = attend(x.clone()).add_layer_norm(x);
            mlp.forward(x.clone()).add_layer_norm(x)
        };
    }
    Ok(x)
}

/// The features of the nodes and their degrees, summed in f32, after a token for the graph.
fn nodes(call: &NetworkCall<'_>, width: u64) -> AllocatedTensor {
    let (batch, nodes, element) = (call.batch, call.tokens, call.machine.element);
    let dims = [batch, nodes, width];
    let known = call.empty(&dims).cast(ElementType::F32);
    let mut x = known.reshape(&[batch, nodes, 1, width]).reduce(2);
    x = x.reshape(&dims);
    for _ in 0..2 {
        x = x.combine(call.empty(&dims).cast(ElementType::F32));
    }
    let token = call.empty(&[batch, 1, width]);
    cat(vec![token, x.cast(element)], 1)
}

/// Of the distances and edges of every pair of nodes, [batch, heads, 1 + nodes, 1 + nodes] in f32.
fn bias(call: &NetworkCall<'_>, heads: u64) -> Result<AllocatedTensor, EstimateError> {
    let (batch, nodes) = (call.batch, call.tokens);
    let count = nodes.saturating_mul(nodes);
    let distances = call.empty(&[batch, count, heads]).cast(ElementType::F32);
    let edges = edges(call, heads)?;
    let pairs = distances
        .combine(edges)
        .reshape(&[batch, nodes, nodes, heads])
        .permute(&[0, 3, 1, 2]);
    // Both are views of one row until they are joined.
    let from_nodes = call.single(&[batch, heads, nodes, 1]);
    let from_token = call.single(&[batch, heads, 1, nodes + 1]);
    let all = cat(vec![from_token, cat(vec![from_nodes, pairs], 3)], 2);
    Ok(all.combine(call.single(&[batch, 1, nodes + 1, nodes + 1])))
}

/// Of the edges of every pair, [batch, pairs, heads] in f32.
fn edges(call: &NetworkCall<'_>, heads: u64) -> Result<AllocatedTensor, EstimateError> {
    let (config, element) = (call.config, call.machine.element);
    let (batch, count) = (call.batch, call.tokens.saturating_mul(call.tokens));
    if config.text("edge_type") != "multi_hop" {
        let known = call.empty(&[batch, count, heads]).cast(ElementType::F32);
        let known = known.reshape(&[batch, count, 1, heads]);
        return Ok(known.reduce(2).reshape(&[batch, count, heads]));
    }
    let hops = config.size("multi_hop_max_dist")?;
    let pairs = batch.saturating_mul(count);
    let known = call.empty(&[pairs, hops, heads]).cast(ElementType::F32);
    let known = known
        .reshape(&[pairs.saturating_mul(hops), 1, heads])
        .reduce(1)
        .cast(element);
    let matrix = ProjectionMatrix {
        order: Order::Turned,
        ..ProjectionMatrix::linear(hops.saturating_mul(heads), heads, false)
    };
    let sum = matrix.forward(known.reshape(&[pairs, hops.saturating_mul(heads)]));
    let sum = sum.cast(ElementType::F32).reshape(&[batch, count, heads]);
    Ok(sum.combine(call.single(&[batch, count, 1])))
}
