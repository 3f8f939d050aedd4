//! Graphormer: layers over the nodes of a graph and a token for the graph, with a bias of its
//! structure for every head and pair of nodes.

use crate::{
    call::NetworkCall,
    elementwise::{ActivationMemory, cat},
    error::EstimateError,
    layers::{Attention, MlpKind},
    product::{Order, ProjectionMatrix},
    tensor::{AllocatedTensor, ElementType, empty, weight, workspace},
};
use testgen_types::Head;

/// Reads graphs of `tokens` nodes each.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let sizes = GraphSizes::read(call)?;
    let activation = ActivationMemory::named(call.config.text("activation_fn"));
    let hidden = sizes.encode(call, activation)?;
    let width = sizes.width;
    let transform = |x| {
        let x = ProjectionMatrix::linear(width, width, true).forward(x);
        x.activate(activation).layer_norm()
    };
    if call.head == Head::Base {
        call.output(transform(hidden));
        return Ok(());
    }
    // The classes read the graph's token only.
    let graph = transform(hidden.narrow(1, 0, 1)).reshape(&[call.batch, width]);
    let classes = call.config.size("num_classes")?;
    let logits = ProjectionMatrix::linear(width, classes, false).forward(graph);
    // `lm_output_learned_bias` is one number for all classes.
    call.output(logits.combine(call.weight(&[1, 1])));
    Ok(())
}

/// The rows of a table for each feature, one after another: transformers moves the kinds of a
/// feature by this number.
const KINDS: u64 = 512;

struct GraphSizes {
    batch: u64,
    nodes: u64,
    width: u64,
    heads: u64,
    /// The number of features of a node and of an edge. No field has them; the tables have `KINDS`
    /// rows for each.
    features: [u64; 2],
    /// The edges of a path that are read, or `None` if only the edge between two nodes is.
    hops: Option<u64>,
}

impl GraphSizes {
    fn read(call: &NetworkCall<'_>) -> Result<Self, EstimateError> {
        let config = call.config;
        let features = |field| Ok::<_, EstimateError>(config.size(field)?.div_ceil(KINDS));
        let hops = match config.text("edge_type") {
            "multi_hop" => {
                let read = [
                    config.positive("multi_hop_max_dist").unwrap_or(u64::MAX),
                    // There is a matrix for each edge of a path.
                    config.size("num_edge_dis")?,
                    // No shortest path visits a node twice.
                    call.tokens.saturating_sub(1).max(1),
                ];
                read.into_iter().min()
            }
            _ => None,
        };
        Ok(Self {
            batch: call.batch,
            nodes: call.tokens,
            width: config.size("embedding_dim")?,
            heads: config.size("num_attention_heads")?,
            features: [features("num_atoms")?, features("num_edges")?],
            hops,
        })
    }

    /// [batch, 1 + nodes, width].
    fn encode(
        &self,
        call: &NetworkCall<'_>,
        activation: ActivationMemory,
    ) -> Result<AllocatedTensor, EstimateError> {
        let (config, width) = (call.config, self.width);
        let bias = self.bias(call);
        let mut x = self.embed(call);
        if config.is_set("embed_scale") {
            x = x.map();
        }
        // `GraphormerGraphEncoder` makes this projection for its noise, which training alone adds.
        if config.number("q_noise").is_some_and(|noise| noise > 0.0) {
            x = ProjectionMatrix::linear(width, width, false).forward(x);
        }
        if config.flag("encoder_normalize_before") {
            x = x.layer_norm();
        }
        let attention = Attention::new(width, self.heads, config.flag("bias"));
        let mlp = MlpKind::plain([width, config.size("ffn_embedding_dim")?], activation, true);
        let before = config.flag("pre_layernorm");
        for _ in 0..call.layers("num_hidden_layers")? {
            let bias = Some(bias.clone());
            x = if before {
                let x = x.clone().combine(attention.forward(x.layer_norm(), bias));
                x.clone().combine(mlp.forward(x.layer_norm()))
            } else {
                let sum = attention.forward(x.clone(), bias).add_layer_norm(x);
                mlp.forward(sum.clone()).add_layer_norm(sum)
            };
        }
        Ok(x)
    }

    /// Features and degrees of the nodes, summed in f32, after the graph's token.
    fn embed(&self, call: &NetworkCall<'_>) -> AllocatedTensor {
        let ([features, _], dims) = (self.features, [self.batch, self.nodes]);
        let [batch, nodes] = dims;
        let known = look_up(call, [batch, nodes.saturating_mul(features)], self.width);
        let sum = known
            .cast(ElementType::F32)
            .reshape(&[batch, nodes, features, self.width])
            .reduce(2);
        let degrees = || look_up(call, dims, self.width).cast(ElementType::F32);
        let x = sum
            .reshape(&[batch, nodes, self.width])
            .combine(degrees())
            .combine(degrees());
        let element = call.machine.element;
        let token = repeated(call, &[batch, 1, self.width], element);
        cat(vec![token, x.cast(element)], 1)
    }

    /// f32, [batch, heads, 1 + nodes, 1 + nodes].
    fn bias(&self, call: &NetworkCall<'_>) -> AllocatedTensor {
        let (batch, nodes, heads) = (self.batch, self.nodes, self.heads);
        let tokens = nodes.saturating_add(1);
        let distances = look_up(call, [batch, self.pairs()], heads).cast(ElementType::F32);
        let edges = match self.hops {
            Some(hops) => {
                let sum = self.edges_of_paths(call, hops);
                // Divided by the lengths of the paths.
                sum.combine(call.single(&[batch, self.pairs(), 1]))
            }
            None => self.edges_between(call),
        };
        let pairs = distances
            .combine(edges)
            .reshape(&[batch, nodes, nodes, heads])
            .permute(&[0, 3, 1, 2]);
        // From the nodes to the graph's token, and from it to all.
        let column = repeated(call, &[batch, heads, nodes, 1], ElementType::F32);
        let rows = cat(vec![column, pairs], 3);
        let first = repeated(call, &[batch, heads, 1, tokens], ElementType::F32);
        let all = cat(vec![first, rows], 2);
        // Of padding, and of what the caller adds.
        all.combine(call.single(&[batch, 1, tokens, tokens]))
    }

    /// f32, [batch, pairs, heads]: the mean over what is known of the edge between two nodes.
    fn edges_between(&self, call: &NetworkCall<'_>) -> AllocatedTensor {
        let (batch, pairs, [_, features]) = (self.batch, self.pairs(), self.features);
        let known = look_up(call, [batch, pairs.saturating_mul(features)], self.heads);
        known
            .cast(ElementType::F32)
            .reshape(&[batch, pairs, features, self.heads])
            .reduce(2)
            .reshape(&[batch, pairs, self.heads])
    }

    /// f32, [batch, pairs, heads]: the sum over the edges of a path, each times a matrix.
    fn edges_of_paths(&self, call: &NetworkCall<'_>, hops: u64) -> AllocatedTensor {
        let (heads, [_, features]) = (self.heads, self.features);
        let pairs = self.batch.saturating_mul(self.pairs());
        let places = hops.saturating_mul(features);
        if !call.machine.is_gpu() {
            collect_on_host(call, pairs, places);
        }
        let known = look_up(call, [pairs, places], heads)
            .cast(ElementType::F32)
            .reshape(&[pairs.saturating_mul(hops), features, heads])
            .reduce(1)
            .cast(call.machine.element);
        let inner = hops.saturating_mul(heads);
        let matrices = ProjectionMatrix {
            order: Order::Turned,
            ..ProjectionMatrix::linear(inner, heads, false)
        };
        matrices
            .forward(known.reshape(&[pairs, inner]))
            .cast(ElementType::F32)
            .reshape(&[self.batch, self.pairs(), heads])
    }

    fn pairs(&self) -> u64 {
        self.nodes.saturating_mul(self.nodes)
    }
}

/// The first `places` numbers of each path, collected from all of them in 64 bits. Their number is
/// not known before, so that the list doubles, with a copy, whenever it is full, and is then copied
/// to the numbers that are put on the device.
fn collect_on_host(call: &NetworkCall<'_>, paths: u64, places: u64) {
    let count = paths.saturating_mul(places);
    // The smallest list that Rust makes has four places.
    let mut list = places.max(4);
    while list < count {
        list = list.saturating_mul(2);
    }
    let half = workspace(&call.machine, &[2, list / 2], ElementType::F32);
    let whole = workspace(&call.machine, &[2, list], ElementType::F32);
    drop(half);
    drop((call.single(&[count]), whole));
}

/// The rows of a table, [rows, columns, width], for indices that the host has.
fn look_up(call: &NetworkCall<'_>, [rows, columns]: [u64; 2], width: u64) -> AllocatedTensor {
    let count = rows.saturating_mul(columns);
    let numbers = || {
        let is_host = !call.machine.is_gpu();
        // In 64 bits, as the arguments have them.
        is_host.then(|| workspace(&call.machine, &[2, count], ElementType::F32))
    };
    let given = numbers();
    let indices = call.single(&[rows, columns]);
    drop(given);
    // burn looks up a single row of indices.
    let _indices = indices.reshape(&[count]);
    // Flex widens them again.
    let _wide = numbers();
    call.empty(&[count, width]).reshape(&[rows, columns, width])
}

/// A parameter that is repeated and then joined with others: a GPU reads it where it is, Flex copies
/// it first.
fn repeated(call: &NetworkCall<'_>, dims: &[u64], element: ElementType) -> AllocatedTensor {
    match call.machine.is_gpu() {
        true => weight(&call.machine, dims, element),
        false => empty(&call.machine, dims, element),
    }
}
