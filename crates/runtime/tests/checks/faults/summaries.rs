//! Faults of a model whose golden has summaries in the place of large results: the smallest that a
//! wrong weight can be, and that only some positions show.

use crate::{
    fixture::{Fixture, Tensors},
    harnesses::llama_large_golden::HARNESS,
};
use testgen_types::Check;

const MATRIX: &str = "model.layers.1.mlp.down_proj.weight";

pub(crate) fn without_a_fault() {
    let sound = Fixture::new(&HARNESS);
    let checks = [
        Check::OutputGolden,
        Check::LayerTraceGolden,
        Check::EmbedGolden,
        Check::MaskGolden,
        Check::GreedyMargin,
        Check::DtypeLadder,
        Check::Finite,
    ];
    for check in checks {
        sound.stays_green(check);
    }
}

pub(crate) fn one_wrong_value() {
    turns_red(|weights| {
        weights.floats(MATRIX, |values| values[100_000] += 0.1);
    });
}

pub(crate) fn two_swapped_rows() {
    turns_red(|weights| weights.swap_rows(MATRIX, 1, 7, 200));
}

/// Every check that compares results of the second layer is red.
fn turns_red(fault: impl FnOnce(&mut Tensors)) {
    let fault = Fixture::new(&HARNESS).weights(fault);
    fault.turns_red(
        Check::OutputGolden,
        &[
            "`logits`",
            "first diverges at `layer.1`; `layer.0` still agrees",
        ],
    );
    fault.turns_red(Check::LayerTraceGolden, &["first diverges at `layer.1`"]);
    fault.turns_red(Check::MaskGolden, &["`logits at real positions`"]);
    fault.turns_red(Check::GreedyMargin, &["`tokens.logits step 0`"]);
    fault.turns_red(Check::DtypeLadder, &["`logits in f32`"]);
    fault.stays_green(Check::EmbedGolden);
}
