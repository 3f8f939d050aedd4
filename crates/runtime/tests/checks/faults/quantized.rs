//! Faults of quantized weights that a synthetic checkpoint has, like those that a wrong layout in a
//! writer or a reader would cause.

use crate::{fixture::Fixture, harnesses::llama_synthetic_gptq::HARNESS};
use testgen_types::Check;

const LAYER: &str = "model.layers.1.mlp.down_proj";
/// The bytes of the scales of a group: one in 16 bits for each output.
const GROUP: usize = 128 * 2;

/// The directory that the method stores is loaded as any checkpoint.
pub(crate) fn without_a_fault() {
    let sound = Fixture::quantized(&HARNESS);
    for check in [
        Check::LoadKeysExact,
        Check::OutputGolden,
        Check::LayerTraceGolden,
        Check::GreedyMargin,
    ] {
        sound.stays_green(check);
    }
}

pub(crate) fn zero_points_off_by_one() {
    turns_red("qzeros", |bytes| {
        for byte in bytes {
            // The lower one of two zero points, which is 14 at most.
            *byte = (*byte & 0xF0) | ((*byte & 0x0F) + 1) & 0x0F;
        }
    });
}

pub(crate) fn groups_in_another_order() {
    turns_red("g_idx", |bytes| bytes.as_chunks_mut::<4>().0.reverse());
}

pub(crate) fn swapped_nibbles() {
    turns_red("qweight", |bytes| {
        for byte in bytes {
            *byte = byte.rotate_left(4);
        }
    });
}

pub(crate) fn scales_of_the_next_output() {
    turns_red("scales", |bytes| bytes.rotate_left(2));
}

pub(crate) fn scales_of_the_next_group() {
    turns_red("scales", |bytes| bytes.rotate_left(GROUP));
}

fn turns_red(part: &str, change: impl FnOnce(&mut [u8])) {
    let fault = Fixture::quantized(&HARNESS).bytes(&format!("{LAYER}.{part}"), change);
    fault.stays_green(Check::LoadKeysExact);
    let place = "first diverges at `layer.1`; `layer.0` still agrees";
    fault.turns_red(Check::OutputGolden, &["`logits`", place]);
    fault.turns_red(Check::LayerTraceGolden, &["first diverges at `layer.1`"]);
}
