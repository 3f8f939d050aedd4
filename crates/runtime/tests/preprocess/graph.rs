//! Graphs that no arguments can be made of, and those whose arguments are known by hand.

use crate::{directory_with, fixture};
use testgen_runtime::{Array, Graph, GraphCollator};

const CONFIG: &str =
    r#"{"model_type": "graphormer", "multi_hop_max_dist": 2, "spatial_pos_max": 3}"#;

fn collator(config: &str) -> GraphCollator {
    let directory = directory_with(&[("config.json", config)]);
    GraphCollator::open(directory.path()).unwrap().unwrap()
}

/// A chain of three nodes in one direction, of nodes and edges that are all alike.
fn chain() -> Graph {
    Graph {
        num_nodes: 3,
        edge_index: Array::integers([2, 2], vec![0, 1, 1, 2]),
        node_feat: None,
        edge_attr: None,
    }
}

#[test]
fn a_chain_by_hand() {
    let arrays = collator(CONFIG).process(&[chain()]).unwrap();
    let integers = |name: &str| arrays[name].as_integers().unwrap().to_vec();
    assert_eq!(integers("input_nodes"), [4, 4, 4]);
    assert_eq!(integers("in_degree"), [2, 2, 1]);
    assert_eq!(integers("out_degree"), integers("in_degree"));
    assert_eq!(integers("spatial_pos"), [1, 2, 3, 511, 1, 2, 511, 511, 1]);
    assert_eq!(integers("attn_edge_type"), [0, 3, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(
        integers("input_edges"),
        [0, 0, 4, 0, 4, 4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]
    );
    let hidden = f32::NEG_INFINITY;
    let bias = [
        [0.0; 4],
        [0.0, 0.0, 0.0, hidden],
        [0.0, hidden, 0.0, 0.0],
        [0.0, hidden, hidden, 0.0],
    ];
    assert_eq!(arrays["attn_bias"], Array::floats([1, 4, 4], bias.concat()));
}

#[test]
fn smaller_graphs_are_filled_up_with_zeros() {
    let single = Graph {
        num_nodes: 1,
        edge_index: Array::integers([2, 0], Vec::new()),
        ..chain()
    };
    let arrays = collator(CONFIG).process(&[chain(), single]).unwrap();
    assert_eq!(arrays["input_nodes"].as_integers().unwrap()[3..], [4, 0, 0]);
    assert_eq!(
        arrays["spatial_pos"].as_integers().unwrap()[9..],
        [1, 0, 0, 0, 0, 0, 0, 0, 0]
    );
    assert!(
        arrays["attn_bias"].as_floats().unwrap()[16..]
            .iter()
            .all(|bias| *bias == 0.0)
    );
}

#[test]
fn invalid_graphs_are_errors() {
    let problem = |change: &dyn Fn(&mut Graph)| {
        let mut graph = chain();
        change(&mut graph);
        collator(CONFIG)
            .process(&[chain(), graph])
            .unwrap_err()
            .to_string()
    };
    let message = problem(&|graph| graph.num_nodes = 0);
    assert_eq!(message, "graph 1 has no nodes; give at least one");
    assert!(
        problem(&|graph| graph.num_nodes = 2)
            .contains("has an edge at node 2, and 2 nodes counted from 0")
    );
    let message = problem(&|graph| graph.edge_index = Array::integers([2, 1], vec![-1, 0]));
    assert!(message.contains("has an edge at node -1"), "{message}");
    let message = problem(&|graph| graph.edge_index = Array::integers([1, 2], vec![0, 1]));
    assert!(
        message.contains("an `edge_index` of shape [1, 2], expected integers [2, edges]"),
        "{message}"
    );
    let message = problem(&|graph| graph.node_feat = Some(Array::integers([2, 1], vec![0, 1])));
    assert!(
        message.contains("a `node_feat` of shape [2, 1], expected [3, features]"),
        "{message}"
    );
    let message = problem(&|graph| graph.edge_attr = Some(Array::floats([2], vec![0.5, 1.0])));
    assert!(
        message.contains("an `edge_attr` that does not hold integers"),
        "{message}"
    );
    let message = problem(&|graph| graph.node_feat = Some(Array::integers([3, 2], vec![0; 6])));
    assert!(
        message.contains("has [2, 1] features of nodes and edges, the first one [1, 1]"),
        "{message}"
    );
}

#[test]
fn other_models_have_no_collator_and_a_bad_number_is_named() {
    assert!(GraphCollator::open(&fixture("bert")).unwrap().is_none());
    assert!(
        GraphCollator::open(directory_with(&[]).path())
            .unwrap()
            .is_none()
    );
    let directory = directory_with(&[(
        "config.json",
        r#"{"model_type": "graphormer", "spatial_pos_max": "far"}"#,
    )]);
    let message = GraphCollator::open(directory.path())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("`spatial_pos_max` is `\"far\"`, expected a whole number"),
        "{message}"
    );
}
