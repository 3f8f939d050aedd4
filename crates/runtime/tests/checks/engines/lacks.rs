//! An engine that lacks a precision, a part of the model or the model: its checks are ignored, each
//! with the reason.

use super::{RUN, all_entries_of, entries};
use testgen_types::{Check, EntryStatus};

/// A precision that the engine lacks is ignored as on a device that lacks it; the model is not the
/// cause.
pub(super) fn a_precision_that_the_engine_lacks_is_ignored() {
    for entry in all_entries_of("engines_in_f16", "scripted", "none") {
        let reason = entry.reason.as_deref().unwrap_or_default();
        assert_eq!(
            entry.status,
            EntryStatus::Ignored,
            "{}: {reason}",
            entry.test_name()
        );
        if RUN.contains(&entry.check) {
            assert!(
                reason.starts_with("cpu: f16") && reason.contains("only f32"),
                "{}: {reason}",
                entry.test_name()
            );
        }
    }
}

/// It has not said that it lacks the precision.
pub(super) fn an_engine_that_dies_in_a_precision_does_not_lack_it() {
    for entry in all_entries_of("engines_in_f16", "scripted", "half_dies") {
        if RUN.contains(&entry.check) {
            assert_eq!(
                entry.status,
                EntryStatus::Fail,
                "{}: {:?}",
                entry.test_name(),
                entry.reason
            );
        }
    }
}

/// Checks of what the model lacks are ignored, the others run, and wrong numbers remain a failure.
pub(super) fn a_graph_is_checked_as_far_as_it_goes() {
    let ignored = [
        (Check::LayerTraceGolden, "no hidden states"),
        (Check::LoadKeysExact, "weights are folded"),
    ];
    for (script, output) in [
        ("graph", EntryStatus::Pass),
        ("wrong_graph", EntryStatus::Fail),
    ] {
        for entry in entries("scripted", script) {
            let reason = entry.reason.as_deref().unwrap_or_default();
            let expected = ignored.iter().find(|(check, _)| *check == entry.check);
            let status = match entry.check {
                Check::OutputGolden => output,
                _ if expected.is_some() => EntryStatus::Ignored,
                _ => EntryStatus::Pass,
            };
            assert_eq!(entry.status, status, "{script}, {}: {reason}", entry.check);
            assert!(
                expected.is_none_or(|(_, part)| reason.contains(part)),
                "{reason}"
            );
            if entry.check == Check::Placement {
                assert_eq!(
                    (
                        entry.providers[1].provider.as_str(),
                        entry.providers[1].nodes
                    ),
                    ("CUDAExecutionProvider", 3)
                );
                assert!(
                    reason.contains("25 % of the nodes and 25 % of their time on the CPU"),
                    "{reason}"
                );
            }
        }
    }
}

pub(super) fn an_engine_that_cannot_is_ignored_with_the_reason() {
    for entry in entries("scripted", "cannot_load") {
        assert_eq!(entry.status, EntryStatus::Ignored, "{:?}", entry.reason);
        assert!(entry.reason.unwrap().contains("no class of this name"));
    }
}
