//! The bias of a graph's structure on attention scores: distances, the edges on the path, and the
//! graph's own token.

use super::{
    GraphormerConfig,
    arguments::{floats, integers, real_nodes},
};
use burn_tensor::{DType, Tensor};
use testgen_nn::{
    backend::{Ops, linear},
    forward::ForwardError,
    inputs::{Inputs, put_floats},
    layer::Embedding,
    weights::{Weights, WeightsError},
};

/// Padding, and pairs of nodes too far apart.
// Not minus infinity, which the sums below could turn into no number.
const HIDDEN: f32 = f32::MIN;

/// `GraphormerGraphAttnBias`.
pub(super) struct GraphBias<B: Ops> {
    edge_encoder: Embedding<B>,
    spatial_pos_encoder: Embedding<B>,
    graph_token_virtual_distance: Tensor<B, 2>,
    edges: Edges<B>,
    /// The rows of `edge_encoder` and of `spatial_pos_encoder`.
    counts: [usize; 2],
    heads: usize,
}

/// The edges that are read for a pair of nodes.
enum Edges<B: Ops> {
    /// The edges of the shortest path, with a separate matrix for each position of the path;
    /// [positions * heads, heads]. The distance that their sum is divided by, and the number of
    /// them, are at most `hops`.
    OfPath {
        edge_dis_encoder: Tensor<B, 2>,
        hops: Option<usize>,
    },
    /// The one between them.
    Own,
}

impl<B: Ops> GraphBias<B> {
    pub(super) fn load(config: &GraphormerConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (heads, places) = (config.num_attention_heads, config.num_edge_dis);
        // One more edge, because 0 is padding.
        let counts = [config.num_edges + 1, config.num_spatial];
        let edges = if config.multi_hop() {
            // An `nn.Embedding` of single numbers in transformers, which views it as matrices.
            let weight: Tensor<B, 2> = w
                .module("edge_dis_encoder")
                .tensor("weight", [places * heads * heads, 1])?;
            Edges::OfPath {
                edge_dis_encoder: weight.reshape([places * heads, heads]),
                hops: config.hops(),
            }
        } else {
            Edges::Own
        };
        Ok(Self {
            edge_encoder: Embedding::load(&w.module("edge_encoder"), counts[0], heads)?,
            spatial_pos_encoder: Embedding::load(
                &w.module("spatial_pos_encoder"),
                counts[1],
                heads,
            )?,
            graph_token_virtual_distance: w
                .module("graph_token_virtual_distance")
                .tensor("weight", [1, heads])?,
            edges,
            counts,
            heads,
        })
    }

    /// f32, [batch, heads, 1 + nodes, 1 + nodes]; the graph's own token is the first.
    pub(super) fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        [batch, nodes, _]: [usize; 3],
    ) -> Result<Tensor<B, 4>, ForwardError> {
        let (positions, _) = integers::<B, 3>(inputs, "spatial_pos", &[batch, nodes, nodes])?;
        let pairs = inputs.checked_indices(
            "spatial_pos",
            positions.to_vec(),
            [batch, nodes * nodes],
            self.counts[1],
        )?;
        let of_distance = self.spatial_pos_encoder.forward(pairs).cast(DType::F32);
        let of_edges = match &self.edges {
            Edges::Own => self.own_edges(inputs, [batch, nodes])?,
            Edges::OfPath {
                edge_dis_encoder,
                hops,
            } => {
                let sum = self.path_edges(inputs, [batch, nodes], edge_dis_encoder, *hops)?;
                sum / put_floats(
                    lengths(positions, *hops),
                    [batch, nodes * nodes, 1],
                    inputs.device(),
                    DType::F32,
                )
            }
        };
        let pairs = (of_distance + of_edges)
            .reshape([batch, nodes, nodes, self.heads])
            .permute([0, 3, 1, 2]);
        let token = self
            .graph_token_virtual_distance
            .clone()
            .cast(DType::F32)
            .reshape([1, self.heads, 1, 1]);
        let from_nodes = token.clone().expand([batch, self.heads, nodes, 1]);
        // One more than nodes: the token's distance to itself is the same, as in transformers.
        let from_token = token.expand([batch, self.heads, 1, nodes + 1]);
        let all = Tensor::cat(vec![from_token, Tensor::cat(vec![from_nodes, pairs], 3)], 2);
        Ok(all + given(inputs, [batch, nodes])?)
    }

    /// f32, [batch, pairs, heads].
    fn own_edges(
        &self,
        inputs: &Inputs<'_, B>,
        [batch, nodes]: [usize; 2],
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let name = "attn_edge_type";
        let (types, [_, _, _, features]) = integers::<B, 4>(inputs, name, &[batch, nodes, nodes])?;
        let pairs = nodes * nodes;
        let indices = inputs.checked_indices(
            name,
            types.to_vec(),
            [batch, pairs * features],
            self.counts[0],
        )?;
        let known = self
            .edge_encoder
            .forward(indices)
            .cast(DType::F32)
            .reshape([batch, pairs, features, self.heads]);
        Ok(known.mean_dim(2).reshape([batch, pairs, self.heads]))
    }

    /// f32, [batch, pairs, heads]: the sum over the path.
    fn path_edges(
        &self,
        inputs: &Inputs<'_, B>,
        [batch, nodes]: [usize; 2],
        matrices: &Tensor<B, 2>,
        hops: Option<usize>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let name = "input_edges";
        let (types, [_, _, _, depth, features]) =
            integers::<B, 5>(inputs, name, &[batch, nodes, nodes])?;
        let hops = hops_read(depth, hops, matrices.dims()[0] / self.heads)?;
        let pairs = batch * nodes * nodes;
        // Positions after the end of a path have the index 0, whose row is zero.
        let types = types
            .chunks_exact(depth * features)
            .flat_map(|path| &path[..hops * features])
            .copied()
            .collect();
        let indices =
            inputs.checked_indices(name, types, [pairs, hops * features], self.counts[0])?;
        let known = self.edge_encoder.forward(indices);
        let dtype = known.dtype();
        // Rounded to the model's type in between, as PyTorch's `mean(-2)` returns it.
        let known = known
            .cast(DType::F32)
            .reshape([pairs * hops, features, self.heads])
            .mean_dim(1)
            .cast(dtype);
        let matrices = matrices.clone().narrow(0, 0, hops * self.heads);
        let sum = linear(known.reshape([pairs, hops * self.heads]), matrices, None);
        Ok(sum
            .cast(DType::F32)
            .reshape([batch, nodes * nodes, self.heads]))
    }
}

/// The number of edges that are read of paths with `depth`; there are matrices for as many as
/// `places`.
fn hops_read(depth: usize, hops: Option<usize>, places: usize) -> Result<usize, ForwardError> {
    let read = hops.map_or(depth, |hops| depth.min(hops));
    if read <= places {
        return Ok(read);
    }
    Err(ForwardError::WrongInput {
        name: "input_edges".to_owned(),
        found: format!("paths of {read} edges"),
        expected: format!(
            "at most `num_edge_dis` {places}; set `multi_hop_max_dist` to that or less"
        ),
    })
}

/// The divisor of the sum over a path: its length, and 1 where there is none.
fn lengths(positions: &[i64], hops: Option<usize>) -> Vec<f32> {
    let longest = hops.map_or(i64::MAX, |hops| hops as i64);
    positions
        .iter()
        // The collator adds one to every distance, so that 0 is padding.
        .map(|position| (position - 1).max(1).min(longest) as f32)
        .collect()
}

/// f32, [batch, 1, 1 + nodes, 1 + nodes]: `attn_bias`, with padded keys hidden.
fn given<B: Ops>(
    inputs: &Inputs<'_, B>,
    [batch, nodes]: [usize; 2],
) -> Result<Tensor<B, 4>, ForwardError> {
    let tokens = nodes + 1;
    let real = real_nodes(inputs)?;
    let bias = floats::<B, 3>(inputs, "attn_bias", &[batch, tokens, tokens])?;
    // transformers adds it twice.
    let twice = bias.iter().enumerate().map(|(flat, bias)| {
        let (graph, key) = (flat / (tokens * tokens), flat % tokens);
        let is_real = key == 0 || real[graph * nodes + key - 1];
        if is_real && *bias != f32::NEG_INFINITY {
            2.0 * bias
        } else {
            HIDDEN
        }
    });
    Ok(put_floats(
        twice.collect(),
        [batch, 1, tokens, tokens],
        inputs.device(),
        DType::F32,
    ))
}
