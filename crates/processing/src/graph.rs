//! A graph of a request, in the field names of the data sets that transformers reads.

use crate::error::PreprocessError;
use testgen_nn::array::Array;

/// A directed graph; an undirected one has every edge in both directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// The number of nodes, at least 1.
    pub num_nodes: usize,
    /// Integers [2, edges]: the node at which each edge starts, and the node at which it ends. Of
    /// two edges between the same nodes the last one counts.
    pub edge_index: Array,
    /// Integers [nodes, features], each feature with separate kinds, counted from 0. `None` if all
    /// nodes are alike.
    pub node_feat: Option<Array>,
    /// Integers [edges, features], or `[edges]` of a single feature. None where all edges are
    /// alike.
    pub edge_attr: Option<Array>,
}

/// The same, checked and in the host's integers.
pub(crate) struct CheckedGraph<'a> {
    pub(crate) nodes: usize,
    pub(crate) edges: Vec<[usize; 2]>,
    pub(crate) node_features: GraphFeatures<'a>,
    pub(crate) edge_features: GraphFeatures<'a>,
}

/// Rows of kinds; where nothing was given, a single feature of the kind 1, as transformers has it.
pub(crate) struct GraphFeatures<'a> {
    values: Option<&'a [i64]>,
    pub(crate) width: usize,
}

impl GraphFeatures<'_> {
    pub(crate) fn row(&self, index: usize) -> &[i64] {
        self.values.map_or(&[1], |values| {
            &values[index * self.width..(index + 1) * self.width]
        })
    }
}

impl Graph {
    /// The validated graph, or an error; `index` is its position in the call.
    pub(crate) fn checked(&self, index: usize) -> Result<CheckedGraph<'_>, PreprocessError> {
        let bad = |problem: String| PreprocessError::Graph { index, problem };
        if self.num_nodes == 0 {
            return Err(bad("has no nodes; give at least one".to_owned()));
        }
        let edges = self.edges().map_err(bad)?;
        let node_features =
            features(self.node_feat.as_ref(), "node_feat", self.num_nodes).map_err(bad)?;
        let edge_features =
            features(self.edge_attr.as_ref(), "edge_attr", edges.len()).map_err(bad)?;
        Ok(CheckedGraph {
            nodes: self.num_nodes,
            edges,
            node_features,
            edge_features,
        })
    }

    fn edges(&self) -> Result<Vec<[usize; 2]>, String> {
        let shape = self.edge_index.shape();
        let values = self
            .edge_index
            .as_integers()
            .filter(|_| matches!(shape, [2, _]));
        let values = values.ok_or_else(|| {
            format!("has an `edge_index` of shape {shape:?}, expected integers [2, edges]")
        })?;
        let (starts, ends) = values.split_at(values.len() / 2);
        starts
            .iter()
            .zip(ends)
            .map(|(start, end)| Ok([node(*start, self.num_nodes)?, node(*end, self.num_nodes)?]))
            .collect()
    }
}

fn features<'a>(
    array: Option<&'a Array>,
    name: &str,
    rows: usize,
) -> Result<GraphFeatures<'a>, String> {
    let Some(array) = array else {
        return Ok(GraphFeatures {
            values: None,
            width: 1,
        });
    };
    let article = if name.starts_with('e') { "an" } else { "a" };
    let width = match (array.shape(), name) {
        (&[count, width], _) if count == rows && width > 0 => width,
        // `preprocess_item` adds the missing axis to edges only.
        (&[count], "edge_attr") if count == rows => 1,
        (shape, _) => {
            return Err(format!(
                "has {article} `{name}` of shape {shape:?}, expected [{rows}, features]"
            ));
        }
    };
    match array.as_integers() {
        Some(values) => Ok(GraphFeatures {
            values: Some(values),
            width,
        }),
        None => Err(format!(
            "has {article} `{name}` that does not hold integers"
        )),
    }
}

fn node(value: i64, count: usize) -> Result<usize, String> {
    let node = usize::try_from(value).ok().filter(|node| *node < count);
    node.ok_or_else(|| format!("has an edge at node {value}, and {count} nodes counted from 0"))
}
