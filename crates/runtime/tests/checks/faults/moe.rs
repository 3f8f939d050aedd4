//! Faults of mixtures of experts: the choice of experts, their weights, and their order.

use crate::{fixture::Fixture, harnesses};
use serde_json::json;
use testgen_types::Check;

const ROUTER: &str = "model.layers.0.mlp.gate.weight";

pub(crate) fn one_expert_more() {
    let fault =
        Fixture::new(&harnesses::olmoe::HARNESS).configure("/num_experts_per_tok", json!(4));
    fault.turns_red(
        Check::RouterGolden,
        &["layer 0, token 0: experts [", "although the margin"],
    );
    fault.turns_red(
        Check::OutputGolden,
        &[
            "`logits`",
            "first diverges at `layer.0`; `embed` still agrees",
        ],
    );
}

pub(crate) fn weights_that_sum_to_one() {
    let fault = Fixture::new(&harnesses::olmoe::HARNESS).configure("/norm_topk_prob", json!(true));
    fault.turns_red(Check::RouterGolden, &["`routing.0`", "furthest off at ["]);
}

pub(crate) fn swapped_router_rows() {
    let fault = Fixture::new(&harnesses::olmoe::HARNESS)
        .weights(|tensors| tensors.swap_rows(ROUTER, 1, 0, 1));
    fault.turns_red(Check::RouterGolden, &["`router.0`"]);
    fault.stays_green(Check::KvCacheEquivalence);
}

pub(crate) fn swapped_experts() {
    let fault = Fixture::new(&harnesses::olmoe::HARNESS).weights(|tensors| {
        let [one, other] =
            [0, 1].map(|expert| format!("model.layers.0.mlp.experts.{expert}.down_proj.weight"));
        tensors.copy(&one, "kept");
        tensors.copy(&other, &one);
        tensors.copy("kept", &other);
        tensors.remove("kept");
    });
    fault.turns_red(
        Check::OutputGolden,
        &[
            "`logits`",
            "first diverges at `layer.0`; `embed` still agrees",
        ],
    );
}

pub(crate) fn no_router_is_ignored() {
    let fault = Fixture::new(&harnesses::olmoe::HARNESS).golden(|tensors| {
        for name in ["router.0", "router.1", "routing.0", "routing.1"] {
            tensors.remove(name);
        }
    });
    let record = fault.check(Check::RouterGolden);
    assert!(
        record
            .reason
            .unwrap_or_default()
            .contains("the golden has no `router.*`")
    );
}
