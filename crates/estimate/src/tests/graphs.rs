//! Graphormer: the bytes of a call, counted by hand.

use super::headers;
use crate::{CallSizes, tensor::Backend};
use serde_json::{Value, json};
use testgen_types::Precision;

/// The bytes of a call beside the weights.
fn call(config: &Value, backend: Backend, precision: Precision, [batch, tokens]: [u64; 2]) -> u64 {
    let sizes = CallSizes { batch, tokens };
    let names = ["a", "b", "c"];
    let estimate = headers(config, &names).estimate(backend, precision, sizes);
    estimate.expect("it has an estimate").call()
}

/// The sizes of `graphormer_wide`, of which an NVIDIA H200 took 186368 bytes in f32 and 97792 in f16
/// and bf16, in blocks of 512 bytes.
#[test]
fn attention_of_wide_layers_is_the_peak_on_a_gpu() {
    let config = json!({
        "model_type": "graphormer", "architectures": ["GraphormerForGraphClassification"],
        "embedding_dim": 256, "ffn_embedding_dim": 256, "num_attention_heads": 4, "num_hidden_layers": 2,
        "multi_hop_max_dist": 3, "num_edge_dis": 10, "num_edges": 530, "num_atoms": 60, "num_classes": 5,
        "encoder_normalize_before": true
    });
    // Hidden states, queries, keys, values and a copy in another order: graphs of 10 nodes and a token.
    let states = |size: u64| 5 * 3 * 11 * 256 * size;
    // Rows of 11 numbers: the bias in f32, and the scores.
    let (bias, rows): (u64, u64) = (3 * 4 * 11 * 64, 3 * 4 * 11);
    let peak = |precision| call(&config, Backend::Gpu, precision, [3, 10]);
    assert_eq!(peak(Precision::F32), states(4) + bias + rows * 64);
    assert_eq!(peak(Precision::Bf16), states(2) + bias + rows * 32);
}

/// Paths of three edges between 20 nodes, with one feature.
#[test]
fn edges_of_paths_are_the_peak_of_narrow_layers() {
    let config = |heads: u64, edges: &str| {
        json!({
            "model_type": "graphormer", "embedding_dim": 4, "ffn_embedding_dim": 4, "num_hidden_layers": 1,
            "num_attention_heads": heads, "edge_type": edges, "multi_hop_max_dist": 3, "num_edge_dis": 5,
            "num_edges": 512, "num_atoms": 512
        })
    };
    let peak = |heads, edges| {
        call(
            &config(heads, edges),
            Backend::Host,
            Precision::F32,
            [1, 20],
        )
    };
    let (pairs, edges) = (20 * 20, 3 * 20 * 20);
    // Biases of distances, and rows of the edges: before the mean over their features, its aligned
    // sums, and their copy.
    assert_eq!(peak(4, "multi_hop"), 4 * 4 * (pairs + 3 * edges));
    // A list of 1024 numbers of 64 bits, and the list with twice as many places that they move to.
    assert_eq!(peak(1, "multi_hop"), 4 * pairs + 8 * (1024 + 2048));
    assert!(peak(4, "single_hop") < peak(4, "multi_hop"));
}

#[test]
fn a_path_has_at_most_as_many_edges_as_the_model_reads_or_as_nodes_follow() {
    let peak = |most: i64, places: u64, nodes| {
        let config = json!({
            "model_type": "graphormer", "embedding_dim": 8, "ffn_embedding_dim": 8, "num_hidden_layers": 1,
            "num_attention_heads": 8, "multi_hop_max_dist": most, "num_edge_dis": places, "num_edges": 9
        });
        call(&config, Backend::Host, Precision::F32, [1, nodes])
    };
    assert!(peak(3, 128, 20) < peak(4, 128, 20));
    // All that there are matrices for.
    assert_eq!(peak(-1, 6, 20), peak(6, 128, 20));
    assert_eq!(peak(19, 128, 20), peak(30, 128, 20));
}
