//! Converts graphs to the arguments of a Graphormer, as `GraphormerDataCollator` of transformers
//! does.

use crate::{
    config_file::ConfigFile,
    error::PreprocessError,
    graph::{CheckedGraph, Graph},
    shortest_paths::ShortestPaths,
};
use std::path::Path;
use testgen_nn::array::{Array, Arrays};
use testgen_types::{Architecture, ModelType};

/// The number of kinds that a feature may have before the kinds of the next one begin.
// `offset` of transformers' `convert_to_single_emb`.
const KINDS: i64 = 512;

/// The offset of the first kind of a node: padding and the two shifts of transformers.
const FIRST_NODE_KIND: i64 = 3;

/// The offset of the first kind of an edge between two nodes; along a path one more.
const FIRST_EDGE_KIND: i64 = 2;

/// The collator of a checkpoint. transformers leaves both numbers to the caller; the configuration
/// is where they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphCollator {
    /// Nodes at this position (their distance and one) and further do not see each other.
    spatial_pos_max: i64,
    /// The number of edges of a path that the model reads, or `None` for all.
    hops: Option<usize>,
}

impl GraphCollator {
    /// Reads `config.json`. Returns `None` if the model does not read graphs.
    pub fn open(directory: &Path) -> Result<Option<Self>, PreprocessError> {
        let Some(config) = ConfigFile::read(directory, "config.json")? else {
            return Ok(None);
        };
        let model_type = config
            .get("model_type")
            .and_then(serde_json::Value::as_str)
            .and_then(ModelType::find);
        if model_type.is_none_or(|model_type| model_type.architecture() != Architecture::Graph) {
            return Ok(None);
        }
        // The default is from `GraphormerConfig`; a distance of 0 or less means paths of any
        // length.
        let hops = usize::try_from(number("multi_hop_max_dist", 5, &config)?)
            .ok()
            .filter(|hops| *hops > 0);
        Ok(Some(Self {
            spatial_pos_max: number("spatial_pos_max", 1024, &config)?,
            hops,
        }))
    }

    /// The arguments of a call with all graphs, padded to the largest with zeros.
    ///
    /// `input_nodes` [graphs, nodes, features], `in_degree` and `out_degree` [graphs, nodes],
    /// `spatial_pos` [graphs, nodes, nodes], `attn_edge_type` [graphs, nodes, nodes, features],
    /// `input_edges` [graphs, nodes, nodes, edges, features] and `attn_bias`
    /// [graphs, 1 + nodes, 1 + nodes]. Paths are cut after the last edge that the model reads:
    /// transformers keeps 510 positions as soon as two nodes have no path.
    pub fn process(&self, graphs: &[Graph]) -> Result<Arrays, PreprocessError> {
        let items = graphs
            .iter()
            .enumerate()
            .map(|(index, graph)| Ok(Item::new(graph.checked(index)?)));
        let items: Vec<Item<'_>> = items.collect::<Result<_, PreprocessError>>()?;
        // `GraphormerDataCollator` takes the widths of the first graph;
        // others of another width fail there while they are copied.
        let Some(first) = items.first() else {
            return Ok(Arrays::new());
        };
        let widths = [
            first.graph.node_features.width,
            first.graph.edge_features.width,
        ];
        for (index, Item { graph, .. }) in items.iter().enumerate() {
            let found = [graph.node_features.width, graph.edge_features.width];
            if found != widths {
                let problem =
                    format!("has {found:?} features of nodes and edges, the first one {widths:?}");
                return Err(PreprocessError::Graph { index, problem });
            }
        }
        let nodes = items.iter().map(|item| item.graph.nodes).max().unwrap_or(0);
        let longest = items
            .iter()
            .flat_map(|item| item.paths.distances())
            .max()
            .map_or(0, |longest| *longest as usize);
        let depth = self.hops.map_or(longest, |hops| hops.min(longest)).max(1);
        Ok(Batch {
            items: &items,
            nodes,
            widths,
            depth,
        }
        .arrays(self.spatial_pos_max))
    }
}

/// A graph with derived values.
struct Item<'a> {
    graph: CheckedGraph<'a>,
    adjacent: Vec<bool>,
    paths: ShortestPaths,
    /// The last edge between two nodes, [nodes, nodes].
    edges: Vec<Option<usize>>,
}

impl<'a> Item<'a> {
    fn new(graph: CheckedGraph<'a>) -> Self {
        let nodes = graph.nodes;
        let mut edges = vec![None; nodes * nodes];
        for (index, [start, end]) in graph.edges.iter().enumerate() {
            // A later edge replaces an earlier one, as assignment by index does in numpy.
            edges[start * nodes + end] = Some(index);
        }
        // An edge given twice counts once in degrees: they are sums over a boolean matrix.
        let adjacent: Vec<bool> = edges.iter().map(Option::is_some).collect();
        let paths = ShortestPaths::compute(nodes, &adjacent);
        Self {
            graph,
            adjacent,
            paths,
            edges,
        }
    }

    /// The number of edges that leave `node`, and one.
    fn degree(&self, node: usize) -> i64 {
        let nodes = self.graph.nodes;
        // transformers also takes it for the number of edges that arrive.
        1 + self.adjacent[node * nodes..(node + 1) * nodes]
            .iter()
            .filter(|adjacent| **adjacent)
            .count() as i64
    }

    /// The features of the edge from `start` to `end`; `None` if there is no edge.
    fn edge(&self, start: usize, end: usize) -> Option<impl Iterator<Item = i64>> {
        let edge = self.edges[start * self.graph.nodes + end]?;
        Some(numbered(
            self.graph.edge_features.row(edge),
            FIRST_EDGE_KIND,
        ))
    }
}

/// Kinds as rows of one table: the rows of each feature follow the rows of the previous one.
fn numbered(kinds: &[i64], first: i64) -> impl Iterator<Item = i64> {
    kinds
        .iter()
        .enumerate()
        .map(move |(feature, kind)| kind + first + feature as i64 * KINDS)
}

struct Batch<'a> {
    items: &'a [Item<'a>],
    nodes: usize,
    /// The features of a node and of an edge.
    widths: [usize; 2],
    depth: usize,
}

impl Batch<'_> {
    fn arrays(&self, spatial_pos_max: i64) -> Arrays {
        let (nodes, [of_node, of_edge]) = (self.nodes, self.widths);
        let degrees = self.per_node(1, |item, node| vec![item.degree(node)]);
        let arrays = [
            (
                "input_nodes",
                self.per_node(of_node, node),
                &[nodes, of_node][..],
            ),
            ("in_degree", degrees.clone(), &[nodes]),
            // transformers copies the degrees: it assumes undirected graphs.
            ("out_degree", degrees, &[nodes]),
            (
                "spatial_pos",
                self.per_pair(1, |item: &Item<'_>, start, end| {
                    vec![position(item, start, end)]
                }),
                &[nodes, nodes],
            ),
            (
                "attn_edge_type",
                self.per_pair(of_edge, own_edge),
                &[nodes, nodes, of_edge],
            ),
            (
                "input_edges",
                self.per_pair(self.depth * of_edge, path_edges),
                &[nodes, nodes, self.depth, of_edge],
            ),
        ];
        let mut arrays: Arrays = arrays
            .into_iter()
            .map(|(name, values, shape)| {
                (
                    name.to_owned(),
                    Array::integers([&[self.items.len()], shape].concat(), values),
                )
            })
            .collect();
        arrays.insert("attn_bias".to_owned(), self.bias(spatial_pos_max));
        arrays
    }

    /// `width` numbers of each node, cut off or padded with zeros, and nodes of zeros.
    fn per_node(&self, width: usize, numbers: impl Fn(&Item<'_>, usize) -> Vec<i64>) -> Vec<i64> {
        let mut values = Vec::with_capacity(self.items.len() * self.nodes * width);
        for item in self.items {
            for node in 0..self.nodes {
                let mut given = if node < item.graph.nodes {
                    numbers(item, node)
                } else {
                    Vec::new()
                };
                given.resize(width, 0);
                values.extend(given);
            }
        }
        values
    }

    /// As [`Batch::per_node`], of each pair of nodes.
    fn per_pair(
        &self,
        width: usize,
        numbers: impl Fn(&Item<'_>, usize, usize) -> Vec<i64>,
    ) -> Vec<i64> {
        self.per_node(self.nodes * width, |item, start| {
            (0..item.graph.nodes)
                .flat_map(|end| {
                    let mut given = numbers(item, start, end);
                    given.resize(width, 0);
                    given
                })
                .collect()
        })
    }

    /// Zeros, and minus infinity between nodes that are too far apart; the graph's own token sees
    /// all.
    fn bias(&self, spatial_pos_max: i64) -> Array {
        let tokens = self.nodes + 1;
        let mut values = vec![0.0; self.items.len() * tokens * tokens];
        for (index, item) in self.items.iter().enumerate() {
            let pairs = (0..item.graph.nodes)
                .flat_map(|start| (0..item.graph.nodes).map(move |end| [start, end]));
            // Among the nodes of the graph only: padding is masked by the model, which sees its
            // node ids of zero.
            for [start, end] in
                pairs.filter(|[start, end]| position(item, *start, *end) >= spatial_pos_max)
            {
                values[(index * tokens + start + 1) * tokens + end + 1] = f32::NEG_INFINITY;
            }
        }
        Array::floats([self.items.len(), tokens, tokens], values)
    }
}

fn node(item: &Item<'_>, node: usize) -> Vec<i64> {
    numbered(item.graph.node_features.row(node), FIRST_NODE_KIND).collect()
}

fn position(item: &Item<'_>, start: usize, end: usize) -> i64 {
    1 + i64::from(item.paths.distances()[start * item.graph.nodes + end])
}

fn own_edge(item: &Item<'_>, start: usize, end: usize) -> Vec<i64> {
    item.edge(start, end).into_iter().flatten().collect()
}

fn path_edges(item: &Item<'_>, start: usize, end: usize) -> Vec<i64> {
    let edges = item.paths.edges(start, end);
    edges
        .into_iter()
        .filter_map(|[start, end]| item.edge(start, end))
        .flatten()
        .map(|kind| kind + 1)
        .collect()
}

fn number(name: &str, default: i64, config: &ConfigFile) -> Result<i64, PreprocessError> {
    match config.get(name) {
        None => Ok(default),
        Some(value) => value
            .as_i64()
            .ok_or_else(|| config.not_a(name, "a whole number", value)),
    }
}
