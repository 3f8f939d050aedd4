//! Faults in one layer of a deep model: the report names that layer.

use crate::{
    fixture::{Fixture, Tensors},
    harnesses::llama_deep::HARNESS,
};
use testgen_types::{Check, EntryStatus, ErrorsOverDepth, Precision, ReportEntry};

pub(crate) fn without_a_fault() {
    let sound = Fixture::new(&HARNESS);
    let record = sound.check(Check::LayerTraceGolden);
    assert_eq!(record.status, EntryStatus::Pass, "{:?}", record.reason);
    assert_eq!(record.layers.len(), 33);
    let known = |layer: &&testgen_types::LayerError| layer.reference.is_some();
    assert_eq!(record.layers.iter().filter(known).count(), 33);
    // No threshold of a hidden state is evaluated here, so the errors are in the record alone.
    let outputs = sound.check(Check::OutputGolden);
    assert_eq!(outputs.layers, record.layers);
    assert!(described(&outputs).starts_with("errors do not rise over 32 layers"));
}

pub(crate) fn one_wrong_layer() {
    for layer in [3, 17, 30] {
        let name = format!("model.layers.{layer}.mlp.down_proj.weight");
        assert_named(layer, |weights| weights.swap_rows(&name, 1, 3, 20));
    }
}

pub(crate) fn a_norm_off_by_a_hundredth() {
    assert_named(17, |weights| {
        weights.floats("model.layers.17.input_layernorm.weight", |values| {
            values.iter_mut().for_each(|value| *value *= 1.01);
        });
    });
}

/// Asserts that the records name `layer`.
fn assert_named(layer: usize, fault: impl FnOnce(&mut Tensors)) {
    let fault = Fixture::new(&HARNESS).weights(fault);
    for check in [Check::LayerTraceGolden, Check::OutputGolden] {
        let record = fault.check_in(check, Precision::F32);
        assert_eq!(record.status, EntryStatus::Fail, "{check} passed");
        let sentence = described(&record);
        let start = format!("errors rise at `layer.{layer}` of 32 layers: ");
        assert!(sentence.starts_with(&start), "{check}: {sentence}");
        let end = format!(
            " times `layer.{}`; the reference's own error is ",
            layer - 1
        );
        assert!(sentence.contains(&end), "{check}: {sentence}");
    }
}

fn described(record: &ReportEntry) -> String {
    ErrorsOverDepth::new(&record.layers)
        .expect("the check compares layers")
        .describe()
}
