//! Faults of models that read graphs: paths, distances, degrees, padding and the collator.

use crate::{fixture::Fixture, harnesses};
use serde_json::json;
use testgen_types::Check;

/// Each position in a path has a matrix [heads, heads] of its own; here every position has that of
/// the next one.
pub(crate) fn edges_at_other_places() {
    let name = "encoder.graph_encoder.graph_attn_bias.edge_dis_encoder.weight";
    let fault = Fixture::new(&harnesses::graphormer::HARNESS)
        .weights(|tensors| tensors.floats(name, |all| all.rotate_left(16)));
    fault.turns_red(
        Check::LayerTraceGolden,
        &["first diverges at `layer.0`; `embed` still agrees"],
    );
    fault.turns_red(Check::OutputGolden, &["`logits`"]);
}

/// The sum over a path is divided by its length, which is bounded with the path.
pub(crate) fn shorter_paths() {
    let fault =
        Fixture::new(&harnesses::graphormer::HARNESS).configure("/multi_hop_max_dist", json!(2));
    fault.turns_red(
        Check::LayerTraceGolden,
        &["first diverges at `layer.0`; `embed` still agrees"],
    );
    fault.turns_red(
        Check::PreprocessGolden,
        &["`input_edges` has the shape [3, 10, 10, 2, 2]"],
    );
}

pub(crate) fn distances_off_by_one() {
    let name = "encoder.graph_encoder.graph_attn_bias.spatial_pos_encoder.weight";
    let fault = Fixture::new(&harnesses::graphormer::HARNESS)
        .weights(|tensors| tensors.floats(name, |all| all.rotate_left(4)));
    fault.turns_red(
        Check::LayerTraceGolden,
        &["first diverges at `layer.0`; `embed` still agrees"],
    );
}

pub(crate) fn degrees_off_by_one() {
    let name = "graph_encoder.graph_node_feature.in_degree_encoder.weight";
    let fault = Fixture::new(&harnesses::graphormer_base::HARNESS)
        .weights(|tensors| tensors.floats(name, |all| all.rotate_left(40)));
    fault.turns_red(Check::EmbedGolden, &["`trace.embed`"]);
}

/// The collator hides nodes that are too far apart; with another limit it hides others.
pub(crate) fn far_nodes_that_see_each_other() {
    let fault = Fixture::new(&harnesses::graphormer_regression::HARNESS)
        .configure("/spatial_pos_max", json!(5));
    fault.turns_red(
        Check::PreprocessGolden,
        &["`attn_bias` row ", "expected -inf, got 0"],
    );
}

/// Without the infinities of the recorded bias, nodes attend to padding and to nodes that are too
/// far apart.
pub(crate) fn bias_that_hides_nothing() {
    let fault = Fixture::new(&harnesses::graphormer_regression::HARNESS)
        .golden(|tensors| tensors.floats("input.attn_bias", |bias| bias.fill(0.0)));
    fault.turns_red(
        Check::OutputGolden,
        &[
            "`logits`",
            "first diverges at `layer.0`; `embed` still agrees",
        ],
    );
}

/// Padding has the attention weight 0, but 0 times NaN is NaN.
pub(crate) fn padding_that_is_not_finite() {
    let name = "encoder.graph_encoder.graph_node_feature.atom_encoder.weight";
    let fault = Fixture::new(&harnesses::graphormer::HARNESS)
        .weights(|tensors| tensors.floats(name, |table| table[..32].fill(f32::NAN)));
    fault.turns_red(
        Check::PadInvariance,
        &["with more padding", "NaN or infinity"],
    );
    fault.turns_red(
        Check::MaskGolden,
        &["`logits of real nodes`", "NaN or infinity"],
    );
}

/// Of several edges between two nodes the last one counts, separately for each direction.
pub(crate) fn other_kinds_of_edges() {
    let fault = Fixture::new(&harnesses::graphormer::HARNESS)
        .golden(|tensors| tensors.integers("graph.1.edge_attr", |kind| kind + 1));
    fault.turns_red(
        Check::PreprocessGolden,
        &["`attn_edge_type`", "`input_edges`"],
    );
    let fault = Fixture::new(&harnesses::graphormer::HARNESS)
        .golden(|tensors| tensors.integers("graph.0.edge_index", |node| (node + 1) % 10));
    fault.turns_red(Check::PreprocessGolden, &["`in_degree`", "`spatial_pos`"]);
}

pub(crate) fn other_bias_of_the_classes() {
    let fault = Fixture::new(&harnesses::graphormer::HARNESS).weights(|tensors| {
        tensors.floats("classifier.lm_output_learned_bias", |bias| bias[0] += 0.01)
    });
    fault.turns_red(
        Check::OutputGolden,
        &["`logits`", "the main case's hidden states all agree"],
    );
    fault.stays_green(Check::LayerTraceGolden);
}
