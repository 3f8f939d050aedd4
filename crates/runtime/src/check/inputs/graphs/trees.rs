//! Graphs of any size: binary trees with the features of recorded graphs.

use crate::golden::Golden;
use serde_json::Value;
use testgen_nn::array::{Array, Arrays};
use testgen_processing::graph::Graph;

/// The graphs of the main case.
pub(in crate::check) fn recorded_graphs(golden: &Golden) -> Vec<Graph> {
    golden
        .graphs
        .iter()
        .map(|arrays| Graph {
            num_nodes: arrays
                .get("num_nodes")
                .and_then(Array::as_integers)
                .map_or(0, |count| count[0] as usize),
            edge_index: arrays
                .get("edge_index")
                .cloned()
                .unwrap_or_else(|| Array::integers([2, 0], Vec::new())),
            node_feat: arrays.get("node_feat").cloned(),
            edge_attr: arrays.get("edge_attr").cloned(),
        })
        .collect()
}

/// `count` binary trees of `nodes` nodes, with features of nodes and edges from the recorded
/// graphs. Returns no tree without such graphs.
pub(in crate::check) fn trees(golden: &Golden, nodes: usize, count: usize) -> Vec<Graph> {
    let recorded = recorded_graphs(golden);
    // Binary, because the model has tables for a limited number of distances and degrees: distances
    // grow with the logarithm of the number of nodes, and no degree is above three.
    let edges: Vec<[i64; 2]> = (1..nodes as i64)
        .flat_map(|child| [[child, (child - 1) / 2], [(child - 1) / 2, child]])
        .collect();
    let ends = [0, 1].map(|end| edges.iter().map(move |edge| edge[end]));
    let edge_index = Array::integers([2, edges.len()], ends.into_iter().flatten().collect());
    // Features are indices of tables, so that made ones could be out of range.
    if recorded.is_empty() {
        Vec::new()
    } else {
        (0..count)
            .map(|number| {
                let features = &recorded[number % recorded.len()];
                let (node_feat, edge_attr) = (&features.node_feat, &features.edge_attr);
                Graph {
                    num_nodes: nodes,
                    edge_index: edge_index.clone(),
                    // Starting at another row for each tree makes the trees differ.
                    node_feat: node_feat.as_ref().map(|array| rows(array, number, nodes)),
                    edge_attr: edge_attr
                        .as_ref()
                        .map(|array| rows(array, number, edges.len())),
                }
            })
            .collect()
    }
}

/// `count` rows from the row `start` on, beginning again after the last one.
fn rows(array: &Array, start: usize, count: usize) -> Array {
    let order: Vec<usize> = (start..start + count)
        .map(|row| row % array.shape()[0])
        .collect();
    array.select_rows(&order)
}

/// Whether the model's tables have a row for every distance in a collated batch and every position
/// in its paths.
pub(in crate::check) fn distances_fit(config: &Value, inputs: &Arrays) -> bool {
    let positions = inputs
        .get("spatial_pos")
        .and_then(Array::as_integers)
        .unwrap_or_default();
    let depth = inputs
        .get("input_edges")
        .map_or(0, |edges| edges.shape()[3] as i64);
    // The defaults are from `GraphormerConfig`.
    positions
        .iter()
        .all(|position| *position < table_rows("num_spatial", 512, config))
        && depth <= table_rows("num_edge_dis", 128, config)
}

fn table_rows(name: &str, default: i64, config: &Value) -> i64 {
    config.get(name).and_then(Value::as_i64).unwrap_or(default)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::check::tests::fixtures;
    use serde_json::json;

    /// Every node but the first has an edge to its parent and one back. Tree k has the features of
    /// recorded graph k, from row k on.
    #[test]
    fn trees_are_binary_and_have_recorded_features() {
        let golden = Golden::read(&fixtures().join("graphormer")).unwrap();
        let recorded = recorded_graphs(&golden);
        let trees = trees(&golden, 6, 4);
        assert_eq!(trees.len(), 4);
        let starts = [1, 0, 2, 0, 3, 1, 4, 1, 5, 2];
        let ends = [0, 1, 0, 2, 1, 3, 1, 4, 2, 5];
        for (number, tree) in trees.iter().enumerate() {
            let features = &recorded[number % 3];
            let rows = |recorded: &Option<Array>, count: usize| {
                let recorded = recorded.as_ref().unwrap();
                let order: Vec<usize> = (number..number + count)
                    .map(|row| row % recorded.shape()[0])
                    .collect();
                Some(recorded.select_rows(&order))
            };
            let expected = Graph {
                num_nodes: 6,
                edge_index: Array::integers([2, 10], [starts, ends].concat()),
                node_feat: rows(&features.node_feat, 6),
                edge_attr: rows(&features.edge_attr, 10),
            };
            assert_eq!(*tree, expected, "tree {number}");
        }
        assert_ne!(
            trees[0].node_feat, trees[3].node_feat,
            "two trees of one graph differ"
        );
    }

    #[test]
    fn tables_have_a_row_for_every_distance_and_position() {
        let small = json!({ "num_spatial": 5, "num_edge_dis": 2 });
        let fits = |config: &Value, position: i64, depth: usize| {
            let inputs = Arrays::from([
                (
                    "spatial_pos".to_owned(),
                    Array::integers([1, 1, 2], vec![0, position]),
                ),
                (
                    "input_edges".to_owned(),
                    Array::integers([1, 1, 1, depth, 1], vec![0; depth]),
                ),
            ]);
            distances_fit(config, &inputs)
        };
        assert!(fits(&small, 4, 2));
        assert!(!fits(&small, 5, 2));
        assert!(!fits(&small, 6, 2));
        assert!(!fits(&small, 4, 3));
        assert!(
            fits(&json!({}), 511, 128) && !fits(&json!({}), 512, 1) && !fits(&json!({}), 0, 129)
        );
    }
}
