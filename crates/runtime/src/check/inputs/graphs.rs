//! A collated batch of graphs: with other padding, with other values at padding, and its outputs by
//! graph. Trees are in `trees`.

mod trees;

use super::rows;
use testgen_models::Model;
use testgen_nn::{
    array::{Array, Arrays, Values},
    forward::ForwardError,
};
pub(in crate::check) use trees::{distances_fit, recorded_graphs, trees};

/// An argument of the collator that has one or two dimensions of nodes after the batch.
#[derive(Clone, Copy)]
struct NodeArgument {
    name: &'static str,
    /// How many dimensions are nodes.
    node_dimensions: usize,
    /// Entries before the first node: the attention bias has one for the graph token.
    offset: usize,
}

const fn node_argument(name: &'static str, node_dimensions: usize, offset: usize) -> NodeArgument {
    NodeArgument {
        name,
        node_dimensions,
        offset,
    }
}

const NODE_ARGUMENTS: [NodeArgument; 7] = [
    node_argument("input_nodes", 1, 0),
    node_argument("in_degree", 1, 0),
    node_argument("out_degree", 1, 0),
    node_argument("spatial_pos", 2, 0),
    node_argument("attn_edge_type", 2, 0),
    node_argument("input_edges", 2, 0),
    node_argument("attn_bias", 2, 1),
];

/// The part of an output, or of a hidden state, that belongs to one graph.
#[derive(Debug, Clone)]
pub(in crate::check) struct GraphResult {
    pub(in crate::check) name: String,
    pub(in crate::check) graph: usize,
    pub(in crate::check) array: Array,
}

/// A change of padding nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::check) enum PaddingChange {
    /// Other values, but still padding.
    Values,
    /// Other values, and a feature that makes them nodes.
    MadeNodes,
}

/// A collated batch of graphs.
#[derive(Debug, Clone)]
pub(in crate::check) struct GraphBatch {
    pub(in crate::check) inputs: Arrays,
    /// The number of nodes of each graph.
    pub(in crate::check) nodes: Vec<usize>,
}

impl GraphBatch {
    /// None if the arguments are not graphs.
    pub(in crate::check) fn from_inputs(inputs: &Arrays) -> Option<Self> {
        let nodes = inputs
            .get("input_nodes")
            .filter(|nodes| nodes.shape().len() == 3)?;
        let (width, features) = (nodes.shape()[1], nodes.shape()[2].max(1));
        // The collator shifts features by one, so that 0 in the first feature marks padding.
        let first: Vec<i64> = nodes
            .as_integers()?
            .iter()
            .step_by(features)
            .copied()
            .collect();
        Some(Self {
            inputs: inputs.clone(),
            nodes: first
                .chunks(width.max(1))
                .map(|graph| graph.iter().filter(|first| **first != 0).count())
                .collect(),
        })
    }

    /// The number of nodes in each row, padding included.
    pub(in crate::check) fn width(&self) -> usize {
        self.inputs["input_nodes"].shape()[1]
    }

    /// One of the graphs without padding.
    pub(in crate::check) fn alone(&self, graph: usize) -> Self {
        let one = Self {
            inputs: rows::of_inputs(&self.inputs, &[graph]),
            nodes: vec![self.nodes[graph]],
        };
        one.resized(self.nodes[graph])
    }

    /// The same graphs, padded or cut to `width` nodes.
    pub(in crate::check) fn resized(&self, width: usize) -> Self {
        Self {
            inputs: self
                .inputs
                .iter()
                .map(|(name, array)| {
                    let mut shape = array.shape().to_vec();
                    if let Some(argument) = node_argument_of(name) {
                        shape[1..=argument.node_dimensions].fill(width + argument.offset);
                    }
                    (name.clone(), array.resized(&shape))
                })
                .collect(),
            nodes: self.nodes.clone(),
        }
    }

    /// The inputs with ones at all padding.
    pub(in crate::check) fn with_changed_padding(&self, change: PaddingChange) -> Arrays {
        self.inputs
            .iter()
            .map(|(name, array)| {
                let kept = |flat: usize| {
                    let marks_padding =
                        name == "input_nodes" && flat.is_multiple_of(array.shape()[2]);
                    !self.is_padding(name, array.shape(), flat)
                        || (marks_padding && change == PaddingChange::Values)
                };
                let other = match array.values() {
                    Values::I64(values) => {
                        Array::integers(array.shape(), with_ones(values, 1, kept))
                    }
                    Values::F32(values) => {
                        Array::floats(array.shape(), with_ones(values, 1.0, kept))
                    }
                    Values::U8(_) => array.clone(),
                };
                (name.clone(), other)
            })
            .collect()
    }

    fn is_padding(&self, name: &str, shape: &[usize], flat: usize) -> bool {
        let Some(NodeArgument {
            node_dimensions,
            offset,
            ..
        }) = node_argument_of(name)
        else {
            return false;
        };
        // The offset counts as real, because the entry of the graph token is not padding.
        let nodes = self.nodes[flat / elements_within(shape, 0)];
        (1..=node_dimensions).any(|dimension| {
            flat / elements_within(shape, dimension) % shape[dimension] >= nodes + offset
        })
    }

    /// Outputs and hidden states of a call with other arguments for the same graphs.
    pub(in crate::check) fn run_with(
        &self,
        model: &Model,
        inputs: &Arrays,
    ) -> Result<Vec<GraphResult>, ForwardError> {
        let forward = model.forward_traced(inputs)?;
        let traces = forward
            .trace
            .into_iter()
            .map(|(name, array)| (format!("trace.{name}"), array));
        Ok(self.by_graph(forward.outputs.into_iter().chain(traces)))
    }

    /// Outputs and hidden states of the batch.
    pub(in crate::check) fn run(&self, model: &Model) -> Result<Vec<GraphResult>, ForwardError> {
        self.run_with(model, &self.inputs)
    }

    /// The named arrays, split by graph, without padding.
    pub(in crate::check) fn by_graph(
        &self,
        named: impl Iterator<Item = (String, Array)>,
    ) -> Vec<GraphResult> {
        named
            .flat_map(|(name, array)| {
                (0..self.nodes.len())
                    .map(|graph| GraphResult {
                        name: name.clone(),
                        graph,
                        array: self.part(&array, graph),
                    })
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// One graph of an output of the batch, without padding.
    fn part(&self, array: &Array, graph: usize) -> Array {
        let row = array.select_rows(&[graph]);
        // Hidden states begin with the graph token, then come the nodes.
        if row.shape().len() == 3 {
            row.narrow(1, 0, 1 + self.nodes[graph])
        } else {
            row
        }
    }
}

/// The elements of one index of a dimension.
fn elements_within(shape: &[usize], dimension: usize) -> usize {
    shape[dimension + 1..].iter().product()
}

fn node_argument_of(name: &str) -> Option<NodeArgument> {
    NODE_ARGUMENTS
        .into_iter()
        .find(|argument| argument.name == name)
}

fn with_ones<T: Copy>(values: &[T], one: T, kept: impl Fn(usize) -> bool) -> Vec<T> {
    values
        .iter()
        .enumerate()
        .map(|(flat, value)| if kept(flat) { *value } else { one })
        .collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_graph_has_its_token_and_its_nodes_without_padding() {
        let batch = GraphBatch {
            inputs: Arrays::new(),
            nodes: vec![3, 1],
        };
        let states = Array::floats([2, 4, 1], (0..8_u8).map(f32::from).collect());
        let logits = Array::floats([2, 1], vec![8.0, 9.0]);
        let named = [("embed".to_owned(), states), ("logits".to_owned(), logits)];
        let parts = batch.by_graph(named.into_iter()).into_iter();
        let parts: Vec<_> = parts
            .map(|part| (part.graph, part.array.as_floats().unwrap().to_vec()))
            .collect();
        assert_eq!(
            parts,
            [
                (0, vec![0.0, 1.0, 2.0, 3.0]),
                (1, vec![4.0, 5.0]),
                (0, vec![8.0]),
                (1, vec![9.0])
            ]
        );
    }
}
