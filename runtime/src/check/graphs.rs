//! Graphs that checks make themselves: recorded ones with other padding or with other numbers in it, and trees.

use super::rows;
use crate::{Array, Arrays, ForwardError, Graph, Model, Values, golden::Golden};
use serde_json::Value;

/// The arguments with dimensions of nodes behind that of the graphs, the number of these, and what stands in front of the nodes.
const NODE_DIMENSIONS: [(&str, usize, usize); 7] = [
    ("input_nodes", 1, 0),
    ("in_degree", 1, 0),
    ("out_degree", 1, 0),
    ("spatial_pos", 2, 0),
    ("attn_edge_type", 2, 0),
    ("input_edges", 2, 0),
    ("attn_bias", 2, 1),
];

/// Numbers by their name and the graph that they are of.
pub(super) type Results = Vec<(String, usize, Array)>;

/// A collated batch.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    pub(super) inputs: Arrays,
    /// The number of nodes of each graph.
    pub(super) nodes: Vec<usize>,
}

impl Batch {
    /// None where the arguments are no graphs.
    pub(super) fn of(inputs: &Arrays) -> Option<Self> {
        let nodes = inputs.get("input_nodes").filter(|nodes| nodes.shape().len() == 3)?;
        let (width, features) = (nodes.shape()[1], nodes.shape()[2].max(1));
        let first: Vec<i64> = nodes.as_integers()?.iter().step_by(features).copied().collect();
        let count = |graph: &[i64]| graph.iter().filter(|first| **first != 0).count();
        Some(Self { inputs: inputs.clone(), nodes: first.chunks(width.max(1)).map(count).collect() })
    }

    /// The number of nodes of the largest graph with its padding.
    pub(super) fn width(&self) -> usize {
        self.inputs["input_nodes"].shape()[1]
    }

    /// One graph without padding.
    pub(super) fn alone(&self, graph: usize) -> Self {
        let one = Self { inputs: rows::of_inputs(&self.inputs, &[graph]), nodes: vec![self.nodes[graph]] };
        one.resized(self.nodes[graph])
    }

    /// The same graphs, padded or cut to `width` nodes.
    pub(super) fn resized(&self, width: usize) -> Self {
        let resize = |(name, array): (&String, &Array)| {
            let mut shape = array.shape().to_vec();
            if let Some((_, dimensions, front)) = dimensions_of(name) {
                shape[1..=dimensions].fill(width + front);
            }
            (name.clone(), array.resized(&shape))
        };
        Self { inputs: self.inputs.iter().map(resize).collect(), nodes: self.nodes.clone() }
    }

    /// Ones wherever padding is; but for the number that says that it is padding, unless it shall be `shown`.
    pub(super) fn disturbed(&self, shown: bool) -> Arrays {
        let change = |(name, array): (&String, &Array)| {
            let kept = |flat: usize| {
                let says_padding = name == "input_nodes" && flat.is_multiple_of(array.shape()[2]);
                !self.is_padding(name, array.shape(), flat) || (says_padding && !shown)
            };
            let other = match array.values() {
                Values::I64(values) => Array::integers(array.shape(), with_ones(values, 1, kept)),
                Values::F32(values) => Array::floats(array.shape(), with_ones(values, 1.0, kept)),
                Values::U8(_) => array.clone(),
            };
            (name.clone(), other)
        };
        self.inputs.iter().map(change).collect()
    }

    fn is_padding(&self, name: &str, shape: &[usize], flat: usize) -> bool {
        let Some((_, dimensions, front)) = dimensions_of(name) else { return false };
        let inner = |dimension: usize| shape[dimension + 1..].iter().product::<usize>();
        let nodes = self.nodes[flat / inner(0)];
        (1..=dimensions).any(|dimension| flat / inner(dimension) % shape[dimension] >= nodes + front)
    }

    /// The outputs of a call with other arguments of the same graphs, and the hidden states behind every layer.
    pub(super) fn run_with(&self, model: &Model, inputs: &Arrays) -> Result<Results, ForwardError> {
        let forward = model.forward_traced(inputs)?;
        let traces = forward.trace.into_iter().map(|(name, array)| (format!("trace.{name}"), array));
        Ok(self.parts(forward.outputs.into_iter().chain(traces)))
    }

    /// As [`Batch::run_with`], with its own arguments.
    pub(super) fn run(&self, model: &Model) -> Result<Results, ForwardError> {
        self.run_with(model, &self.inputs)
    }

    /// The real part of every graph.
    pub(super) fn parts(&self, named: impl Iterator<Item = (String, Array)>) -> Results {
        let part = |array: &Array, graph: usize| {
            let row = array.select_rows(&[graph]);
            if row.shape().len() == 3 { row.narrow(1, 0, 1 + self.nodes[graph]) } else { row }
        };
        let of_graphs = |(name, array): (String, Array)| {
            let of_graph = |graph| (name.clone(), graph, part(&array, graph));
            (0..self.nodes.len()).map(of_graph).collect::<Vec<_>>()
        };
        named.flat_map(of_graphs).collect()
    }
}

fn dimensions_of(name: &str) -> Option<(&'static str, usize, usize)> {
    NODE_DIMENSIONS.into_iter().find(|(known, _, _)| *known == name)
}

fn with_ones<T: Copy>(values: &[T], one: T, kept: impl Fn(usize) -> bool) -> Vec<T> {
    values.iter().enumerate().map(|(flat, value)| if kept(flat) { *value } else { one }).collect()
}

/// The graphs of the main case.
pub(super) fn recorded_graphs(golden: &Golden) -> Vec<Graph> {
    let graph = |arrays: &Arrays| Graph {
        num_nodes: arrays.get("num_nodes").and_then(Array::as_integers).map_or(0, |count| count[0] as usize),
        edge_index: arrays.get("edge_index").cloned().unwrap_or_else(|| Array::integers([2, 0], Vec::new())),
        node_feat: arrays.get("node_feat").cloned(),
        edge_attr: arrays.get("edge_attr").cloned(),
    };
    golden.graphs.iter().map(graph).collect()
}

/// `count` trees of `nodes` nodes, with what is known of the nodes and edges of the recorded graphs; none without these. In a
/// tree with two branches at each node the distances grow slowest while the degrees stay small.
pub(super) fn trees(golden: &Golden, nodes: usize, count: usize) -> Vec<Graph> {
    let recorded = recorded_graphs(golden);
    let edges: Vec<[i64; 2]> =
        (1..nodes as i64).flat_map(|child| [[child, (child - 1) / 2], [(child - 1) / 2, child]]).collect();
    let ends = [0, 1].map(|end| edges.iter().map(move |edge| edge[end]));
    let edge_index = Array::integers([2, edges.len()], ends.into_iter().flatten().collect());
    let tree = |number: usize| {
        let known = &recorded[number % recorded.len()];
        // Each begins at another row, so that the trees differ.
        let rows = |array: &Array, rows: usize| {
            let order: Vec<usize> = (0..rows).map(|row| (row + number) % array.shape()[0]).collect();
            array.select_rows(&order)
        };
        Graph {
            num_nodes: nodes,
            edge_index: edge_index.clone(),
            node_feat: known.node_feat.as_ref().map(|array| rows(array, nodes)),
            edge_attr: known.edge_attr.as_ref().map(|array| rows(array, edges.len())),
        }
    };
    if recorded.is_empty() { Vec::new() } else { (0..count).map(tree).collect() }
}

/// Whether the model's tables hold every distance of a collated batch, and every place of its paths.
pub(super) fn distances_fit(config: &Value, inputs: &Arrays) -> bool {
    let rows = |name: &str, default| config.get(name).and_then(Value::as_i64).unwrap_or(default);
    let positions = inputs.get("spatial_pos").and_then(Array::as_integers).unwrap_or_default();
    let depth = inputs.get("input_edges").map_or(0, |edges| edges.shape()[3] as i64);
    positions.iter().all(|position| *position < rows("num_spatial", 512)) && depth <= rows("num_edge_dis", 128)
}
