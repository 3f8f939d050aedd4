//! Faults of models that read graphs: paths, distances, degrees, padding and what the collator makes of a graph.

use crate::{fixture::Fixture, harnesses};
use serde_json::json;
use testgen_contract::Check;

/// Each place of a path has a matrix of its own, [heads, heads]: here every place has that of the next one.
pub(crate) fn edges_at_other_places() {
    let name = "encoder.graph_encoder.graph_attn_bias.edge_dis_encoder.weight";
    let fault =
        Fixture::of(&harnesses::graphormer::HARNESS).weights(|tensors| tensors.floats(name, |all| all.rotate_left(16)));
    fault.turns_red(Check::LayerTraceGolden, &["first diverges at `layer.0`; `embed` still agrees"]);
    fault.turns_red(Check::OutputGolden, &["`logits`"]);
}

/// The distance that a path's sum is divided by is bounded with the path itself.
pub(crate) fn shorter_paths() {
    let fault = Fixture::of(&harnesses::graphormer::HARNESS).configure("/multi_hop_max_dist", json!(2));
    fault.turns_red(Check::LayerTraceGolden, &["first diverges at `layer.0`; `embed` still agrees"]);
    fault.turns_red(Check::PreprocessGolden, &["`input_edges` has the shape [3, 10, 10, 2, 2]"]);
}

pub(crate) fn distances_off_by_one() {
    let name = "encoder.graph_encoder.graph_attn_bias.spatial_pos_encoder.weight";
    let fault =
        Fixture::of(&harnesses::graphormer::HARNESS).weights(|tensors| tensors.floats(name, |all| all.rotate_left(4)));
    fault.turns_red(Check::LayerTraceGolden, &["first diverges at `layer.0`; `embed` still agrees"]);
}

pub(crate) fn degrees_off_by_one() {
    let name = "graph_encoder.graph_node_feature.in_degree_encoder.weight";
    let fault = Fixture::of(&harnesses::graphormer_base::HARNESS)
        .weights(|tensors| tensors.floats(name, |all| all.rotate_left(40)));
    fault.turns_red(Check::EmbedGolden, &["`trace.embed`"]);
}

/// The collator hides nodes that are too far apart; with another limit it hides others.
pub(crate) fn far_nodes_that_see_each_other() {
    let fault = Fixture::of(&harnesses::graphormer_regression::HARNESS).configure("/spatial_pos_max", json!(5));
    fault.turns_red(Check::PreprocessGolden, &["`attn_bias` row ", "expected -inf, got 0"]);
}

/// A bias that is recorded without its infinities lets the model see what the reference did not.
pub(crate) fn bias_that_hides_nothing() {
    let fault = Fixture::of(&harnesses::graphormer_regression::HARNESS)
        .golden(|tensors| tensors.floats("input.attn_bias", |bias| bias.fill(0.0)));
    fault.turns_red(Check::OutputGolden, &["`logits`", "first diverges at `layer.0`; `embed` still agrees"]);
}

/// Zero times infinity is not a number: padding that no node sees still shows.
pub(crate) fn padding_that_is_not_finite() {
    let name = "encoder.graph_encoder.graph_node_feature.atom_encoder.weight";
    let fault = Fixture::of(&harnesses::graphormer::HARNESS)
        .weights(|tensors| tensors.floats(name, |table| table[..32].fill(f32::NAN)));
    fault.turns_red(Check::PadInvariance, &["with more padding", "NaN or infinity"]);
    fault.turns_red(Check::MaskGolden, &["`logits of real nodes`", "NaN or infinity"]);
}

/// Of two edges between the same nodes the last one counts, each in its direction.
pub(crate) fn other_kinds_of_edges() {
    let fault = Fixture::of(&harnesses::graphormer::HARNESS)
        .golden(|tensors| tensors.integers("graph.1.edge_attr", |kind| kind + 1));
    fault.turns_red(Check::PreprocessGolden, &["`attn_edge_type`", "`input_edges`"]);
    let fault = Fixture::of(&harnesses::graphormer::HARNESS)
        .golden(|tensors| tensors.integers("graph.0.edge_index", |node| (node + 1) % 10));
    fault.turns_red(Check::PreprocessGolden, &["`in_degree`", "`spatial_pos`"]);
}

pub(crate) fn other_bias_of_the_classes() {
    let fault = Fixture::of(&harnesses::graphormer::HARNESS)
        .weights(|tensors| tensors.floats("classifier.lm_output_learned_bias", |bias| bias[0] += 0.01));
    fault.turns_red(Check::OutputGolden, &["`logits`", "the main case's hidden states all agree"]);
    fault.stays_green(Check::LayerTraceGolden);
}
