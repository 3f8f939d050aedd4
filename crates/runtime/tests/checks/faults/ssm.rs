//! Faults of state space models: the decay of the state, the convolution before the scan, and the
//! skip connection.

use crate::{fixture::Fixture, harnesses};
use testgen_types::Check;

const MIXER: &str = "backbone.layers.0.mixer";

fn changed(tensor: &str, change: impl FnOnce(&mut Vec<f32>)) -> Fixture {
    Fixture::new(&harnesses::mamba::HARNESS)
        .weights(|tensors| tensors.floats(&format!("{MIXER}.{tensor}"), change))
}

pub(crate) fn slower_decay() {
    let fault = changed("A_log", |rates| {
        rates.iter_mut().for_each(|rate| *rate -= 0.01)
    });
    fault.turns_red(
        Check::OutputGolden,
        &[
            "`logits`",
            "first diverges at `layer.0`; `embed` still agrees",
        ],
    );
    fault.turns_red(Check::LayerTraceGolden, &["first diverges at `layer.0`"]);
    // The model is consistent with itself: scan and steps still agree.
    fault.stays_green(Check::KvCacheEquivalence);
}

pub(crate) fn shifted_kernel() {
    let fault = changed("conv1d.weight", |kernel| kernel.rotate_left(1));
    fault.turns_red(
        Check::OutputGolden,
        &["`logits`", "first diverges at `layer.0`"],
    );
}

pub(crate) fn no_skip() {
    let fault = changed("D", |skip| skip.fill(0.0));
    fault.turns_red(
        Check::OutputGolden,
        &["`logits`", "first diverges at `layer.0`"],
    );
}
